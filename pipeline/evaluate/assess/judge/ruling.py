"""Which predictions of a run a judge rates, and the ratings. Verdicts are read and never changed.

Only patches that were run are rated: others are empty or do not apply.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.core.progress import Progress
from pipeline.core.records import RAN
from pipeline.evaluate.assess.judge.panel import Panel
from pipeline.evaluate.assess.judge.prompt import Question
from pipeline.evaluate.assess.parts import PartResult
from pipeline.evaluate.assess.request import FAILED, Assessed


def rule(panel: Panel, assessed: Sequence[Assessed], log: Path, jobs: int, engine: str = "threads") -> list[PartResult]:
    """The judge's result for each prediction. The gateway writes `log`."""
    questions = [_question(prediction) for prediction in assessed if prediction.verdict.outcome in RAN]
    with Progress("judging", len(panel.remaining(questions))) as progress:
        failures = panel.complete(questions, progress, log, jobs, engine)
    return [
        _rated(panel, prediction, failures) if prediction.verdict.outcome in RAN else _silent(prediction)
        for prediction in assessed
    ]


def _question(prediction: Assessed) -> Question:
    return Question(prediction.instance.task(), prediction.patch)


def _silent(prediction: Assessed) -> PartResult:
    return PartResult(note=f"there is no patch to rate: the verdict is {prediction.verdict.outcome}")


def _rated(panel: Panel, prediction: Assessed, failures: dict[Question, str]) -> PartResult:
    question = _question(prediction)
    samples = panel.samples(question)
    if question in failures:
        missing = f"{len(samples.missing())} of {samples.count} samples"
        return PartResult(panel.judgement(question), f"{FAILED}{missing}: {failures[question]}")
    return PartResult(panel.judgement(question), samples.silence())
