"""The hybrid scores of a run: every answer's parts, and a judge's opinion if a judge is asked.

Reads a run; writes `04_evaluation/pages/<run>/hybrid.jsonl`, the judge's opinions and their cost, and requests to
review answers that it is not sure of. Does not affect verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.core.console import log_file
from pipeline.core.progress import Progress
from pipeline.core.work import Event, Interrupts, Tell, each
from pipeline.llm.panel import Asked
from pipeline.pages.engine import Limits
from pipeline.pages.hybrid import judge
from pipeline.pages.hybrid.formulas import PARTS
from pipeline.pages.hybrid.judge import Question
from pipeline.pages.hybrid.records import SCORES, Feedback, Hybrid, Part
from pipeline.pages.hybrid.score import combine, evaluate, hybrid_law
from pipeline.pages.hybrid.suite import expected_of
from pipeline.pages.records import PageAnswer
from pipeline.pages.runs import Run


@dataclass(frozen=True)
class Score:
    """The request: an answer's page, which stands for the answer, and its expected text. The judge's part is added
    later."""

    name: str
    answer: PageAnswer
    page: str
    expected: str
    limits: Limits = field(default_factory=Limits)

    @property
    def affinity(self) -> str:
        return ""

    def perform(self, tell: Tell) -> Hybrid:
        tell(Event(self.name, "scoring"))
        about: dict[str, Any] = {"name": self.answer.case, "model": self.answer.model, "sample": self.answer.sample}
        return evaluate(self.page, page=self.page, expected=self.expected, limits=self.limits, **about)

    def failed(self, error: Exception) -> Hybrid:
        """All parts are missing if the machine, or this program, failed."""
        reason = Feedback(level="info", message=f"The answer was not checked: {type(error).__name__}: {error}")
        about = Hybrid(name=self.answer.case, model=self.answer.model, sample=self.answer.sample, law=hybrid_law())
        return about.model_copy(update={"html": Part(feedback=(reason,))})


@dataclass(frozen=True)
class Scoring:
    """The hybrid scores of a run; `asked` is the judge, if any."""

    run: Run
    asked: Asked | None = None
    jobs: int = 2
    limits: Limits = field(default_factory=Limits)

    def score(self) -> list[Hybrid]:
        """Score all answers and write the records. Raises UserError for a judge that cannot be asked."""
        run = self.run
        with run.store.lock("pages-hybrid", run.name), log_file(run.evaluated / "hybrid.log"):
            requests = [self._request(answer) for answer in run.answers()]
            scored = self._scored(requests)
            if self.asked:
                scored = self._judged(self.asked, requests, scored)
            run.store.replace_records(run.evaluated / SCORES, scored)
        return scored

    def _request(self, answer: PageAnswer) -> Score:
        name = f"{answer.case} {answer.model} s{answer.sample}"
        expected = expected_of(self.run.by_name[answer.case].folder)
        return Score(name, answer, self.run.page(answer), expected, self.limits)

    def _scored(self, requests: Sequence[Score]) -> list[Hybrid]:
        found: dict[tuple[str, str, int], Hybrid] = {}
        with Progress("scoring", len(requests)) as progress:
            options: dict[str, Any] = {
                "jobs": self.jobs,
                "hear": progress.hear,
                "interrupts": Interrupts(progress.stopping),
            }
            for request, scored in each(requests, **options):
                found[request.answer.key] = scored
                progress.finish(request.name, f"{scored.overall_score}")
        return [found[request.answer.key] for request in requests]

    def _judged(self, asked: Asked, requests: Sequence[Score], scored: Sequence[Hybrid]) -> list[Hybrid]:
        run = self.run
        questions = [
            Question(request.answer.case, run.by_name[request.answer.case].prompt, request.page) for request in requests
        ]
        log: Path = run.evaluated / "judge-gateway.log"
        parts = judge.opinions(run.store, run.case_set, questions, asked, log, self.jobs)
        doubtful = [
            (request.name, request.page)
            for request, question in zip(requests, questions, strict=True)
            if judge.is_doubtful(parts[question])
        ]
        judge.ask_people(run.store, doubtful, asked.model)
        return [_with(score, parts[question], asked.model) for score, question in zip(scored, questions, strict=True)]


def _with(scored: Hybrid, opinion: Part, model: str) -> Hybrid:
    """The score with a model's opinion as its judge. An answer that was not checked gets no score from that alone."""
    scored = scored.model_copy(update={"judge": model})
    if not scored.digest:
        return scored.model_copy(update={"quality": opinion})
    parts = {name: getattr(scored, name) for name in PARTS} | {"quality": opinion}
    return combine(parts, scored)
