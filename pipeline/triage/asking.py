"""Letting models rate the candidates of a repository: the estimate, the ratings, the cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from pipeline.core.clones import recollect
from pipeline.core.console import say, table
from pipeline.core.dataset import read_candidates
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Candidate
from pipeline.core.store import Store
from pipeline.llm.panel import Asked
from pipeline.triage import stage
from pipeline.triage.raters.panel import AGENT, Estimate, Panel
from pipeline.triage.raters.prompt import question


class Outcome(NamedTuple):
    """The result of asking a model: how many of the `candidates` are `rated`, its `cost` this time and all that was
    `spent` so far, in USD, and by instance, why an answer is `missing`, or why an answer is not a rating
    (`unrated`)."""

    model: str
    candidates: int
    rated: int
    cost: Decimal
    spent: Decimal
    missing: dict[str, str]
    unrated: dict[str, str]

    @property
    def is_whole(self) -> bool:
        return self.rated == self.candidates

    def lines(self) -> Iterator[str]:
        """The result in words, the summary first."""
        cost = f"{self.cost:f} USD now, {self.spent:f} USD in total"
        yield f"{self.model}: {self.rated} of {self.candidates} rated; {cost}"
        for name, cause in self.missing.items():
            yield f"{name}: no answer from {self.model}: {cause}; ask again to get it"
        for name, cause in self.unrated.items():
            yield f"{name}: no rating by {self.model}: {cause}"


class Asking:
    """One model, and the candidates that it is asked about: all, or those of some numbers. Raises UserError at once
    if these cannot be asked about."""

    def __init__(self, store: Store, repo: Repo, asked: Asked, numbers: Sequence[int] = ()) -> None:
        self.store, self.repo, self.model = store, repo, asked.model
        self.asked, self.numbers = asked, tuple(numbers)
        self._candidates = _candidates(store, repo, numbers)
        self._questions = [question(candidate) for candidate in self._candidates]
        self._panel = Panel(store, repo, asked)

    def estimate(self) -> Estimate:
        """The estimate for the candidates without an answer."""
        return self._panel.estimate(self._questions)

    def spent(self) -> Decimal:
        """What the model has cost for this repository so far, in USD."""
        return self._panel.spent()

    def run(
        self,
        *,
        jobs: int = 2,
        engine: str = "threads",
        progress: Progress | None = None,
    ) -> Outcome:
        """Ask about all candidates without an answer, and append the ratings."""
        store, repo, panel, before = self.store, self.repo, self._panel, self.spent()
        bar = progress or Progress("rating", len(panel.remaining(self._questions)))
        log = store.root / "00_viewer" / "models" / f"{repo.slug}.log"
        with store.lock(AGENT, repo, self.model), bar:
            missing = panel.complete(self._questions, bar, log, jobs, engine)
            reviews, unrated = panel.reviews(self._candidates)
            stage.add(store, repo, reviews)
        spent, causes = self.spent(), {question.instance_id: cause for question, cause in missing.items()}
        return Outcome(self.model, len(self._candidates), len(reviews), spent - before, spent, causes, unrated)


def ask(
    store: Store,
    repo: Repo,
    models: Sequence[Asked],
    *,
    numbers: Sequence[int] = (),
    dry_run: bool = False,
    **options: Any,
) -> bool:
    """Print the estimate, ask every model (`options` are those of `Asking.run`), print the cost; returns whether every
    model has rated every candidate. Raises UserError before the first request for anything that cannot be asked."""
    askings = [Asking(store, repo, model, numbers) for model in models]
    estimates = [asking.estimate() for asking in askings]
    rows = [(*estimate[:3], f"{estimate.likely:.4f}", f"{estimate.most:.4f}") for estimate in estimates]
    table("What it will cost (USD)", ("model", "candidates", "tokens", "likely", "at most"), rows)
    if dry_run:
        return True
    outcomes = []
    for asking in askings:
        outcomes.append(asking.run(**options))
        for line in outcomes[-1].lines():
            say(line)
    return all(outcome.is_whole for outcome in outcomes)


def _candidates(store: Store, repo: Repo, numbers: Sequence[int]) -> list[Candidate]:
    candidates = read_candidates(store, repo)
    if missing := sorted(set(numbers) - {candidate.number for candidate in candidates}):
        raise unknown("candidate", f"#{missing[0]}", [f"#{candidate.number}" for candidate in candidates])
    chosen = [candidate for candidate in candidates if not numbers or candidate.number in numbers]
    if not chosen:
        raise UserError(f"{repo} has no candidate", hint=f"collect it first: {recollect(store, repo)}")
    return chosen
