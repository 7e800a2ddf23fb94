"""The results of an audit, as tables and as data: the same numbers, each with n and interval."""

from __future__ import annotations

import json

import pytest

from pipeline.core.audit import Tally, Variant, VerdictAudit
from pipeline.core.records import Outcome
from pipeline.dataset.audit.rates import as_text, data, interval, percent, present
from pipeline.report.statistics import wilson

GOLD = Variant(kind="gold", patch_digest="g", outcome=Outcome.RESOLVED)


def variant(kind: str, outcome: Outcome | None, rule: str = "names", **more: object) -> Variant:
    return Variant(kind=kind, rule=rule, patch_digest="d", outcome=outcome, **more)


@pytest.fixture
def audits() -> list[VerdictAudit]:
    """Two instances: one with a wrong verdict of each kind, and one whose gold was not evaluated."""
    variants = (
        GOLD,
        variant("same", Outcome.RESOLVED),
        variant("same", Outcome.UNRESOLVED, path="src/Menu.tsx", line=7, before="a", after="b", checked=True),
        variant("harmful", Outcome.UNRESOLVED, "text changed"),
        variant("harmful", Outcome.RESOLVED, "role inverted", path="src/Menu.tsx", line=8, checked=False),
        variant("hunk", Outcome.UNRESOLVED, "hunk left out"),
        variant("hunk", Outcome.RESOLVED, "hunk left out"),
    )
    return [
        VerdictAudit(instance_id="acme__ui-1", image="i", seed=0, wanted=2, variants=variants, left_out={"same": 3}),
        VerdictAudit(instance_id="acme__ui-2", image="i", seed=0, wanted=2),
    ]


@pytest.mark.parametrize(
    ("counts", "share", "ends"),
    [
        (Tally(0, 14), "0.0%", "0.0% to 21.5%"),
        (Tally(2, 13), "15.4%", "4.3% to 42.2%"),
        (Tally(5, 35), "14.3%", "6.3% to 29.4%"),
        (Tally(0, 35), "0.0%", "0.0% to 9.9%"),
        (Tally(1, 1), "100.0%", "20.7% to 100.0%"),
        (Tally(0, 0), "-", "-"),
    ],
)
def test_a_share_with_its_interval(counts: Tally, share: str, ends: str) -> None:
    """Four of these are the published figures in docs/verdict-error.md."""
    assert (percent(counts), as_text(wilson(*counts))) == (share, ends)


@pytest.mark.rule("verifier-error")
def test_variants_of_one_instance_are_no_independent_samples() -> None:
    """Of two instances whose variants all end alike, each is one sample in all rates but its own."""
    ends = {"acme__ui-1": Outcome.RESOLVED, "acme__ui-2": Outcome.UNRESOLVED}
    several = [
        VerdictAudit(instance_id=name, image="i", seed=0, wanted=2, variants=(GOLD, *[variant("same", end)] * 20))
        for name, end in ends.items()
    ]
    assert interval(several, "same", "strict") == pytest.approx(wilson(1, 2))
    found = data(several)
    rows = found["errors"]["strict"]["false negatives"], found["classes"]["strict"]["same"]["names"]
    assert [(row["wrong"], row["of"], row["interval"]) for row in rows] == [
        (20, 40, pytest.approx(list(wilson(1, 2) or ())))
    ] * 2
    own = found["instances"]["acme__ui-1"]["strict"]["false negatives"]
    assert own["interval"] == pytest.approx(list(wilson(0, 20) or ()))


def test_errors_as_data(audits: list[VerdictAudit]) -> None:
    errors = data(audits)["errors"]
    found = {judge: {name: (row["wrong"], row["of"]) for name, row in rows.items()} for judge, rows in errors.items()}
    assert found == {
        "strict": {"false negatives": (1, 2), "false positives": (1, 2)},
        "checked": {"false negatives": (0, 2), "false positives": (0, 2)},
    }
    strict = errors["strict"]["false negatives"]
    assert strict["share"] == 0.5 and strict["interval"] == pytest.approx([0.0945, 0.9055], abs=1e-4)


def test_classes_and_instances_as_data(audits: list[VerdictAudit]) -> None:
    found = data(audits)
    assert {name: row["of"] for name, row in found["classes"]["strict"]["harmful"].items()} == {
        "role inverted": 1,
        "text changed": 1,
    }
    first, second = found["instances"].values()
    assert first["gold"] == "resolved" and first["left out"] == {"same": 3}
    assert first["test strength"] == {"noticed": 1, "of": 2, "share": 0.5}
    assert second["gold"] is None and second["test strength"] == {"noticed": 0, "of": 0, "share": None}
    assert second["strict"]["false negatives"] == {"wrong": 0, "of": 0, "share": None, "interval": None}


def test_data_are_plain(audits: list[VerdictAudit], capsys: pytest.CaptureFixture[str]) -> None:
    present(audits, as_json=True)
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(data(audits)))


def test_people_see_every_wrong_verdict(
    audits: list[VerdictAudit], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "250")
    present(audits, as_json=False)
    printed = capsys.readouterr().out
    for title in ("Errors of our verdicts", "By class", "By instance", "Wrong verdicts"):
        assert title in printed
    assert "src/Menu.tsx:7" in printed and "src/Menu.tsx:8" in printed and "1 of 2" in printed


def test_the_table_of_wrong_verdicts_is_omitted_if_empty(capsys: pytest.CaptureFixture[str]) -> None:
    present([VerdictAudit(instance_id="acme__ui-1", image="i", seed=0, wanted=2, variants=(GOLD,))], as_json=False)
    assert "Wrong verdicts" not in capsys.readouterr().out
