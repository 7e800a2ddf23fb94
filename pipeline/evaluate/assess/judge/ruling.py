"""Which predictions of a run a judge rates, and what it says of each. Verdicts are read and never changed.

Rated are patches that were run: the others are none, or no change of these sources.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.core.progress import Progress
from pipeline.core.records import RAN
from pipeline.evaluate.assess.evidence import FAILED, Case
from pipeline.evaluate.assess.judge.panel import Panel
from pipeline.evaluate.assess.judge.prompt import Question
from pipeline.evaluate.assess.said import Said


def rule(panel: Panel, cases: Sequence[Case], log: Path, jobs: int) -> list[Said]:
    """What the judge says of each case. The gateway writes `log`."""
    questions = [_question(one) for one in cases if one.verdict.outcome in RAN]
    with Progress("judging", len(questions)) as progress:
        owed = panel.complete(questions, progress, log, jobs)
    return [_said(panel, one, owed) if one.verdict.outcome in RAN else _silent(one) for one in cases]


def _question(case: Case) -> Question:
    return Question(case.instance.task(), case.patch)


def _silent(case: Case) -> Said:
    return Said(note=f"there is no patch to rate: the verdict is {case.verdict.outcome}")


def _said(panel: Panel, case: Case, owed: dict[Question, str]) -> Said:
    question = _question(case)
    samples = panel.samples(question)
    if question in owed:
        left = f"{len(samples.missing())} of {samples.count} samples"
        return Said(panel.judgement(question), f"{FAILED}{left}: {owed[question]}")
    return Said(panel.judgement(question), samples.silence())
