"""Kinds of metrics: each function returns a metric for the given column or metrics.

An unknown number is None: the mean or share of nothing, a cost that was not recorded.
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
    """The number of rows in which the column is true."""
    return lambda group: int(group.rows[column].fillna(False).sum())


def known(column: str) -> Metric:
    """The number of rows in which the column is known."""
    return lambda group: int(group.rows[column].notna().sum())


def among(column: str, value: str) -> Metric:
    """The number of rows in which the column has this value."""
    return lambda group: int((group.rows[column] == value).sum())


def summed(column: str) -> Metric:
    """The sum of the column; None if it is known in no row."""
    return lambda group: None if group.rows[column].isna().all() else group.rows[column].sum()


def mean(column: str, where: str = "") -> Metric:
    """The mean of the column over the rows in which it, or the column `where`, is known."""
    return lambda group: number(group.rows[column][group.rows[where or column].notna()].mean())


def median(column: str) -> Metric:
    return lambda group: number(group.rows[column].median())


def macro(column: str) -> Metric:
    """The mean over repositories of the share of rows in which the column is true, in percent; rows in which it is
    unknown do not count."""
    return lambda group: number(100 * by_repo(group, column).mean().mean())


def ratio(part: Metric, whole: Metric) -> Metric:
    """One metric in percent of another; None if it is unknown."""
    return lambda group: None if (value := part(group)) is None else share(value, whole(group))


def change(ours: Metric, gold: Metric) -> Metric:
    """The difference of one metric from another, in percent of the latter."""
    return lambda group: _percent_change(ours(group), gold(group))


def money(*columns: str) -> Metric:
    """The exact sum of columns of the frame `costs`; None without rows, or if a part is unknown."""
    return lambda group: _sum([group.costs[name] for name in columns] if len(group.costs) else [])


def per(cost: Metric, whole: Metric) -> Metric:
    """A cost divided by a count, in USD."""
    return lambda group: _quotient(cost(group), whole(group))


def by_repo(group: Group, column: str) -> Any:
    """A boolean column as 0 and 1, by repository."""
    known_values = group.rows[column].dropna()
    return known_values.astype(float).groupby(group.rows["repo"])


def number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def _sum(amounts: list[pd.Series]) -> Any:
    is_known = amounts and all(column.notna().all() for column in amounts)
    return total(map(total, amounts)) if is_known else None


def _percent_change(ours: float | None, gold: float | None) -> float | None:
    return 100 * (ours / gold - 1) if ours is not None and gold else None


def _quotient(cost: Any, whole: int) -> float | None:
    return float(cost / whole) if cost is not None and whole else None
