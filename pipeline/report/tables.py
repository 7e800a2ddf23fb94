"""A table as a page shows it: records for `table.html.j2`. Computes nothing but which rows are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

#: rows of a table that a page shows; its file has all
MOST_ROWS = 100


class Heading(NamedTuple):
    """A column: its name, whether numbers are in it, what it means and in which unit, and whether bars stand in it."""

    name: str
    meaning: str
    numeric: bool = False
    unit: str = ""
    bar: bool = False


class Row(NamedTuple):
    """The cells of a row, the first being its name; its share with the ends of its interval, in percent, to be drawn as
    a bar; and whether it stands behind the others."""

    cells: tuple[str, ...]
    bar: tuple[float, float, float] | None = None
    soft: bool = False


class Table(NamedTuple):
    """A table with a title, what it is about, and its figures; `file` is where all rows are, totals stand below."""

    name: str
    title: str
    about: str
    headings: Sequence[Heading]
    rows: Sequence[Row]
    totals: Sequence[Row] = ()
    figures: Sequence[Any] = ()
    file: str = ""
    left_out: int = 0

    def cut(self, most: int = MOST_ROWS) -> Table:
        """The same with its first rows only."""
        return self._replace(rows=self.rows[:most], left_out=max(0, len(self.rows) - most))
