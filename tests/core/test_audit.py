"""Counting the verdicts on variants of gold: which are wrong, and which are left out."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.core.audit import JUDGES, Kind, Tally, Variant, VerdictAudit, by_rule, judged, tally
from pipeline.core.records import Outcome

RESOLVED, UNRESOLVED, LOST = Outcome.RESOLVED, Outcome.UNRESOLVED, Outcome.NOT_EVALUATED


def variant(kind: Kind, outcome: Outcome | None, rule: str = "", **more: Any) -> Variant:
    return Variant(kind=kind, rule=rule, patch_digest="d", outcome=outcome, **more)


def audit(*variants: Variant, gold: Outcome | None = RESOLVED, number: int = 1) -> VerdictAudit:
    return VerdictAudit(
        instance_id=f"acme__ui-{number}", image="i", seed=0, wanted=20, variants=(variant("gold", gold), *variants)
    )


@pytest.mark.parametrize(
    ("outcome", "checked", "strict", "with_checker"),
    [
        (RESOLVED, None, True, True),
        (RESOLVED, True, True, True),
        (RESOLVED, False, True, False),
        (UNRESOLVED, None, False, False),
        (UNRESOLVED, True, False, True),
        (Outcome.CRASHED, None, False, False),
        (Outcome.TAMPERED, None, False, False),
        (Outcome.EMPTY, None, False, False),
        (LOST, None, None, None),
        (LOST, True, None, None),
        (None, None, None, None),
    ],
)
def test_strict_and_checked_verdicts_of_a_variant(
    outcome: Outcome | None, checked: bool | None, strict: bool | None, with_checker: bool | None
) -> None:
    """A run that the machine lost gives no verdict; without an assessment, the tests decide."""
    found = variant("same", outcome, checked=checked)
    assert tuple(map(found.resolved, JUDGES)) == (strict, with_checker)


@pytest.mark.parametrize(
    ("kind", "outcome", "wrong"),
    [
        ("same", RESOLVED, 0),
        ("same", UNRESOLVED, 1),
        ("same", Outcome.CRASHED, 1),
        ("harmful", UNRESOLVED, 0),
        ("harmful", RESOLVED, 1),
        ("hunk", Outcome.TIMEOUT, 0),
        ("hunk", RESOLVED, 1),
    ],
)
def test_which_verdicts_are_wrong(kind: Kind, outcome: Outcome, wrong: int) -> None:
    assert tally([audit(variant(kind, outcome))], kind, "strict") == Tally(wrong, 1)


@pytest.mark.parametrize("kind", ["same", "harmful", "hunk"])
@pytest.mark.parametrize("outcome", [None, LOST])
def test_variants_that_were_not_evaluated_are_not_counted(kind: Kind, outcome: Outcome | None) -> None:
    assert tally([audit(variant(kind, outcome))], kind, "strict") == Tally(0, 0)


@pytest.mark.parametrize("gold", [UNRESOLVED, LOST, None])
def test_variants_do_not_count_unless_gold_resolves(gold: Outcome | None) -> None:
    unsound = audit(variant("same", UNRESOLVED), variant("harmful", RESOLVED), gold=gold)
    assert [tally([unsound], kind, "strict").of for kind in ("same", "harmful")] == [0, 0]


def test_the_checker_is_counted_only_for_instances_it_assessed() -> None:
    """An instance without an assessment would add the tests' verdicts to the checker's."""
    without, assessed = audit(variant("same", UNRESOLVED)), audit(variant("same", UNRESOLVED, checked=True), number=2)
    assert not without.is_checked and assessed.is_checked
    assert tally([without, assessed], "same", "strict") == Tally(2, 2)
    assert tally([without, assessed], "same", "checked") == Tally(0, 1)


def test_a_note_counts_as_an_assessment() -> None:
    noted = audit(variant("same", UNRESOLVED, note="no elements"))
    assert noted.is_checked and tally([noted], "same", "checked") == Tally(1, 1)


def test_the_strength_of_tests_is_the_share_of_hunks_that_they_miss() -> None:
    found = audit(
        variant("hunk", UNRESOLVED), variant("hunk", RESOLVED), variant("hunk", None), variant("same", RESOLVED)
    )
    assert found.hunks == Tally(1, 2) and found.hunks.share == 0.5
    assert audit().hunks.share is None


def test_classes_are_counted_apart_and_in_order() -> None:
    audits = [
        audit(variant("harmful", RESOLVED, "text changed"), variant("harmful", UNRESOLVED, "attribute left out")),
        audit(variant("harmful", UNRESOLVED, "text changed"), variant("same", UNRESOLVED, "names"), number=2),
    ]
    found = by_rule(audits, "harmful", "strict")
    assert list(found.items()) == [("attribute left out", Tally(0, 1)), ("text changed", Tally(1, 2))]
    assert sum(counts.of for counts in found.values()) == tally(audits, "harmful", "strict").of


def test_every_wrong_verdict_can_be_looked_at() -> None:
    bad = variant("same", UNRESOLVED, "names", path="src/Menu.tsx", line=3)
    (found,) = judged([audit(bad, variant("harmful", UNRESOLVED))], "same", "strict")
    assert found == (audit(bad, variant("harmful", UNRESOLVED)), bad, True)


def test_variants_of_a_kind_keep_their_order() -> None:
    found = audit(variant("same", RESOLVED, "b"), variant("hunk", RESOLVED), variant("same", None, "a"))
    assert [same.rule for same in found.of("same")] == ["b", "a"]
    assert found.gold is RESOLVED and audit(gold=None).gold is None
