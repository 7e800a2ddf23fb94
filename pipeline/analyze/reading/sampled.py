"""All attempts at the instances, from the same runs and from other data directories, for pass@k."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from decimal import Decimal
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.analyze.reading import judged
from pipeline.analyze.reading.attempts import Runs
from pipeline.analyze.reading.judged import Verdicts
from pipeline.analyze.reading.repeated import Answer, Judged, Seen, Unjudged
from pipeline.analyze.reading.rows import Rows, Who
from pipeline.analyze.reading.spent import Spending
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Outcome
from pipeline.core.store import Store, attempts_in


class Attempt(NamedTuple):
    """A verdict, or the lack of one, with its repository and the number of its attempt, from 1."""

    repo: Repo
    number: int
    verdict: Judged

    @property
    def who(self) -> Who:
        return self.verdict.agent, self.verdict.model


class Directory(NamedTuple):
    """A data directory, its name in tables, and its verdicts that count."""

    store: Store
    name: str
    attempts: list[Attempt]


#: an attempt that was wanted: repository, agent and model, run, instance, number
Wanted = tuple[Repo, Who, str, str, int]


def read(
    rows: Rows, store: Store, runs: Runs, verdicts: Verdicts, sample_stores: Sequence[Store], spending: Spending
) -> None:
    """Add `samples`: the current verdicts, those on further attempts, those of other data directories, and what has no
    verdict; and notes on verdicts that do not count or are missing.

    An attempt that was not evaluated counts as not resolved, as in the leaderboard, and also if it has no verdict. One
    that is in several directories counts once. Raises UserError for verdicts on another image, since those are not the
    same instances.
    """
    names, seen = _names([store.root, *(data.root for data in sample_stores)]), Seen()
    first = [Attempt(rows.known[verdict.instance_id].repo, 1, verdict) for verdict in verdicts.values()]
    here = Directory(store, names[0], [*first, *_further(rows, store, runs, seen)])
    others = [
        Directory(data, name, _current(rows, data, name, seen))
        for data, name in zip(sample_stores, names[1:], strict=True)
    ]
    _add(rows, here, here.attempts, seen, partial(_cost, runs, spending))
    for other in others:
        if not other.attempts:
            rows.note(f"Samples: {other.name} has no verdict on these instances that counts (just eval-run there).")
        if repeats := len(other.attempts) - len(_add(rows, other, other.attempts, seen)):
            rows.note(f"Samples: {repeats} attempts in {other.name} were counted before, and count once.")
    # the last ones, since another directory can have a verdict on the same answer
    evaluated = {attempt.who for directory in (here, *others) for attempt in directory.attempts}
    missing = _unjudged(here, _wanted(rows, runs, evaluated), seen)
    _note_missing(rows, _add(rows, here, missing, seen, partial(_cost, runs, spending)))
    for other in others:
        if added := _add(rows, other, _unjudged(other, _answered(rows, other, seen), seen), seen):
            rows.note(f"Samples: {len(added)} attempts in {other.name} have no verdict, and count as not resolved.")


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


def _current(rows: Rows, data: Store, name: str, seen: Seen) -> list[Attempt]:
    """The current verdicts of another data directory, on all attempts; notes how many are of older patches."""
    found = [attempt for repo in rows.repos for attempt in _of_evaluated_runs(data, repo, rows)]
    current = [attempt for attempt in found if not seen.is_stale(data, *attempt)]
    if stale := len(found) - len(current):
        rows.note(f"Samples: {stale} verdicts in {name} belong to older patches.")
    for attempt in current:
        _require_same_image(rows, data, attempt.verdict)
    return current


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


def _wanted(rows: Rows, runs: Runs, evaluated: Set[Who]) -> Iterator[Wanted]:
    """All attempts that the runs of these agents and models wanted."""
    for (who, repo), run in runs.items():
        numbers = range(1, run.attempts + 1)
        for known in rows.known.values() if who in evaluated else ():
            if known.repo == repo and run.is_about(known.instance_id):
                yield from ((repo, who, run.name, known.instance_id, number) for number in numbers)


def _answered(rows: Rows, data: Directory, seen: Seen) -> Iterator[Wanted]:
    """The answers of the runs of another data directory that were evaluated."""
    runs = dict.fromkeys((attempt.repo, attempt.who, attempt.verdict.run) for attempt in data.attempts)
    for repo, who, run in runs:
        for number in attempts_in(data.store.predictions(repo, *who) / run, "predictions.jsonl"):
            for name in seen.answers(data.store, repo, who, run, number):
                if name in rows.known:
                    yield repo, who, run, name, number


def _unjudged(data: Directory, wanted: Iterable[Wanted], seen: Seen) -> list[Attempt]:
    """The wanted attempts without a verdict that counts."""
    judged = {(attempt.who, attempt.verdict.instance_id, attempt.number) for attempt in data.attempts}
    return [
        Attempt(repo, number, Unjudged(*who, name, run, answers.get(name, Answer()).patch_digest))
        for repo, who, run, name, number in wanted
        if (who, name, number) not in judged
        for answers in [seen.answers(data.store, repo, who, run, number)]
    ]


def _note_missing(rows: Rows, missing: Iterable[Attempt]) -> None:
    """Note how many further attempts have no verdict; the first ones are on the leaderboard."""
    counts = Counter((attempt.who, attempt.repo) for attempt in missing if attempt.number > 1)
    for (who, repo), count in sorted(counts.items()):
        whose = f"{count} further attempts of {', '.join(who)} on {repo}"
        rows.note(f"04 evaluate: {whose} have no verdict, and count as not resolved (just eval-run).")


def _cost(runs: Runs, spending: Spending, attempt: Attempt) -> Decimal | None:
    """What the answer cost, in USD; None if unknown."""
    run = runs.get((attempt.who, attempt.repo))
    return spending.on(run.answers.get((attempt.verdict.instance_id, attempt.number), "")) if run else None


def _add(
    rows: Rows,
    data: Directory,
    attempts: Iterable[Attempt],
    seen: Seen,
    cost: Callable[[Attempt], Decimal | None] = lambda _: None,
) -> list[Attempt]:
    """Add the attempts that were not seen before; returns these."""
    new = [attempt for attempt in attempts if not seen.is_repeat(data.store, *attempt)]
    for attempt in new:
        context = _context(attempt, cost(attempt))
        rows.add("samples", Verdict=attempt.verdict, Context=context, **{"--samples": data.name})
    return new


def _context(attempt: Attempt, cost: Decimal | None) -> dict[str, Any]:
    verdict = attempt.verdict
    return {
        "attempt": attempt.number,
        "answered": verdict.patch_digest != "",
        "evaluated": verdict.outcome is not Outcome.NOT_EVALUATED,
        "resolved": verdict.outcome is Outcome.RESOLVED,
        "cost_usd": cost,
    }


def _require_same_image(rows: Rows, sample_store: Store, verdict: Judged) -> None:
    if verdict.image != rows.known[verdict.instance_id].image:
        message = f"{verdict.instance_id} was evaluated in another image"
        hint = "samples are attempts at the same dataset: build it once, and copy 02_dataset"
        raise UserError(message, path=sample_store.root / "04_evaluation", field="image", hint=hint)
