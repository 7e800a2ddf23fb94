"""Kinds of metrics: functions that make the function of a metric from the column or the metrics that it is about.

A number that is not known is None: a mean of nothing, a share of nothing, a cost that nobody recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from pipeline.analyze.measures.group import Group
from pipeline.analyze.measures.shares import share
from pipeline.llm.prices import total

Metric = Callable[[Group], Any]


def count(column: str) -> Metric:
    """How many rows have it true."""
    return lambda group: int(group.rows[column].fillna(False).sum())


def known(column: str) -> Metric:
    """In how many rows it is known."""
    return lambda group: int(group.rows[column].notna().sum())


def among(column: str, value: str) -> Metric:
    """How many rows have this value."""
    return lambda group: int((group.rows[column] == value).sum())


def summed(column: str) -> Metric:
    """Its sum; None where it is known of no row."""
    return lambda group: None if group.rows[column].isna().all() else group.rows[column].sum()


def mean(column: str, where: str = "") -> Metric:
    """Its mean over the rows of which it is known, or of which `where` is."""
    return lambda group: number(group.rows.dropna(subset=where or column)[column].mean())


def median(column: str) -> Metric:
    return lambda group: number(group.rows[column].median())


def macro(column: str) -> Metric:
    """Mean over repositories of the share of rows that have it true, in percent; over those of which it is known."""
    return lambda group: number(100 * by_repo(group, column).mean().mean())


def ratio(part: Metric, whole: Metric) -> Metric:
    """One metric in percent of another; None where the part is not known."""
    return lambda group: None if (found := part(group)) is None else share(found, whole(group))


def change(ours: Metric, gold: Metric) -> Metric:
    """How much less or more than another, in percent."""
    return lambda group: _less(ours(group), gold(group))


def money(*columns: str) -> Metric:
    """The exact sum of columns of the frame `costs`; None where there is no row."""
    return lambda group: total(total(group.costs[name]) for name in columns) if len(group.costs) else None


def per(cost: Metric, whole: Metric) -> Metric:
    """A cost by a number of things, in USD."""
    return lambda group: _each(cost(group), whole(group))


def by_repo(group: Group, column: str) -> Any:
    """A truth as 0 and 1, by repository."""
    rows = group.rows.dropna(subset=column)
    return rows[column].astype(float).groupby(rows["repo"])


def number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _less(ours: float | None, gold: float | None) -> float | None:
    return 100 * (ours / gold - 1) if ours is not None and gold else None


def _each(cost: Any, whole: int) -> float | None:
    return float(cost / whole) if cost is not None and whole else None
