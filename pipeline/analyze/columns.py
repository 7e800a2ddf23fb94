"""The dictionary of columns, `columns.toml`: every frame's columns with type, unit, source and meaning.

`cells` reads a row as the dictionary describes it. Reads no data; what is computed from frames is in `measures/`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import pandas as pd

#: types of the dictionary that have another name in pandas
_PANDAS = {"decimal": "object"}


class Column(NamedTuple):
    """A row of the dictionary; `type` is pandas' name, or `decimal` for exact amounts of money."""

    name: str
    type: str
    unit: str
    source: str
    meaning: str


@cache
def frames() -> dict[str, tuple[Column, ...]]:
    """The columns of every frame, in the order in which frames are written."""
    tables = tomllib.loads(files("pipeline.analyze").joinpath("columns.toml").read_text(encoding="utf-8"))
    return {name: tuple(Column(*row) for row in table["columns"]) for name, table in tables.items()}


def cells(frame: str, parts: Mapping[str, Any]) -> tuple[Any, ...]:
    """A row of a frame, read from its parts: the source `Assessment.axe.fixed` is a field of the part `Assessment`."""
    return tuple([_cell(kind, look_up(parts.get(part), path)) for kind, part, path in _paths(frame)])


@cache
def _paths(frame: str) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Type, part, and path in the part of each column."""
    sources = [(column.type, *column.source.split(".")) for column in frames()[frame]]
    return tuple((kind, part, tuple(path)) for kind, part, *path in sources)


def look_up(value: Any, path: Iterable[str]) -> Any:
    """Follow a path through records and dictionaries; None if a part of it is missing."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
        if value is None:
            return None
    return value


def _cell(kind: str, value: Any) -> Any:
    if value is None:
        return None
    if kind == "string":
        return str(value) or None
    return len(value) if kind == "Int64" and not isinstance(value, int) else value


def typed(columns: Iterable[Column], rows: Iterable[Any]) -> pd.DataFrame:
    """A data frame with these columns, in their order and types. `rows` are tuples, mappings or a data frame."""
    columns = tuple(columns)
    data = rows if isinstance(rows, pd.DataFrame) else list(rows)
    frame = pd.DataFrame(data, columns=[column.name for column in columns])
    return frame.astype({column.name: _PANDAS.get(column.type, column.type) for column in columns})
