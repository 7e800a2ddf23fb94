"""Horizontal bars: plain bars with labels, and stacked bars whose parts differ by color and pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pipeline.report.figures.style import BLUE, EDGE, FILLS, Fill, below

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: parts of a stacked bar that are narrower than this share of the axis get no number
_NARROW = 0.08


def plain(axes: Axes, names: Sequence[str], values: Sequence[float], labels: Sequence[str], **options: Any) -> None:
    """Bars from top to bottom, each with its label behind it; the axis leaves room for the labels."""
    bars = axes.barh(
        range(len(names)), values, color=options.pop("color", BLUE), edgecolor=EDGE, linewidth=0.6, **options
    )
    axes.bar_label(bars, labels, padding=4)
    _rows(axes, names)
    axes.set_xlim(0, 1.45 * (max(values, default=0) or 1))


def stacked(
    axes: Axes,
    names: Sequence[str],
    parts: Mapping[str, Sequence[float]],
    form: str = ".0f",
    fills: Sequence[Fill] = FILLS,
) -> None:
    """Bars of several parts, with a legend.

    `parts` are values by name, one for each bar; `form` is the format of their numbers.
    """
    ends = [0.0] * len(names)
    widest = max((sum(values) for values in zip(*parts.values(), strict=True)), default=1) or 1
    for index, (name, values) in enumerate(parts.items()):
        color, hatch = fills[index % len(fills)]
        style: dict[str, Any] = {"color": color, "hatch": hatch, "edgecolor": EDGE, "linewidth": 0.6}
        bars = axes.barh(range(len(names)), values, left=ends, label=name, **style)
        numbers = [format(value, form) if value > _NARROW * widest else "" for value in values]
        box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"}
        for text in axes.bar_label(bars, numbers, label_type="center", fontsize=8):
            text.set_bbox(box if text.get_text() else None)
        ends = [end + value for end, value in zip(ends, values, strict=True)]
    _rows(axes, names)
    legend(axes, len(parts))


def legend(axes: Axes, parts: int) -> None:
    """A legend under the axis, in as many columns as there is room for."""
    handles, labels = axes.get_legend_handles_labels()
    figure = axes.get_figure(root=True)
    assert figure is not None
    below(figure, handles, labels, parts)


def _rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
