"""Letting models rate the candidates of a repository: the estimate, the ratings, the cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from pipeline.core.console import say, table
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Candidate
from pipeline.core.store import Store, read_records
from pipeline.llm.panel import Asked
from pipeline.triage import stage
from pipeline.triage.raters.panel import AGENT, Estimate, Panel
from pipeline.triage.raters.prompt import question


class Outcome(NamedTuple):
    """The result of asking a model: the number of `candidates` that it has rated, USD spent `now` and in total
    (`spent`), and by instance, why answers are missing (owed) or are not ratings."""

    model: str
    candidates: int
    rated: int
    now: Decimal
    spent: Decimal
    owed: dict[str, str]
    absent: dict[str, str]

    @property
    def is_whole(self) -> bool:
        return self.rated == self.candidates

    def lines(self) -> Iterator[str]:
        """The result in words, the summary first."""
        about = f"{self.now:f} USD now, {self.spent:f} USD in total"
        yield f"{self.model}: {self.rated} of {self.candidates} rated; {about}"
        for name, cause in self.owed.items():
            yield f"{name}: owed by {self.model}: {cause}; ask again to get it"
        for name, cause in self.absent.items():
            yield f"{name}: no rating of {self.model}: {cause}"


class Asking:
    """One model, and the candidates that it is asked about: all, or those of some numbers. Raises UserError at once
    if these cannot be asked about."""

    def __init__(self, store: Store, repo: Repo, asked: Asked, numbers: Sequence[int] = ()) -> None:
        self.store, self.repo, self.model = store, repo, asked.model
        self.asked, self.numbers = asked, tuple(numbers)
        self._candidates = _candidates(store, repo, numbers)
        self._questions = [question(one) for one in self._candidates]
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
        counted = progress or Progress("rating", len(panel.left(self._questions)))
        log = store.root / "00_viewer" / "models" / f"{repo.slug}.log"
        with store.lock(AGENT, repo, self.model), counted:
            owed = panel.complete(self._questions, counted, log, jobs, engine)
            reviews, absent = panel.reviews(self._candidates)
            stage.add(store, repo, reviews)
        spent, causes = self.spent(), {one.instance_id: cause for one, cause in owed.items()}
        return Outcome(self.model, len(self._candidates), len(reviews), spent - before, spent, causes, absent)


def ask(
    store: Store, repo: Repo, asked: Sequence[Asked], *, numbers: Sequence[int] = (), dry_run: bool = False, **how: Any
) -> bool:
    """Print the estimate, ask every model (`how` goes to `Asking.run`), print the cost; returns whether every model
    has rated every candidate. Raises UserError before the first request for anything that cannot be asked."""
    askings = [Asking(store, repo, one, numbers) for one in asked]
    estimates = [one.estimate() for one in askings]
    rows = [(one.model, one.candidates, one.tokens, f"{one.likely:.4f}", f"{one.most:.4f}") for one in estimates]
    table("What it will cost (USD)", ("model", "candidates", "tokens", "likely", "at most"), rows)
    if dry_run:
        return True
    outcomes = []
    for one in askings:
        outcomes.append(one.run(**how))
        for line in outcomes[-1].lines():
            say(line)
    return all(one.is_whole for one in outcomes)


def _candidates(store: Store, repo: Repo, numbers: Sequence[int]) -> list[Candidate]:
    found = read_records(store.raw(repo) / "candidates.jsonl", Candidate)
    if missing := sorted(set(numbers) - {one.number for one in found}):
        raise unknown("candidate", f"#{missing[0]}", [f"#{one.number}" for one in found])
    wanted = [one for one in found if not numbers or one.number in numbers]
    if not wanted:
        raise UserError(f"{repo} has no candidate", hint=f"collect it first: just collect-run {repo}")
    return wanted
