"""All attempts at the instances, from the same runs and from other data directories, for pass@k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from pipeline.analyze.reading import judged
from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.judged import Verdicts
from pipeline.analyze.reading.rows import Rows, Who
from pipeline.analyze.reading.spent import Spending
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Outcome, Verdict
from pipeline.core.store import Store


def read(
    rows: Rows,
    store: Store,
    runs: Mapping[tuple[Who, Repo], Run],
    verdicts: Verdicts,
    others: Iterable[Store],
    spending: Spending,
) -> None:
    """Add `samples`: the current verdicts, those on further attempts, and those of other data directories.

    An attempt that was not evaluated counts as not resolved, as in the leaderboard. Raises UserError for verdicts on
    another image, since those are not the same instances.
    """

    def add(one: Verdict, data: Store, attempt: int = 1) -> None:
        run = runs.get(((one.agent, one.model), rows.known[one.instance_id].repo)) if data is store else None
        answer = run.answers.get((one.instance_id, attempt), "") if run else ""
        rows.add(
            "samples", Verdict=one, Context=_context(one, attempt, spending.on(answer)), **{"--samples": data.root.name}
        )

    for one in verdicts.values():
        add(one, store)
    for repo in rows.repos:
        for attempt, one in judged.further(store, repo, rows.known):
            run, known = runs.get(((one.agent, one.model), repo)), rows.known[one.instance_id]
            if run and (one.run, one.image) == (run.name, known.image):
                add(one, store, attempt)
    for other in others:
        for repo in rows.repos:
            for one in judged.verdicts(other, repo, rows.known):
                _same_image(rows, other, one)
                add(one, other)


def _context(verdict: Verdict, attempt: int, cost: Decimal | None) -> dict[str, Any]:
    return {
        "attempt": attempt,
        "evaluated": verdict.outcome is not Outcome.NOT_EVALUATED,
        "resolved": verdict.outcome is Outcome.RESOLVED,
        "cost_usd": cost,
    }


def _same_image(rows: Rows, other: Store, verdict: Verdict) -> None:
    if verdict.image != rows.known[verdict.instance_id].image:
        message = f"{verdict.instance_id} was evaluated in another image"
        hint = "samples are attempts at the same dataset: build it once, and copy 02_dataset"
        raise UserError(message, path=other.root / "04_evaluation", field="image", hint=hint)
