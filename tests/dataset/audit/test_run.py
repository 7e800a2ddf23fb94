"""An audit from its variants to its record: evaluated by stage 04, resumed, limited, and counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from factories import REPO
from histories import History
from tiny_library import IMPATIENT, LIMITS, Bench, Pull, make_library

from pipeline.core.audit import Variant, VerdictAudit, tally
from pipeline.core.errors import UserError
from pipeline.core.records import Outcome
from pipeline.core.store import read_records
from pipeline.dataset.audit import rates
from pipeline.dataset.audit.run import AuditOptions, Work, audit
from pipeline.dataset.cli import command
from pipeline.evaluate.runs import How
from pipeline.sandbox.base import Limits

#: the tests check the label but not the state; one of them checks how it is written
FIX = 'export const Menu = () => <nav title="old" aria-label="new" hidden={a ? b : c} />;\n'
TESTS = 'works | {src} | old\nnamed | {src} | "new"\n'
PULLS = {"menu": Pull("qualified", TESTS, fix=FIX, fix_before='export const Menu = () => <nav title="old" />;\n')}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    folder = tmp_path_factory.mktemp("audited")
    library: History = make_library(folder, PULLS)
    bench = Bench(folder, library.folder, folder / "cache")
    bench.collect()
    bench.build()
    return bench


def audited(bench: Bench, **asked: object) -> VerdictAudit:
    how = How(bench.sandbox, Limits(seconds=LIMITS.seconds), IMPATIENT)
    wanted = AuditOptions(**{"variants": 4, "checker": False} | asked)
    return audit(bench.store, [REPO], how, wanted, Work(jobs=1, trust_local=True))[REPO][0]


@pytest.fixture(scope="module")
def found(built: Bench) -> VerdictAudit:
    return audited(built)


@pytest.mark.rule("verifier-error")
def test_the_error_of_verdicts_is_measured(built: Bench, found: VerdictAudit) -> None:
    """A verdict is right if it follows from the variant's meaning; wrong ones are counted."""
    assert found.gold is Outcome.RESOLVED
    assert {len(found.of(kind)) for kind in ("same", "harmful")} == {4}
    assert all(one.outcome for one in found.variants)
    for kind, wanted in (("same", Outcome.RESOLVED), ("harmful", Outcome.UNRESOLVED)):
        wrong = sum(one.outcome is not wanted for one in found.of(kind))
        assert tally([found], kind, "strict") == (wrong, 4)
    named = [one for one in found.of("harmful") if "new" in one.before]
    assert named and all(one.outcome is Outcome.UNRESOLVED for one in named)
    assert read_records(built.store.audit(REPO), VerdictAudit) == [found]


@pytest.mark.rule("test-strength")
def test_each_left_out_hunk_is_noticed_by_the_tests(found: VerdictAudit) -> None:
    assert found.hunks == (1, 1)


def test_a_larger_sample_runs_only_new_variants(built: Bench, found: VerdictAudit, tmp_path: Path) -> None:
    bench = built.copy(tmp_path)
    first = audited(bench, limit=4, variants=4)
    assert sum(one.outcome is not None for one in first.variants) == 5  # and gold
    more = audited(bench, limit=5, variants=4)
    ran = [{one.patch_digest for one in each.variants if one.outcome} for each in (first, more)]
    assert ran[0] < ran[1]
    assert audited(bench, variants=4) == found
    assert bench.sandbox.opened == []


def test_the_checker_is_asked_only_where_it_can_change_the_verdict(built: Bench, tmp_path: Path) -> None:
    """Without anything to check it says so, and the tests' verdict stands."""
    told = audited(built.copy(tmp_path), checker=True)
    assert told.is_checked
    notes = {(one.outcome, one.note.partition(":")[0]) for one in told.variants if one.kind in ("same", "harmful")}
    assert notes == {
        (Outcome.RESOLVED, "not audited, because base"),
        (Outcome.UNRESOLVED, "not by snapshot alone"),
    }
    assert all(one.checked is (one.outcome is Outcome.RESOLVED) for one in told.variants if one.note)


def test_a_stopped_audit_keeps_its_finished_part(
    built: Bench, found: VerdictAudit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long audit may be stopped and looked at; the record says how much of it is done."""
    bench = built.copy(tmp_path)
    bench.store.audit(REPO).unlink()

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.dataset.audit.run.graded", stop)
    with pytest.raises(KeyboardInterrupt):
        audited(bench)
    (stopped,) = read_records(bench.store.audit(REPO), VerdictAudit)
    ran = [one for one in found.variants if one.outcome is not Outcome.EMPTY]
    assert [one for one in stopped.variants if one.outcome] == ran


def test_an_unknown_number_is_refused(built: Bench) -> None:
    with pytest.raises(UserError, match="no instance has number 77"):
        audited(built, numbers=(77,))


def test_the_command(built: Bench, found: VerdictAudit) -> None:
    words = ["audit", str(REPO), "--variants", "4", "--no-checker", "--sandbox", "local", "--trust-local", "--json"]
    place = ["--data", str(built.store.root), "--jobs", "1", "--timeout", str(LIMITS.seconds)]
    ran = CliRunner().invoke(command, [*words, *place], catch_exceptions=False)
    printed = json.loads(ran.stdout)["instances"]["acme__ui-1"]
    assert printed["strict"]["false negatives"]["of"] == 4
    assert printed["test strength"] == {"noticed": 1, "of": 1, "share": 1.0}


def variant(kind: str, outcome: Outcome | None, rule: str = "form", **more: object) -> Variant:
    return Variant(kind=kind, rule=rule, patch_digest="d", outcome=outcome, **more)


def record(*variants: Variant, gold: Outcome = Outcome.RESOLVED) -> VerdictAudit:
    return VerdictAudit(
        instance_id="acme__ui-1", image="i", seed=0, wanted=2, variants=(variant("gold", gold), *variants)
    )


def test_only_evaluated_variants_of_sound_instances_count() -> None:
    """Variants that were not run or not evaluated are in no denominator, nor are instances that gold does not resolve;
    the checker's verdict counts if there is one."""
    one = record(
        variant("same", Outcome.RESOLVED),
        variant("same", Outcome.UNRESOLVED, checked=True),
        variant("same", None),
        variant("same", Outcome.NOT_EVALUATED),
        variant("harmful", Outcome.RESOLVED, checked=False),
        variant("harmful", Outcome.TAMPERED),
        variant("hunk", Outcome.RESOLVED),
        variant("hunk", Outcome.EMPTY),
    )
    other = record(variant("same", Outcome.UNRESOLVED), gold=Outcome.UNRESOLVED)
    assert [tally([one, other], kind, "strict") for kind in ("same", "harmful")] == [(1, 2), (1, 2)]
    assert [tally([one, other], kind, "checked") for kind in ("same", "harmful")] == [(0, 2), (0, 2)]
    assert one.hunks == (1, 2)
    unasked = record(variant("same", Outcome.RESOLVED))
    assert [tally([unasked], "same", judge) for judge in ("strict", "checked")] == [(0, 1), (0, 0)]
    rate = rates.data([one])["errors"]["strict"]["false negatives"]
    assert (rate["wrong"], rate["of"], rate["share"]) == (1, 2, 0.5)
    of_instance = rates.data([one])["instances"][one.instance_id]
    assert [of_instance[judge]["false positives"]["wrong"] for judge in ("strict", "checked")] == [1, 0]
    assert rate["interval"] == pytest.approx([0.0945, 0.9055], abs=1e-4)
