"""The tables: what each is made of stands in `tables.toml`, this loops over it.

    metrics      one number of a group of predictions, by name: what tables with `by` are made of
    group        such groups, `kinds` of metrics, and their `summary`
    dataset, audited, cost, model, repository
                 tables that count something else, one function each, by the chapters of the report
    shown        the same tables for people

A table whose stage is missing is left out, not filled with zeros.
"""

from __future__ import annotations

import pandas as pd

from pipeline.analyze import columns
from pipeline.analyze.frames import Frames
from pipeline.analyze.measures import audited, cost, dataset, model, repository
from pipeline.analyze.measures.definition import Table, definitions
from pipeline.analyze.measures.summary import summary
from pipeline.core.options import REFERENCES

#: table -> the function that makes it, for those without `by`
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
    "verdict_errors_by_rule": audited.by_rule,
    "test_strength": audited.strength,
    "costs": cost.costs,
    "usage": cost.usage,
    "instance_costs": cost.instance_costs,
    "outcomes": model.outcomes,
    "comparison": model.comparison,
    "pass_at_k": model.pass_at_k,
    "stages": model.stages,
    "causes": model.causes,
    "by_principle": model.by_principle,
    "together": repository.together,
}


def tables(frames: Frames) -> dict[str, pd.DataFrame]:
    """Every table that the data allow, by name, in the order of `tables.toml`."""
    made = {table.name: _make(frames, table) for table in definitions() if _allowed(frames, table)}
    return {name: table for name, table in made.items() if len(table)}


def _make(frames: Frames, table: Table) -> pd.DataFrame:
    found = summary(frames, table) if table.by else MAKERS[table.name](frames)
    return columns.typed(table.dictionary, found)


def _allowed(frames: Frames, table: Table) -> bool:
    there = all(_there(frames, need) for need in table.needs)
    return there and not (table.optional and frames.predictions[table.optional].isna().all())


def _there(frames: Frames, need: str) -> bool:
    """Whether there is a frame's data; `verdicts` are in the predictions."""
    predictions = frames.predictions
    said = {"verdicts": predictions["judged"], "predictions": predictions["predicted"]}
    return bool(said[need].any()) if need in said else len(getattr(frames, need)) > 0
