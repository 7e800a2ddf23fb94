"""Typed frames: one row per candidate, rejection, assigned criterion, instance, test transition, prediction,
verdict, experiment's cost and request.

Made from `reading.Sources`; what the columns are stands in `columns.py`. Computes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pipeline.analyze.columns import typed
from pipeline.analyze.reading import Sources, read
from pipeline.core import verdict as law
from pipeline.core.names import parse_instance_id, parse_repo
from pipeline.core.records import PRINCIPLES, Instance, Triple
from pipeline.core.store import Store

Row = dict[str, Any]


@dataclass(frozen=True)
class Frames:
    """The frames of `columns.py` by name, and the records they were made of."""

    sources: Sources
    funnel: pd.DataFrame
    candidates: pd.DataFrame
    rejections: pd.DataFrame
    criteria: pd.DataFrame
    instances: pd.DataFrame
    transitions: pd.DataFrame
    predictions: pd.DataFrame
    verdicts: pd.DataFrame
    costs: pd.DataFrame
    requests: pd.DataFrame

    @property
    def notes(self) -> tuple[str, ...]:
        """What is missing, in sentences."""
        return self.sources.notes


def load(data: Path | str | Store, repo: str | None = None, issues_only: bool = False) -> Frames:
    """Read a data directory, of one repository (`org/repo`) or of all. Raises UserError as `reading.read` does.

    `issues_only` leaves out instances whose statement is the pull request's own text.
    """
    store = data if isinstance(data, Store) else Store(Path(data))
    sources = read(store, parse_repo(repo) if repo else None)
    return build(sources.with_issue() if issues_only else sources)


def build(sources: Sources) -> Frames:
    """The frames of these records."""
    return Frames(sources=sources, **{name: typed(name, rows(sources)) for name, rows in ROWS.items()})


def _place(record: Any) -> Row:
    return {"instance_id": record.instance_id, "repo": str(parse_instance_id(record.instance_id)[0])}


def _fields(record: Any, *names: str) -> Row:
    return {name: getattr(record, name) for name in names}


def _sizes(record: Any, *names: str) -> Row:
    return {name: len(getattr(record, name)) for name in names}


def _funnel(sources: Sources) -> Iterator[Row]:
    for funnel in sources.funnels:
        yield funnel.model_dump() | {"repo": str(parse_repo(funnel.repo))}


def _candidates(sources: Sources) -> Iterator[Row]:
    for record in sources.candidates:
        row = _fields(record, "number", "title", "merged_at", "statement_source", "chosen_by_hand")
        patterns = sorted({evidence.pattern for evidence in record.a11y_reason})
        yield _place(record) | row | {"evidence": " ".join(patterns)}


def _rejections(sources: Sources) -> Iterator[Row]:
    for record in sources.rejections:
        yield _place(record) | _fields(record, "stage", "reason", "detail")


def _criteria(sources: Sources) -> Iterator[Row]:
    """Each criterion of an instance once, whoever named it; a principle alone where none of its criteria is named."""
    places = {record.instance_id: _place(record) for record in sources.reviews}
    named = {(r.instance_id, PRINCIPLES[int(c[0]) - 1], c) for r in sources.reviews for c in r.success_criteria}
    covered = {(name, principle) for name, principle, _ in named}
    bare = {(r.instance_id, p, "") for r in sources.reviews for p in r.principles if (r.instance_id, p) not in covered}
    for name, principle, criterion in sorted(named | bare):
        yield places[name] | {"principle": principle, "criterion": criterion}


def _instances(sources: Sources) -> Iterator[Row]:
    for record in sources.instances:
        row = _fields(record, "number", "title", "merged_at", "statement_source", "chosen_by_hand", "repeats")
        sizes = _sizes(record, "expected", "snapshot_only", "deviations")
        tests = {"fail_to_pass": len(record.f2p_tests), "quarantined": len(record.quarantine)}
        yield _place(record) | row | sizes | tests


def transitions_of(instance: Instance) -> dict[str, Triple]:
    """All tests that the dataset holds of an instance, by name."""
    kinds = (instance.fixed_tests, instance.p2p_tests, instance.f2p_tests, instance.s2p_tests, instance.n2p_tests)
    return {name: kind[name] for kind in kinds for name in sorted(kind)}


def _transitions(sources: Sources) -> Iterator[Row]:
    for record in sources.instances:
        for name, triple in transitions_of(record).items():
            rule = law.table()[triple]
            row = {"name": name, "kind": rule.kind, "must_pass": rule.must_pass}
            yield _place(record) | row | {run: str(status) for run, status in triple}


def _predictions(sources: Sources) -> Iterator[Row]:
    for record in sources.predictions:
        patch = record.model_patch.strip()
        row = {"model": record.model_name_or_path, "empty": not patch, "patch_lines": len(patch.splitlines())}
        yield _place(record) | row | _fields(record, "agent", "run", "outcome", "trusted")


def _verdicts(sources: Sources) -> Iterator[Row]:
    for record in sources.verdicts:
        row = _fields(record, "agent", "model", "run", "cause", "expected") | {"outcome": record.outcome.value}
        yield _place(record) | row | _sizes(record, "fixed", "unfixed", "broken", "restored")


def _costs(sources: Sources) -> Iterator[Row]:
    for record in sources.costs:
        yield record.model_dump() | {"repo": str(parse_repo(record.repo))}


def _requests(sources: Sources) -> Iterator[Row]:
    for request in sources.requests:
        names = {"repo": str(parse_repo(request.repo)), "model": request.key_model, "served_by": request.model}
        yield request._asdict() | names


#: frame -> its rows
ROWS: dict[str, Callable[[Sources], Iterator[Row]]] = {
    "funnel": _funnel,
    "candidates": _candidates,
    "rejections": _rejections,
    "criteria": _criteria,
    "instances": _instances,
    "transitions": _transitions,
    "predictions": _predictions,
    "verdicts": _verdicts,
    "costs": _costs,
    "requests": _requests,
}
