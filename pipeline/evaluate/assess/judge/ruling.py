"""Which predictions of a run a judge rates, and what it says of each. Verdicts are read and never changed.

Rated are patches that were run: the others are none, or no change of these sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.core.progress import Progress
from pipeline.core.records import RAN
from pipeline.evaluate.assess.judge.panel import Panel
from pipeline.evaluate.assess.judge.prompt import Question
from pipeline.evaluate.assess.request import FAILED, Assessed
from pipeline.evaluate.assess.said import Said


def rule(panel: Panel, assessed: Sequence[Assessed], log: Path, jobs: int, engine: str = "threads") -> list[Said]:
    """What the judge says of each prediction. The gateway writes `log`."""
    questions = [_question(one) for one in assessed if one.verdict.outcome in RAN]
    with Progress("judging", len(panel.left(questions))) as progress:
        owed = panel.complete(questions, progress, log, jobs, engine)
    return [_said(panel, one, owed) if one.verdict.outcome in RAN else _silent(one) for one in assessed]


def _question(one: Assessed) -> Question:
    return Question(one.instance.task(), one.patch)


def _silent(one: Assessed) -> Said:
    return Said(note=f"there is no patch to rate: the verdict is {one.verdict.outcome}")


def _said(panel: Panel, one: Assessed, owed: dict[Question, str]) -> Said:
    question = _question(one)
    samples = panel.samples(question)
    if question in owed:
        left = f"{len(samples.missing())} of {samples.count} samples"
        return Said(panel.judgement(question), f"{FAILED}{left}: {owed[question]}")
    return Said(panel.judgement(question), samples.silence())
