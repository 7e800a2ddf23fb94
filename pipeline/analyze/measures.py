"""The tables: one row each in `TABLES`. A table whose stage is missing is left out, not filled with zeros.

How to read the numbers stands in `columns.py`; what computes them in `about_dataset.py` and `about_models.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import NamedTuple

import pandas as pd
from pandas.api.types import is_bool, is_integer

from pipeline.analyze import about_costs, about_dataset, about_models
from pipeline.analyze.columns import typed
from pipeline.analyze.frames import Frames
from pipeline.analyze.shares import is_amount


class Table(NamedTuple):
    """A table's name, what a reader sees above it, the frames it can not do without, and its function."""

    name: str
    title: str
    needs: tuple[str, ...]
    make: Callable[[Frames], pd.DataFrame]


TABLES = (
    Table("resolution", "Resolved instances by agent, model and repository", ("verdicts",), about_models.resolution),
    Table("outcomes", "Outcomes by kind, over every instance of the dataset", ("verdicts",), about_models.outcomes),
    Table("funnel", "From pull requests to candidates", ("funnel",), about_dataset.funnel),
    Table("qualification", "From candidates to instances", (), about_dataset.qualification),
    Table("rejections", "Why pull requests went no further", ("rejections",), about_dataset.rejections),
    Table("principles", "Instances by WCAG principle", ("instances", "criteria"), about_dataset.principles),
    Table(
        "principle_results",
        "Results by WCAG principle, over assigned criteria and over instances",
        ("verdicts", "criteria"),
        about_models.principle_results,
    ),
    Table("costs", "Requests, tokens and costs", ("costs",), about_costs.costs),
    Table("instance_costs", "Costs by instance, with what serves several", ("requests",), about_costs.instance_costs),
)

TITLES = {table.name: table.title for table in TABLES}


def tables(frames: Frames) -> dict[str, pd.DataFrame]:
    """Every table that the data allow, by name, in the order of `TABLES`."""
    ready = (table for table in TABLES if all(len(getattr(frames, need)) for need in table.needs))
    made = {table.name: typed(f"tables/{table.name}", table.make(frames)) for table in ready}
    return {name: table for name, table in made.items() if len(table)}


def shown(table: pd.DataFrame) -> pd.DataFrame:
    """The same table for people: rates with one decimal, exact money, yes and no, a dash where nothing is known."""
    columns = {_header(name): [_cell(value) for value in column] for name, column in table.items()}
    return pd.DataFrame(columns, dtype="object")


def amounts(table: pd.DataFrame) -> list[bool]:
    """Which columns are numbers, to stand to the right."""
    return [is_amount(column) for _, column in table.items()]


def _header(name: str) -> str:
    return name.replace("_pct", " %").replace("_", " ")


def _cell(value: object) -> object:
    if pd.isna(value):
        return "–"
    if is_bool(value):
        return "yes" if value else "no"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if is_integer(value):
        return int(value)
    return round(value, 1) if isinstance(value, float) else value
