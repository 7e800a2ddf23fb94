"""The tables: `tables.toml` says what each consists of, and this module makes them.

    metrics      numbers of a group of predictions, by name: the cells of tables with `by`
    group        such groups, `kinds` of metrics, and their `summary`
    dataset, audited, cost, model, repository
                 other tables, one function each, by the chapters of the report
    shown        the tables as people read them

A table whose stage is missing is left out, not filled with zeros.
"""

from __future__ import annotations

from collections.abc import Iterator

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


def tables(frames: Frames) -> dict[str, pd.DataFrame]:
    """Every table for which there are data, by name, in the order of `tables.toml`."""
    return {name: table for name, table in each_table(frames) if len(table)}


def each_table(frames: Frames) -> Iterator[tuple[str, pd.DataFrame]]:
    """Every table by name, in the same order; empty without data for it."""
    for table in definitions():
        yield table.name, _make(frames, table) if _allowed(frames, table) else pd.DataFrame()


def _make(frames: Frames, table: Table) -> pd.DataFrame:
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
