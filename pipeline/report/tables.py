"""Tables on pages: records for `table.html.j2`. Computes only which rows are left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

#: the maximum number of rows of a table on a page; its file has all
MOST_ROWS = 100


class Heading(NamedTuple):
    """A column: its name, its meaning, whether it has numbers, their unit, whether it has bars, and whether its cells
    are words of ours (`not_applied`), which lose their underscores. Names of models keep them."""

    name: str
    meaning: str
    numeric: bool = False
    unit: str = ""
    bar: bool = False
    worded: bool = False


class Row(NamedTuple):
    """The cells of a row, of which the first is its name; its share and the ends of its interval in percent, drawn as a
    bar; and whether the row is less prominent than others (`soft`)."""

    cells: tuple[str, ...]
    bar: tuple[float, float, float] | None = None
    soft: bool = False


class Figure(NamedTuple):
    """A figure beside a table: its title, its text alternative, and its address. A `wide` one scrolls sideways."""

    title: str
    alternative: str
    uri: str
    wide: bool = False


class Block(NamedTuple):
    """A text below a table, with its title, which is unique on the page."""

    title: str
    text: str


class Table(NamedTuple):
    """A table with a title, a description, figures, and totals below it; `file` has all rows. `blocks` are folded
    under the line `folded`."""

    name: str
    title: str
    about: str
    headings: Sequence[Heading]
    rows: Sequence[Row]
    totals: Sequence[Row] = ()
    figures: Sequence[Any] = ()
    file: str = ""
    left_out: int = 0
    folded: str = ""
    blocks: Sequence[Block] = ()

    def cut(self, most: int = MOST_ROWS) -> Table:
        """The same table with only its first rows."""
        return self._replace(rows=self.rows[:most], left_out=max(0, len(self.rows) - most))
