"""Letting models rate the candidates of a repository: what it will cost, the ratings, what it has cost."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.core.console import say, table
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Candidate
from pipeline.core.store import Store, read_records
from pipeline.llm.gateway import Gateway
from pipeline.llm.panel import Asked
from pipeline.triage import stage
from pipeline.triage.raters.panel import AGENT, Panel
from pipeline.triage.raters.prompt import question


def ask(
    store: Store,
    repo: Repo,
    asked: Sequence[Asked],
    *,
    numbers: Sequence[int] = (),
    dry_run: bool = False,
    jobs: int = 2,
    engine: str = "threads",
    gateway: Gateway | None = None,
) -> bool:
    """Ask every model for all that is missing, through a gateway that is open or one of its own; returns whether every
    candidate has a rating of each. Raises UserError before anything is asked for what can not be."""
    candidates = _candidates(store, repo, numbers)
    questions = [question(one) for one in candidates]
    panels = [Panel(store, repo, one) for one in asked]
    estimates = [one.estimate(questions) for one in panels]
    rows = [(one.model, one.candidates, one.tokens, f"{one.likely:.4f}", f"{one.most:.4f}") for one in estimates]
    table("What it will cost (USD)", ("model", "candidates", "tokens", "likely", "at most"), rows)
    if dry_run:
        return True
    whole = [_asked(store, repo, one, candidates, jobs, engine, gateway) for one in panels]
    return all(whole)


def _asked(
    store: Store,
    repo: Repo,
    panel: Panel,
    candidates: Sequence[Candidate],
    jobs: int,
    engine: str,
    gateway: Gateway | None,
) -> bool:
    questions = [question(one) for one in candidates]
    model, before = panel.asked.model, panel.spent()
    with store.lock(AGENT, repo, model), Progress("rating", len(questions)) as progress:
        if gateway:
            left = [one for one in questions if panel.samples(one).missing()]
            owed = panel.ask(gateway, left, progress, jobs, engine)
        else:
            log = store.root / "00_viewer" / "models" / f"{repo.slug}.log"
            owed = panel.complete(questions, progress, log, jobs, engine)
        reviews, absent = panel.reviews(candidates)
        stage.add(store, repo, reviews)
    spent = panel.spent()
    say(f"{model}: {len(reviews)} of {len(candidates)} rated; {spent - before:f} USD now, {spent:f} USD in all")
    for one, cause in owed.items():
        say(f"{one.instance_id}: owed by {model}: {cause}; the same command asks again")
    for name, cause in absent.items():
        say(f"{name}: no rating of {model}: {cause}")
    return len(reviews) == len(candidates)


def _candidates(store: Store, repo: Repo, numbers: Sequence[int]) -> list[Candidate]:
    found = read_records(store.raw(repo) / "candidates.jsonl", Candidate)
    if missing := sorted(set(numbers) - {one.number for one in found}):
        raise unknown("candidate", f"#{missing[0]}", [f"#{one.number}" for one in found])
    wanted = [one for one in found if not numbers or one.number in numbers]
    if not wanted:
        raise UserError(f"{repo} has no candidate", hint=f"collect it first: just collect-run {repo}")
    return wanted
