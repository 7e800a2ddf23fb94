"""Further attempts at the same instances, of the same runs and from other data directories: what pass@k needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pipeline.analyze.reading import judged
from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.judged import Verdicts
from pipeline.analyze.reading.rows import Rows, Who
from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Outcome, Verdict
from pipeline.core.store import Store


def read(
    rows: Rows, store: Store, runs: Mapping[tuple[Who, Repo], Run], verdicts: Verdicts, others: Iterable[Store]
) -> None:
    """Add `samples`: the verdicts that hold, those on further attempts, and those of the other data directories.

    What was not evaluated is an attempt that resolves nothing, as in the leaderboard. Raises UserError for verdicts on
    another image: not the same instances.
    """
    rows.extend("samples", (_row(one, store.root.name) for one in verdicts.values()))
    for repo in rows.repos:
        for attempt, one in judged.further(store, repo, rows.known):
            run, known = runs.get(((one.agent, one.model), repo)), rows.known[one.instance_id]
            if run and (one.run, one.image) == (run.name, known.image):
                rows.extend("samples", [_row(one, f"{store.root.name}, attempt {attempt}")])
    for other in others:
        for repo in rows.repos:
            for one in judged.verdicts(other, repo, rows.known):
                _same_image(rows, other, one)
                rows.extend("samples", [_row(one, other.root.name)])


def _row(verdict: Verdict, attempt: str) -> tuple[str | bool, ...]:
    who = verdict.agent, verdict.model, verdict.instance_id
    return *who, attempt, verdict.outcome is Outcome.RESOLVED


def _same_image(rows: Rows, other: Store, verdict: Verdict) -> None:
    if verdict.image != rows.known[verdict.instance_id].image:
        message = f"{verdict.instance_id} was evaluated in another image"
        hint = "samples are attempts at the same dataset: build it once, and copy 02_dataset"
        raise UserError(message, path=other.root / "04_evaluation", field="image", hint=hint)
