"""Percentages and rows of totals. Pure."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from pipeline.llm.prices import total

#: the label of a row of totals
ALL = "all"


def percent(part: pd.Series, whole: pd.Series | float) -> pd.Series:
    """100 * part / whole; NA if the whole is 0."""
    whole = pd.Series(whole, index=part.index, dtype="Float64")
    return 100 * part.astype("Float64") / whole.mask(whole == 0)


def share(part: float, whole: float) -> float | None:
    """The same for two numbers."""
    return 100 * float(part) / float(whole) if whole else None


def with_total(table: pd.DataFrame, label: str) -> pd.DataFrame:
    """The table with a last row of sums, named in column `label`, if there is more than one row.

    A sum with an unknown part is unknown. Columns that are not amounts stay empty.
    """
    if len(table) < 2:
        return table
    sums = {name: _sum(column) for name, column in table.items() if is_amount(column)}
    return pd.concat([table, pd.DataFrame([sums | {label: ALL}]).astype(object)], ignore_index=True)


def known_total(column: pd.Series) -> object:
    """The exact sum of the known values; None if there are none."""
    known = [amount for amount in column if isinstance(amount, Decimal)]
    return total(known) if known else None


def is_amount(column: pd.Series) -> bool:
    """Whether a column holds counts, rates or exact amounts (the only objects in a table)."""
    return column.dtype == object or (is_numeric_dtype(column) and not is_bool_dtype(column))


def _sum(column: pd.Series) -> object:
    return total(column) if column.dtype == object else column.sum(skipna=False)
