"""Grids of cells: shares as shades with counts, and outcomes as letters."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd

from pipeline.report.figures.style import EDGE, WIDTH, sized, wrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.typing import ColorType

#: inches of a letter, on average
LETTER = 0.08
#: the luminance at which black and white text have the same contrast
_EVEN = 0.179


class Cell(NamedTuple):
    """A cell of a grid: its column and row, its color and its text."""

    x: int
    y: int
    color: ColorType
    text: str


class Panel(NamedTuple):
    """One of several grids with the same rows and columns: its title, and the shade (0 to 1) and text by row and
    column."""

    title: str
    cells: Mapping[tuple[str, str], tuple[float, str]]


def shares(table: pd.DataFrame, rows: str, columns: str, part: str, whole: str) -> Figure:
    """A grid of shares, `part` of `whole`: the larger, the darker; every cell shows its counts."""
    return panels([share_panel("", table, rows, columns, part, whole)])


def share_panel(title: str, table: pd.DataFrame, rows: str, columns: str, part: str, whole: str) -> Panel:
    """Such a grid as one of several."""
    cells = table[[rows, columns, part, whole]].itertuples(index=False)
    return Panel(title, {(str(row), str(column)): (n / of if of else 0, f"{n}/{of}") for row, column, n, of in cells})


def panels(grids: Sequence[Panel]) -> Figure:
    """Grids side by side. If rows and columns have the same names, they have the same order. Headings that are wider
    than their cells are turned."""
    import matplotlib as mpl

    names, heads = (list(dict.fromkeys(key[place] for grid in grids for key in grid.cells)) for place in (0, 1))
    if set(names) == set(heads):
        heads = names
    sides, columns = [wrapped(name) for name in names], len(heads) * len(grids)
    width = max(WIDTH, 1.8 + 0.85 * columns)
    room = int((width - _inches(sides)) / columns / LETTER)
    tops = [_head(head, room) for head in heads]
    if turned := _inches(tops) > room * LETTER:
        tops = [wrapped(head) for head in heads]
    titles = 0.3 if any(grid.title for grid in grids) else 0
    figure = sized(0.8 + 0.42 * len(names) + (_inches(tops) if turned else 0) + titles, width)
    shade = mpl.colormaps["Blues"]
    for axes, grid in zip(figure.subplots(1, len(grids), sharey=True, squeeze=False)[0], grids, strict=True):
        cells = (
            Cell(heads.index(column), names.index(row), shade(share / 1.2), text)
            for (row, column), (share, text) in grid.cells.items()
        )
        fill(axes, list(cells))
        frame(axes, tops, sides, rotation=90 if turned else 0)
        axes.set_title(grid.title)
    return figure


def _inches(labels: Sequence[str]) -> float:
    """The length of the longest line."""
    return LETTER * max((len(line) for label in labels for line in label.split("\n")), default=0)


def _head(name: str, width: int) -> str:
    """A heading on as many lines as it needs; a repository's name may also break behind its organization."""
    lines = textwrap.wrap(name.replace("/", "/ "), width, break_long_words=False)
    return "\n".join(lines).replace("/ ", "/")


def fill(axes: Axes, cells: Sequence[Cell]) -> None:
    """Draw the cells. They are inside the frame, so that the layout need not measure them."""
    from matplotlib.collections import PolyCollection

    squares = [[(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)] for x, y, _, _ in cells]
    colors = [cell.color for cell in cells]
    axes.add_collection(PolyCollection(squares, facecolors=colors, edgecolors=EDGE, linewidths=0.6, in_layout=False))
    for x, y, color, text in cells:
        axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=ink(color), in_layout=False)


def ink(fill: ColorType) -> str:
    """Black or white, whichever has the higher contrast to a fill. The formula is that of WCAG's success criterion
    1.4.3."""
    from matplotlib.colors import to_rgb

    linear = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(fill))
    luminance = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return "black" if luminance > _EVEN else "white"


def frame(axes: Axes, heads: Sequence[str], names: Sequence[str], rotation: int = 0) -> None:
    """Names on the left, headings above, no lines."""
    axes.set(xlim=(0, len(heads)), ylim=(len(names), 0))
    axes.set_xticks([index + 0.5 for index in range(len(heads))], heads, rotation=rotation)
    axes.set_yticks([index + 0.5 for index in range(len(names))], names)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
