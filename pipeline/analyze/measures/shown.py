"""Tables as people read them: rates with one decimal, exact money, yes and no, a dash for unknown values."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NamedTuple

import pandas as pd
from pandas.api.types import is_bool, is_integer

from pipeline.analyze.columns import Column

#: unit -> decimals
_DIGITS = {"%": 1, "USD": 3, "p": 3, "s": 1, "": 2}
NOTHING = "–"
#: part of a column's name -> what people read; then the same for whole names
_WORDS = {"pct": "%", "usd": "USD", "low": "interval", "llm": "LLM", "emb": "embedding", "repo": "repository"}
_NAMES = {
    "req_llm": "LLM requests",
    "tok_llm": "LLM tokens",
    "req_emb": "embedding requests",
    "tok_emb": "embedding tokens",
    "pass_at_k_pct": "pass@k %",
    "pass_at_all_pct": "pass@attempts %",
}


class Heading(NamedTuple):
    """A column as people see it: its name, whether it holds numbers, and its definition."""

    name: str
    numeric: bool
    column: Column


def headings(table: pd.DataFrame, columns: Iterable[Column]) -> list[Heading]:
    """The columns that people see: without empty columns, and with both ends of an interval as one."""
    visible = [column for column in columns if table[column.name].notna().any() and not column.name.endswith("_high")]
    return [Heading(_label(column.name), column.type in ("Int64", "Float64", "decimal"), column) for column in visible]


def as_text(table: pd.DataFrame, columns: Iterable[Column]) -> pd.DataFrame:
    """The table as text, under the names of its headings."""
    visible = headings(table, columns)
    cells = {name: [_cell(value, column) for value in table[column.name]] for name, _, column in visible}
    for name, _, column in visible:
        if column.name.endswith("_low"):
            highs = [_cell(value, column) for value in table[column.name.replace("_low", "_high")]]
            cells[name] = [_interval(*ends) for ends in zip(cells[name], highs, strict=True)]
    return pd.DataFrame(cells, dtype="object")


def _label(name: str) -> str:
    """`cost_llm_usd` as `cost LLM USD`."""
    return _NAMES.get(name) or " ".join(_WORDS.get(part, part) for part in name.split("_"))


def _interval(low: str, high: str) -> str:
    return NOTHING if NOTHING in (low, high) else f"{low}–{high}"


def _cell(value: Any, column: Column) -> str:
    if pd.isna(value):
        return NOTHING
    if is_bool(value):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        return money(value)
    if is_integer(value):
        return f"{value:,}"
    return _rounded(float(value), column.unit) if isinstance(value, float) else str(value)


def money(value: Decimal) -> str:
    """An amount, exact up to four decimals. Longer ones are rounded, and smaller ones keep two digits."""
    places = value.as_tuple().exponent
    if value == 0 or (isinstance(places, int) and places >= -4):
        return f"{value:,f}"
    return f"{value:,.4f}" if value >= Decimal("0.001") else f"{float(value):.2g}"


def _rounded(value: float, unit: str) -> str:
    digits = _DIGITS.get(unit, 1)
    small = 0 < abs(value) < 0.1**digits * 10
    return f"{value:.2g}" if unit in ("USD", "p") and small else f"{value:,.{digits}f}"
