"""Further attempts at the same instances, from other data directories: what pass@k needs more than one of."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.analyze.reading import judged
from pipeline.analyze.reading.judged import Verdicts
from pipeline.analyze.reading.rows import Rows
from pipeline.core.errors import UserError
from pipeline.core.records import Outcome, Verdict
from pipeline.core.store import Store


def read(rows: Rows, store: Store, verdicts: Verdicts, others: Iterable[Store]) -> None:
    """Add `samples`: the verdicts that hold, and those of the other data directories.

    What was not evaluated is no sample. Raises UserError for verdicts on another image: not the same instances.
    """
    rows.extend("samples", (_row(one, store) for one in verdicts.values() if _counts(one)))
    for other in others:
        for repo in rows.repos:
            for one in judged.verdicts(other, repo, rows.known):
                _same_image(rows, other, one)
                if _counts(one):
                    rows.extend("samples", [_row(one, other)])


def _counts(verdict: Verdict) -> bool:
    return verdict.outcome is not Outcome.NOT_EVALUATED


def _row(verdict: Verdict, store: Store) -> tuple[str | bool, ...]:
    who = verdict.agent, verdict.model, verdict.instance_id
    return *who, store.root.name, verdict.outcome is Outcome.RESOLVED


def _same_image(rows: Rows, other: Store, verdict: Verdict) -> None:
    if verdict.image != rows.known[verdict.instance_id].image:
        message = f"{verdict.instance_id} was evaluated in another image"
        hint = "samples are attempts at the same dataset: build it once, and copy 02_dataset"
        raise UserError(message, path=other.root / "04_evaluation", field="image", hint=hint)
