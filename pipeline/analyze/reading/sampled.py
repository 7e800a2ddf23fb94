"""All attempts at the instances, from the same runs and from other data directories, for pass@k."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from pipeline.analyze.reading import judged
from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.judged import Verdicts
from pipeline.analyze.reading.repeated import Seen
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
    sample_stores: Iterable[Store],
    spending: Spending,
) -> None:
    """Add `samples`: the current verdicts, those on further attempts, and those of other data directories.

    An attempt that was not evaluated counts as not resolved, as in the leaderboard. One that is in several directories
    counts once. Raises UserError for verdicts on another image, since those are not the same instances.
    """
    seen = Seen()

    def add(verdict: Verdict, data: Store, attempt: int = 1) -> bool:
        """Add an attempt; False for a repeat."""
        instance = rows.known[verdict.instance_id]
        if seen.is_repeat(data, instance.repo, verdict, attempt):
            return False
        run = runs.get(((verdict.agent, verdict.model), instance.repo)) if data is store else None
        answer = run.answers.get((verdict.instance_id, attempt), "") if run else ""
        context = _context(verdict, attempt, spending.on(answer))
        rows.add("samples", Verdict=verdict, Context=context, **{"--samples": data.root.name})
        return True

    for verdict in verdicts.values():
        add(verdict, store)
    for repo in rows.repos:
        for attempt, verdict in judged.further(store, repo, rows.known):
            run, known = runs.get(((verdict.agent, verdict.model), repo)), rows.known[verdict.instance_id]
            if run and (verdict.run, verdict.image) == (run.name, known.image):
                add(verdict, store, attempt)
    for sample_store in sample_stores:
        found = [verdict for repo in rows.repos for verdict in judged.verdicts(sample_store, repo, rows.known)]
        for verdict in found:
            _require_same_image(rows, sample_store, verdict)
        if repeats := sum(not add(verdict, sample_store) for verdict in found):
            rows.note(f"Samples: {repeats} attempts in {sample_store.root.name} were counted before, and count once.")


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
