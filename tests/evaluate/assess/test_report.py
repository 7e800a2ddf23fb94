"""What `assess` prints: every part next to the score, and the totals."""

from __future__ import annotations

from typing import Any

import factories
import pytest

from pipeline.core.assessment import Assessment, AxeDelta, Judgement, SnapshotVerdict, Spoken, Violation
from pipeline.core.records import Outcome
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.assess.report import judged, report, spoken_differences, summary
from pipeline.evaluate.assess.score import scored
from pipeline.evaluate.assess.settings import load_settings

VIOLATION = Violation(rule="label", criteria=(), element="textbox", tests=())
DELTA = AxeDelta(base=2, gold=0, candidate=1, fixed=(VIOLATION,), remaining=(VIOLATION,), introduced=())


def assessed(number: int, outcome: Outcome, **parts: Any) -> Assessment:
    verdict = factories.make_verdict(factories.make_prediction(number), outcome)
    who = verdict.model_dump(include={"instance_id", "agent", "model", "run", "patch_digest", "image"})
    resolved = outcome is Outcome.RESOLVED
    return scored(Assessment(**who, resolved=resolved, resolved_equivalent=resolved, **parts), verdict, load_settings())


def judgement(agreement: float, **more: Any) -> Judgement:
    return Judgement(model="m", settings="s", score=2, agreement=agreement, ratings=(), **more)


ASSESSED = [
    assessed(1, Outcome.RESOLVED, judge=judgement(1), stories=DELTA),
    assessed(2, Outcome.EMPTY, judge=judgement(1 / 3, missing=("bad answer: x",)), notes={"axe": "no document"}),
    assessed(3, Outcome.EMPTY, notes={"judge": "there is no patch to rate"}),
]


@pytest.mark.rule("hybrid-score")
def test_every_part_is_shown_beside_the_score(capsys: pytest.CaptureFixture[str]) -> None:
    report(Subject(factories.REPO, "magentless", "model-a"), ASSESSED)
    output = capsys.readouterr().out
    assert all(name in output for name in ("tests", "snapshot", "judge", "audit", "score"))
    lines = [line for line in output.splitlines() if "acme__ui-" in line]
    assert all(words in lines[0] for words in ("1.00", "0.80", "0.50", "2, 0, 1"))
    assert "resolved: 1 of 3; resolved or equivalent: 1" in output


def test_ratings_of_the_judge_are_summarized() -> None:
    assert judged(ASSESSED) == "judged: 2 of 3; pairs of ratings that agree: 67%; samples without a rating: 1"
    assert judged([assessed(1, Outcome.EMPTY)]) == ""
    assert summary(ASSESSED[1:]) == "resolved: 0 of 2; resolved or equivalent: 0"


def test_differences_in_screen_reader_output_are_shown() -> None:
    """In addition to the base's output: whether the patch changed anything for users of screen readers."""
    phrases = {"base": ("button, Lamp",), "gold": ("switch, Lamp",), "patch": ("button, Lamp",)}

    def lines(**said: tuple[str, ...]) -> list[str]:
        seen = SnapshotVerdict(likeness="a11y-different", tests={}, spoken={"shows": Spoken(**phrases | said)})
        return list(spoken_differences(assessed(1, Outcome.UNRESOLVED, snapshot=seen)))

    assert lines()[0].endswith("a screen reader on shows:") and lines()[-1] == "  (as without any patch)"
    assert {"  -switch, Lamp", "  +button, Lamp"} <= set(lines())
    assert lines(patch=("switch, Lamp",)) == [] and "  -button, Lamp" in lines(patch=("Lamp",))
