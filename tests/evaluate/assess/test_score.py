"""The hybrid score: the examples of PraisonAI Bench, the weight of each part, and the effect of a missing part."""

from __future__ import annotations

from typing import Any

import factories
import pytest

from pipeline.core.assessment import Assessment, AxeDelta, Judgement, SnapshotVerdict
from pipeline.core.errors import UserError
from pipeline.core.records import Outcome
from pipeline.evaluate.assess.score import hybrid, scored
from pipeline.evaluate.assess.settings import SHIPPED, load_settings

SETTINGS = load_settings()
PREDICTION = factories.make_prediction()


def assessed(outcome: Outcome = Outcome.UNRESOLVED, verdict: dict[str, Any] | None = None, **parts: Any) -> Assessment:
    found = factories.make_verdict(PREDICTION, outcome, **(verdict or {}))
    who = found.model_dump(include={"instance_id", "agent", "model", "run", "patch_digest", "image"})
    resolved = outcome is Outcome.RESOLVED
    return scored(Assessment(**who, resolved=resolved, resolved_equivalent=resolved, **parts), found, SETTINGS)


def worth(assessment: Assessment) -> dict[str, float | None]:
    return {name: part.value for name, part in assessment.parts.items()}


def judged(score: int) -> Judgement:
    return Judgement(model="m", settings="s", score=score, agreement=None, ratings=())


def audited(base: int, gold: int, candidate: int) -> AxeDelta:
    return AxeDelta(base=base, gold=gold, candidate=candidate, fixed=(), remaining=(), introduced=())


@pytest.mark.rule("hybrid-score")
def test_examples_of_the_thesis_are_reproduced():
    """From its section "Weight Normalization": 86.5 with all four parts, 84.375 without the expected result."""
    values = {"audit": 0.90, "tests": 0.85, "snapshot": 0.95, "judge": 0.80}
    assert hybrid(values, SETTINGS.weights)[0] == pytest.approx(0.865)
    score, parts = hybrid(values | {"snapshot": None}, SETTINGS.weights)
    assert score == pytest.approx(0.84375)
    assert [parts[name].share for name in ("audit", "tests", "judge")] == pytest.approx([0.1875, 0.5, 0.3125])
    assert (parts["snapshot"].value, parts["snapshot"].weight, parts["snapshot"].share) == (None, 0.2, 0)


@pytest.mark.rule("hybrid-score")
def test_without_any_part_there_is_no_score():
    found = assessed(Outcome.NOT_EVALUATED)
    assert found.score is None
    assert worth(found) == {"tests": None, "snapshot": None, "judge": None, "audit": None}


@pytest.mark.parametrize(
    ("outcome", "verdict", "value"),
    [
        (Outcome.RESOLVED, {}, 1),
        (Outcome.UNRESOLVED, {"fixed": ("a",), "unfixed": dict.fromkeys("bcd", "FAILED")}, 0.25),
        (Outcome.UNRESOLVED, {"fixed": ("a",), "broken": {"b": "FAILED"}}, 0),
        (Outcome.UNRESOLVED, {"unfixed": {"a": "FAILED"}}, 0),
        (Outcome.TAMPERED, {"fixed": ("a",)}, 0),
        (Outcome.EMPTY, {}, 0),
        (Outcome.NOT_EVALUATED, {}, None),
    ],
)
def test_tests(outcome, verdict, value):
    assert worth(assessed(outcome, verdict))["tests"] == value


@pytest.mark.parametrize(("likeness", "value"), [("cosmetic", 1), ("a11y-different", 0), ("unparsable", None)])
def test_snapshots(likeness, value):
    seen = SnapshotVerdict(likeness=likeness, tests={})
    assert worth(assessed(snapshot=seen))["snapshot"] == value


@pytest.mark.rule("judge-absence")
@pytest.mark.parametrize(("rating", "value"), [(3, 0.9), (2, 0.8), (1, 0.5), (-1, None)])
def test_ratings(rating, value):
    """PraisonAI Bench counts an undecided judge as 0. Here it counts as missing, and the other parts weigh more."""
    assert worth(assessed(judge=judged(rating)))["judge"] == value


@pytest.mark.parametrize(
    ("counts", "value"),
    [
        ((1, 0, 0), 1),
        ((1, 0, 1), 0),
        ((4, 2, 3), 0.5),
        ((4, 2, 1), 1),
        ((1, 0, 5), 0),
        ((2, 2, 2), None),
        ((2, 2, 3), 0),
    ],
    ids=["fixed", "left", "half", "more than gold", "worse", "nothing to tell", "introduced"],
)
def test_audits(counts, value):
    """Relative to what gold removes; if gold removes nothing, only new violations count."""
    assert worth(assessed(axe=audited(*counts)))["audit"] == value


def test_documents_and_stories_are_combined_into_one_audit():
    assert worth(assessed(axe=audited(1, 0, 1), stories=audited(1, 0, 0)))["audit"] == 0.5


def test_the_score_is_the_sum_of_the_parts_by_their_shares():
    found = assessed(Outcome.RESOLVED, axe=audited(1, 0, 0), judge=judged(2))
    assert found.score == pytest.approx((0.4 + 0.15 + 0.25 * 0.8) / 0.8)
    assert found.score == pytest.approx(sum(part.share * (part.value or 0) for part in found.parts.values()))


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("tests = 0.40", "tests = 4", "weights.tests"),
        ("tests = 0.40", "", "weights of tests, snapshot, judge, audit are expected"),
        ("tests = 0.40", "test = 0.40", "weights.test"),
        ("3 = 0.9", "", "the scores of the ratings 3, 2, 1 are expected"),
        ("[weights]", "[weights", "invalid TOML"),
    ],
)
def test_invalid_settings_are_refused(tmp_path, before, after, why):
    path = tmp_path / "settings.toml"
    path.write_text(SHIPPED.read_text().replace(before, after))
    with pytest.raises(UserError, match=why) as error:
        load_settings(path)
    assert str(path) in str(error.value)
