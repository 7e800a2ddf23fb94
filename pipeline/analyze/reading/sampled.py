"""All attempts at the instances, from the same runs and from other data directories, for pass@k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.analyze.reading import judged
from pipeline.analyze.reading.attempts import Runs
from pipeline.analyze.reading.judged import Verdicts
from pipeline.analyze.reading.repeated import Seen
from pipeline.analyze.reading.rows import Rows, Who
from pipeline.analyze.reading.spent import Spending
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Outcome, Verdict
from pipeline.core.store import Store


class Attempt(NamedTuple):
    """A verdict with its repository and the number of its attempt, from 1."""

    repo: Repo
    number: int
    verdict: Verdict

    @property
    def who(self) -> Who:
        return self.verdict.agent, self.verdict.model


def read(
    rows: Rows, store: Store, runs: Runs, verdicts: Verdicts, sample_stores: Sequence[Store], spending: Spending
) -> None:
    """Add `samples`: the current verdicts, those on further attempts, and those of other data directories, and notes
    on verdicts that do not count.

    An attempt that was not evaluated counts as not resolved, as in the leaderboard. One that is in several directories
    counts once. Raises UserError for verdicts on another image, since those are not the same instances.
    """
    names, seen = _names([store.root, *(data.root for data in sample_stores)]), Seen()
    first = [Attempt(rows.known[verdict.instance_id].repo, 1, verdict) for verdict in verdicts.values()]
    for attempt in (*first, *_further(rows, store, runs, seen)):
        if not seen.is_repeat(store, *attempt):
            _add(rows, attempt, names[0], _cost(attempt, runs, spending))
    for data, name in zip(sample_stores, names[1:], strict=True):
        _add_samples(rows, data, name, seen)


def _names(folders: Sequence[Path]) -> list[str]:
    """The folders' names in order; one that is taken gets as many of its parents as make it another."""
    names: list[str] = []
    for folder in folders:
        parts = folder.resolve().parts
        ends = ("/".join(parts[-length:]) for length in range(1, len(parts) + 1))
        names.append(next((end for end in ends if end not in names), str(folder)))
    return names


def _further(rows: Rows, store: Store, runs: Runs, seen: Seen) -> Iterator[Attempt]:
    """The current verdicts on further attempts; notes how many are of older runs, patches or images."""
    stale: Counter[tuple[Who, Repo]] = Counter()
    for attempt in chain.from_iterable(_of_further(store, repo, rows) for repo in rows.repos):
        verdict, run = attempt.verdict, runs.get((attempt.who, attempt.repo))
        current = run.name if run else verdict.run, rows.known[verdict.instance_id].image
        if (verdict.run, verdict.image) == current and not seen.is_stale(store, *attempt):
            yield attempt
        else:
            stale[attempt.who, attempt.repo] += 1
    for (who, repo), count in sorted(stale.items()):
        whose = f"on further attempts of {', '.join(who)} on {repo}"
        rows.note(f"04 evaluate: {count} verdicts {whose} belong to older patches or images.")


def _of_further(data: Store, repo: Repo, rows: Rows) -> Iterator[Attempt]:
    return (Attempt(repo, number, verdict) for number, verdict in judged.further(data, repo, rows.known))


def _add_samples(rows: Rows, data: Store, name: str, seen: Seen) -> None:
    """Add all attempts of another data directory, and notes on those that do not count."""
    found = [attempt for repo in rows.repos for attempt in _of_evaluated_runs(data, repo, rows)]
    current = [attempt for attempt in found if not seen.is_stale(data, *attempt)]
    if stale := len(found) - len(current):
        rows.note(f"Samples: {stale} verdicts in {name} belong to older patches.")
    for attempt in current:
        _require_same_image(rows, data, attempt.verdict)
    new = [attempt for attempt in current if not seen.is_repeat(data, *attempt)]
    for attempt in new:
        _add(rows, attempt, name, None)
    if repeats := len(current) - len(new):
        rows.note(f"Samples: {repeats} attempts in {name} were counted before, and count once.")


def _of_evaluated_runs(data: Store, repo: Repo, rows: Rows) -> Iterator[Attempt]:
    """The verdicts on first attempts, and those on further attempts of the same runs: others are left from older
    runs."""
    runs = set()
    for verdict in judged.verdicts(data, repo, rows.known):
        runs.add((verdict.agent, verdict.model, verdict.run))
        yield Attempt(repo, 1, verdict)
    for attempt in _of_further(data, repo, rows):
        if (*attempt.who, attempt.verdict.run) in runs:
            yield attempt


def _cost(attempt: Attempt, runs: Runs, spending: Spending) -> Decimal | None:
    """What the answer cost, in USD; None if unknown."""
    run = runs.get((attempt.who, attempt.repo))
    return spending.on(run.answers.get((attempt.verdict.instance_id, attempt.number), "")) if run else None


def _add(rows: Rows, attempt: Attempt, name: str, cost: Decimal | None) -> None:
    context = _context(attempt.verdict, attempt.number, cost)
    rows.add("samples", Verdict=attempt.verdict, Context=context, **{"--samples": name})


def _context(verdict: Verdict, attempt: int, cost: Decimal | None) -> dict[str, Any]:
    return {
        "attempt": attempt,
        "evaluated": verdict.outcome is not Outcome.NOT_EVALUATED,
        "resolved": verdict.outcome is Outcome.RESOLVED,
        "cost_usd": cost,
    }


def _require_same_image(rows: Rows, sample_store: Store, verdict: Verdict) -> None:
    if verdict.image != rows.known[verdict.instance_id].image:
        message = f"{verdict.instance_id} was evaluated in another image"
        hint = "samples are attempts at the same dataset: build it once, and copy 02_dataset"
        raise UserError(message, path=sample_store.root / "04_evaluation", field="image", hint=hint)
