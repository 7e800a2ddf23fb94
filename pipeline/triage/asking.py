"""Letting models rate the candidates of a repository: what it will cost, the ratings, what it has cost."""

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
from pipeline.llm.gateway import Gateway
from pipeline.llm.panel import Asked
from pipeline.triage import stage
from pipeline.triage.raters.panel import AGENT, Estimate, Panel
from pipeline.triage.raters.prompt import question


class Outcome(NamedTuple):
    """What came of asking a model: how many of `candidates` it has rated, USD `now` and in all (`spent`), why answers
    are owed, and why others are no ratings, by instance."""

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
        """In words: the sum first."""
        about = f"{self.now:f} USD now, {self.spent:f} USD in all"
        yield f"{self.model}: {self.rated} of {self.candidates} rated; {about}"
        for name, cause in self.owed.items():
            yield f"{name}: owed by {self.model}: {cause}; asking again asks for what is owed"
        for name, cause in self.absent.items():
            yield f"{name}: no rating of {self.model}: {cause}"


class Asking:
    """One model and the candidates that it is asked about, all or those of some numbers. Raises UserError at once for
    what cannot be asked."""

    def __init__(self, store: Store, repo: Repo, asked: Asked, numbers: Sequence[int] = ()) -> None:
        self.store, self.repo, self.model = store, repo, asked.model
        self._candidates = _candidates(store, repo, numbers)
        self._questions = [question(one) for one in self._candidates]
        self._panel = Panel(store, repo, asked)

    def estimate(self) -> Estimate:
        """Of those that are not answered yet."""
        return self._panel.estimate(self._questions)

    def spent(self) -> Decimal:
        """What the model has cost for this repository so far, in USD."""
        return self._panel.spent()

    def run(
        self,
        *,
        jobs: int = 2,
        engine: str = "threads",
        gateway: Gateway | None = None,
        progress: Progress | None = None,
    ) -> Outcome:
        """Ask for all that is missing, through a gateway that is open or one of its own, and append the ratings."""
        store, repo, panel, before = self.store, self.repo, self._panel, self.spent()
        counted = progress or Progress("rating", len(panel.left(self._questions)))
        log = store.root / "00_viewer" / "models" / f"{repo.slug}.log"
        with store.lock(AGENT, repo, self.model), counted:
            owed = panel.complete(self._questions, counted, log, jobs, engine, gateway)
            reviews, absent = panel.reviews(self._candidates)
            stage.add(store, repo, reviews)
        spent, causes = self.spent(), {one.instance_id: cause for one, cause in owed.items()}
        return Outcome(self.model, len(self._candidates), len(reviews), spent - before, spent, causes, absent)


def ask(
    store: Store, repo: Repo, asked: Sequence[Asked], *, numbers: Sequence[int] = (), dry_run: bool = False, **how: Any
) -> bool:
    """Say what it will cost, ask every model (`how` goes to `Asking.run`), say what it has cost; returns whether every
    candidate has a rating of each. Raises UserError before anything is asked for what cannot be."""
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
