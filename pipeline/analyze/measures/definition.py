"""The definitions of `tables.toml`: a table's name, chapter, title, needs, and columns with their meaning."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from pipeline.analyze import columns
from pipeline.analyze.columns import Column


class Table(NamedTuple):
    """A table. `about` says how to read it; `best` is the column to sort by. If the column `optional` of the
    predictions is empty, the table is omitted."""

    name: str
    chapter: str
    title: str
    about: str
    needs: tuple[str, ...]
    dictionary: tuple[Column, ...]
    by: tuple[str, ...] = ()
    references: bool = False
    best: str = ""
    optional: str = ""


@cache
def definitions() -> tuple[Table, ...]:
    """All tables, in the order of the report."""
    text = files("pipeline.analyze").joinpath("tables.toml").read_text(encoding="utf-8")
    document = tomllib.loads(text)
    declared = {name: Column(name, *row) for name, row in document["columns"].items()}
    return tuple(_table(declared, **row) for row in document["tables"])


def definition(name: str) -> Table:
    """One table by its name."""
    return next(table for table in definitions() if table.name == name)


def _table(
    declared: dict[str, Column], columns: list[str], needs: list[str], by: tuple[str, ...] = (), **row: Any
) -> Table:
    columns_by_name = _of_frames(needs) | declared
    dictionary = tuple(columns_by_name[name] for name in (*by, *columns))
    return Table(**row, needs=tuple(needs), by=tuple(by), dictionary=dictionary)


def _of_frames(first: list[str]) -> dict[str, Column]:
    """Columns of frames by name. If two frames have a column of the same name, the frame that the table needs wins."""
    frames = columns.frames()
    order = [*(name for name in first if name in frames), *frames]
    return {column.name: column for name in reversed(order) for column in frames[name]}
