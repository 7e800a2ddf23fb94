"""Grids: every text is readable on its background."""

from __future__ import annotations

from itertools import pairwise, permutations

import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

from pipeline.report.figures.grids import shares
from pipeline.report.figures.style import laid_out

#: WCAG's success criterion 1.4.3
MINIMUM = 4.5


def luminance(color: object) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(color)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_rows_and_columns_of_pairs_have_the_same_order() -> None:
    """A name with itself is no pair: the first name was in the last column, so the diagonal was not empty."""
    pairs = permutations(["a", "b", "c"], 2)
    table = pd.DataFrame([{"first": one, "second": other, "hits": 1, "of": 2} for one, other in pairs])
    (axes,) = shares(table, "first", "second", "hits", "of").axes
    heads, names = ([label.get_text() for label in axis.get_majorticklabels()] for axis in (axes.xaxis, axes.yaxis))
    assert heads == names == ["a", "b", "c"]


@pytest.mark.parametrize("many", [2, 4, 9, 20])
@pytest.mark.parametrize("name", ["model-{}", "guesses-{} (magentless@rehearsed)", "lab/Model-{}-Instruct"])
def test_headings_do_not_cover_each_other(name: str, many: int) -> None:
    """The headings of nine agents and models ran together."""
    pairs = permutations([name.format(number) for number in range(many)], 2)
    table = pd.DataFrame([{"first": one, "second": other, "hits": 1, "of": 2} for one, other in pairs])
    figure = laid_out(shares(table, "first", "second", "hits", "of"))
    renderer, (axes,) = FigureCanvasAgg(figure).get_renderer(), figure.axes
    boxes = [label.get_window_extent(renderer) for label in axes.xaxis.get_majorticklabels()]
    assert not any(left.overlaps(right) for left, right in pairwise(boxes))


@pytest.mark.parametrize("percent", [0, 30, 54, 56, 60, 75, 90, 100])
def test_counts_have_enough_contrast_on_every_shade(percent: int) -> None:
    """White numbers used to be on light blue."""
    table = pd.DataFrame([{"model": "a", "group": "b", "hits": percent, "of": 100}])
    (axes,) = shares(table, "model", "group", "hits", "of").axes
    text, (fill,) = axes.texts[0], axes.collections[0].get_facecolor()
    dark, light = sorted([luminance(text.get_color()), luminance(fill)])
    assert text.get_text() == f"{percent}/100"
    assert (light + 0.05) / (dark + 0.05) >= MINIMUM
