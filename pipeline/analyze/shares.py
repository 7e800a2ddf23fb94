"""Two things that many tables need: a percentage column, and a row of totals. Pure."""

from __future__ import annotations

import pandas as pd

#: the label of a row of totals
ALL = "all"


def percent(part: pd.Series, whole: pd.Series) -> pd.Series:
    """100 * part / whole; not known (NA) where the whole is nothing."""
    whole = whole.astype("Float64")
    return 100 * part.astype("Float64") / whole.mask(whole == 0)


def with_total(table: pd.DataFrame, label: str) -> pd.DataFrame:
    """The table with a last row of sums, named in column `label`, when there is more than one row.

    A sum with an unknown part is unknown. Columns that are no amounts stay empty.
    """
    if len(table) < 2:
        return table
    sums = {name: column.sum(skipna=False) for name, column in table.items() if _is_amount(column)}
    return pd.concat([table, pd.DataFrame([sums | {label: ALL}]).astype(object)], ignore_index=True)


def _is_amount(column: pd.Series) -> bool:
    return column.dtype == object or pd.api.types.is_numeric_dtype(column)
