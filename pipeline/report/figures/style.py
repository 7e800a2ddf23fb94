"""How figures look: palette, patterns, sizes; and a figure with its title and text alternative."""

from __future__ import annotations

import textwrap
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from html import escape
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from pipeline.report.figures.embedded import data_uri

if TYPE_CHECKING:  # Matplotlib is slow to import, and another process may draw
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

#: Okabe and Ito's palette, which color-blind people can tell apart
BLUE, ORANGE, GREEN, SKY = "#0072B2", "#E69F00", "#009E73", "#56B4E9"
YELLOW, VERMILION, PURPLE = "#F0E442", "#D55E00", "#CC79A7"
GREY, DARK_GREY = "#D9D9D9", "#A6A6AE"
#: a color and a pattern
Fill = tuple[str, str]
#: fills of parts of a bar, each with a pattern of its own
FILLS: tuple[Fill, ...] = (
    (SKY, ""),
    (ORANGE, "//"),
    (GREY, ".."),
    (GREEN, "xx"),
    (YELLOW, "\\\\"),
    (PURPLE, "++"),
    (VERMILION, "--"),
)
#: styles of lines and points: marker, line, color
_TEN = (
    ("o", "-", BLUE),
    ("s", "--", VERMILION),
    ("^", "-.", GREEN),
    ("D", ":", "#1b1b1f"),
    ("v", "-", PURPLE),
    ("P", "--", SKY),
    ("X", "-.", ORANGE),
    ("<", ":", "#666666"),
    (">", "-", "#8c6d00"),
    ("*", "--", "#004d73"),
)
#: the styles by model: from the eleventh on, the same markers have other colors
LINES = (*_TEN, *((marker, line, _TEN[place - 7][2]) for place, (marker, line, _) in enumerate(_TEN)))
EDGE, INK, GRID = "#444444", "#1b1b1f", "#e5e5ea"
#: width in inches: a column of a report, readable on a phone and on paper
WIDTH = 4.8
#: a figure of more inches cannot be read when it is made as narrow as a phone
WIDE = 6.0
#: of a legend: maximum columns, letters per line of a label, inches of a letter and of the handle before a label
COLUMNS, LEGEND_WIDTH, CHAR_INCHES, HANDLE_INCHES = 3, 44, 0.085, 0.55
#: of a legend: rows for which figures have room, and inches of a row
ROWS, LINE_INCHES = 3, 0.19
#: zlib's level for PNG: the default, 6, takes 40% longer and makes files 8% smaller
PNG_LEVEL = 3
_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "a11y-bench",
    "font.size": 9,
    "font.family": "DejaVu Sans",
    "text.color": INK,
    "text.parse_math": False,
    "axes.labelcolor": INK,
    "axes.edgecolor": EDGE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "hatch.color": EDGE,
    "hatch.linewidth": 0.5,
    "legend.frameon": False,
}

#: a figure and its text alternative
Drawing: TypeAlias = "tuple[Figure, str]"


@dataclass(frozen=True)
class Image:
    """A figure as bytes, with what a page says about it. A `wide` one is too wide for a column of a page."""

    name: str
    title: str
    table: str
    alternative: str
    svg: bytes
    png: bytes
    wide: bool

    @property
    def uri(self) -> str:
        """The SVG as a data URI, for a page that loads nothing."""
        return data_uri(self.svg)


@dataclass(frozen=True)
class Plot:
    """A figure, its title, the name of the table from which it is drawn, and its text alternative."""

    name: str
    title: str
    table: str
    figure: Figure
    alternative: str

    @cached_property
    def svg(self) -> bytes:
        return self._bytes("svg", {"Date": None})

    @cached_property
    def png(self) -> bytes:
        """200 dots per inch."""
        return self._bytes("png", {"Description": self.alternative}, pil_kwargs={"compress_level": PNG_LEVEL})

    @property
    def wide(self) -> bool:
        return self.figure.get_figwidth() > WIDE

    @property
    def uri(self) -> str:
        """The SVG as a data URI, for a page that loads nothing."""
        return data_uri(self.svg)

    def image(self) -> Image:
        """Draw it in all formats."""
        return Image(self.name, self.title, self.table, self.alternative, self.svg, self.png, self.wide)

    def _repr_html_(self) -> str:
        """The image in a notebook, with its text alternative."""
        image = b64encode(self.png).decode()
        return f'<img alt="{escape(self.alternative)}" width="600" src="data:image/png;base64,{image}">'

    def _bytes(self, kind: str, metadata: dict[str, str | None], **options: Any) -> bytes:
        data = BytesIO()
        with styled():
            self.figure.savefig(data, format=kind, dpi=200, metadata={"Title": self.title} | metadata, **options)
        return data.getvalue()


@contextmanager
def styled() -> Iterator[None]:
    import matplotlib as mpl

    with mpl.rc_context(_STYLE):
        yield


def laid_out(figure: Figure) -> Figure:
    """The figure, with its layout computed once. A figure that keeps a layout engine is drawn twice for each format."""
    if engine := figure.get_layout_engine():
        engine.execute(figure)
    figure.set_layout_engine(None)
    return figure


def sized(height: float, width: float = WIDTH) -> Figure:
    """A figure of this size in inches, in which nothing overlaps."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def canvas(rows: int, *, head: float = 0.7, each: float = 0.34, width: float = WIDTH) -> Figure:
    """A figure that is high enough for this many rows: `head` and `each` row in inches."""
    return sized(head + each * max(rows, 1), width)


def whole(axis: Axis, most: int | Literal["auto"] = 10, **options: Any) -> None:
    """Mark only whole numbers on an axis, at most `most` of them. `options` are further ones of Matplotlib's."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(most, integer=True, **options))


def wrapped(name: str, width: int = 22) -> str:
    """A long name on several lines, broken at hyphens and spaces."""
    return textwrap.fill(name, width)


def unwrapped(name: object) -> str:
    """A name that was wrapped, on one line again."""
    return str(name).replace("-\n", "-").replace("\n", " ")


def below(figure: Figure, handles: Sequence[Any], labels: Sequence[str], most: int = COLUMNS) -> None:
    """A legend under all axes that is never cut off: in as many columns as fit, with long labels on several lines. If
    it has more than ROWS rows, the figure grows, so that the axes keep their size."""
    labels = [wrapped(label, LEGEND_WIDTH) for label in labels]
    longest = max((len(line) for label in labels for line in label.split("\n")), default=1)
    room = int(figure.get_figwidth() // (CHAR_INCHES * longest + HANDLE_INCHES))
    columns = max(1, min(most, room, COLUMNS))
    rows = sum(label.count("\n") + 1 for label in labels) / columns
    figure.set_figheight(figure.get_figheight() + LINE_INCHES * max(0, rows - ROWS))
    figure.legend(handles=handles, labels=labels, loc="outside lower center", ncols=columns)


def listed(pairs: Iterable[tuple[object, object]]) -> str:
    """`name: value` for a text alternative."""
    return "; ".join(f"{unwrapped(name)}: {value}" for name, value in pairs)
