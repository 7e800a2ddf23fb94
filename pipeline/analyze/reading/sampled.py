"""Further attempts at the same instances, from the same runs and from other data directories, for pass@k."""

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
    rows: Rows, store: Store, runs: Mapping[tuple[Who, Repo], Run], verdicts: Verdicts, stores: Iterable[Store]
) -> None:
    """Add `samples`: the current verdicts, those on further attempts, and those of other data directories.

    An attempt that was not evaluated counts as not resolved, as in the leaderboard. Raises UserError for verdicts on
    another image, since those are not the same instances.
    """
    rows.extend("samples", (_row(verdict, store.root.name) for verdict in verdicts.values()))
    for repo in rows.repos:
        for attempt, verdict in judged.further(store, repo, rows.known):
            run, known = runs.get(((verdict.agent, verdict.model), repo)), rows.known[verdict.instance_id]
            if run and (verdict.run, verdict.image) == (run.name, known.image):
                rows.extend("samples", [_row(verdict, f"{store.root.name}, attempt {attempt}")])
    for other in stores:
        for repo in rows.repos:
            for verdict in judged.verdicts(other, repo, rows.known):
                _same_image(rows, other, verdict)
                rows.extend("samples", [_row(verdict, other.root.name)])


def _row(verdict: Verdict, attempt: str) -> tuple[str | bool, ...]:
    who = verdict.agent, verdict.model, verdict.instance_id
    return *who, attempt, verdict.outcome is Outcome.RESOLVED


def _same_image(rows: Rows, other: Store, verdict: Verdict) -> None:
    if verdict.image != rows.known[verdict.instance_id].image:
        message = f"{verdict.instance_id} was evaluated in another image"
        hint = "samples are attempts at the same dataset: build it once, and copy 02_dataset"
        raise UserError(message, path=other.root / "04_evaluation", field="image", hint=hint)
