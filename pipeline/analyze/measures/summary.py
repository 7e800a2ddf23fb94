"""Tables with `by`: one row per group of predictions, one column per metric."""

from __future__ import annotations

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.definition import Table
from pipeline.analyze.measures.group import Group, attempts
from pipeline.analyze.measures.metrics import METRICS


def summary(frames: Frames, table: Table) -> pd.DataFrame:
    """The rows of a table. A model has no row for a repository on which it has neither answer nor verdict."""
    by, need = list(table.by), "judged" if "verdicts" in table.needs else "predicted"
    rows = attempts(frames, need, references=table.references)
    metrics = [column.name for column in table.dictionary if column.name not in by]
    groups = [
        Group(frames, dict(zip(by, key, strict=True)), group)
        for key, group in rows.groupby(by, observed=True)
        if "repo" not in by or group[need].any()
    ]
    return _ranked(pd.DataFrame([group.key | measured(group, metrics) for group in groups]), table)


def _ranked(rows: pd.DataFrame, table: Table) -> pd.DataFrame:
    """Models before references, sorted by the table's `best` column if it has one, subsets last."""
    keys = [name for name in ("kind", "subset", table.best) if name in rows]
    return rows.sort_values(keys, ascending=[name != table.best for name in keys], kind="stable") if keys else rows


def measured(group: Group, metrics: list[str]) -> dict[str, object]:
    """The metrics of one group, by name."""
    return {name: METRICS[name](group) for name in metrics}
