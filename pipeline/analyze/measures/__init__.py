"""The tables: `tables.toml` says what each consists of, and this module makes them.

    metrics      numbers of a group of predictions, by name: the cells of tables with `by`
    group        such groups, `kinds` of metrics, and their `summary`
    dataset, audited, cost, model, repository
                 other tables, one function each, by the chapters of the report
    shown        the tables as people read them

A table whose stage is missing is left out, not filled with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import pandas as pd

from pipeline.analyze import columns
from pipeline.analyze.frames import Frames
from pipeline.analyze.measures import audited, cost, dataset, model, repository
from pipeline.analyze.measures.definition import Table, definitions
from pipeline.analyze.measures.summary import summary
from pipeline.core.options import REFERENCES

#: table without `by` -> the function that makes it
MAKERS = {
    "funnel": dataset.funnel,
    "qualification": dataset.qualification,
    "ratings": dataset.ratings,
    "agreement": lambda frames: frames.agreement,
    "rejections": dataset.rejections,
    "composition": dataset.composition,
    "transitions": dataset.transitions,
    "provenance": lambda frames: frames.runs[~frames.runs["agent"].isin(REFERENCES)],
    "data": dataset.identity,
    "principles": dataset.principles,
    "success_criteria": dataset.success_criteria,
    "classes": dataset.classes,
    "verdict_errors": audited.errors,
    "verdict_errors_by_instance": audited.by_instance,
    "verdict_errors_by_rule": audited.by_rule,
    "test_strength": audited.strength,
    "costs": cost.costs,
    "usage": cost.usage,
    "instance_costs": cost.instance_costs,
    "outcomes": model.outcomes,
    "comparison": model.comparison,
    "pass_at_k": model.pass_at_k,
    "attempts": model.each_attempt,
    "instance_attempts": model.instance_attempts,
    "stages": model.stages,
    "replies": model.replies,
    "causes": model.causes,
    "by_principle": model.by_principle,
    "together": repository.together,
}


def tables(frames: Frames) -> Mapping[str, pd.DataFrame]:
    """Every table for which there are data, by name, in the order of `tables.toml`. Each is made on first use."""
    return _Tables(frames)


class _Tables(Mapping[str, pd.DataFrame]):
    """An error in making a table is raised, even a KeyError, and never means that there are no data for it."""

    def __init__(self, frames: Frames) -> None:
        self._makers = {table.name: partial(_table, frames, table) for table in definitions()}
        self._made: dict[str, pd.DataFrame] = {}

    def __contains__(self, name: object) -> bool:
        if name in self._makers and name not in self._made:
            self._made[name] = self._makers[name]()
        return name in self._made and len(self._made[name]) > 0

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self:
            raise KeyError(name)
        return self._made[name]

    def get(self, name: str, default: Any = None) -> Any:
        return self._made[name] if name in self else default

    def __iter__(self) -> Iterator[str]:
        return filter(self.__contains__, self._makers)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def each_table(frames: Frames) -> Iterator[tuple[str, pd.DataFrame]]:
    """Every table by name, in the same order; empty without data for it."""
    for table in definitions():
        yield table.name, _table(frames, table)


def _table(frames: Frames, table: Table) -> pd.DataFrame:
    if not _allowed(frames, table):
        return pd.DataFrame()
    rows = summary(frames, table) if table.by else MAKERS[table.name](frames)
    return columns.typed(table.dictionary, rows)


def _allowed(frames: Frames, table: Table) -> bool:
    predictions = frames.predictions if table.references else frames.of_models
    has_data = all(_has_data(frames, predictions, need) for need in table.needs)
    return has_data and not (table.optional and predictions[table.optional].isna().all())


def _has_data(frames: Frames, predictions: pd.DataFrame, need: str) -> bool:
    """Whether a frame has rows; `predictions` and `verdicts` are columns of these predictions."""
    marks = {"verdicts": predictions["judged"], "predictions": predictions["predicted"]}
    return bool(marks[need].any()) if need in marks else len(getattr(frames, need)) > 0
