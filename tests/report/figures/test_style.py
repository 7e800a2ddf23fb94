"""The layout and text of figures."""

from __future__ import annotations

import pytest
from matplotlib.layout_engine import ConstrainedLayoutEngine

from pipeline.report.figures.style import Plot, canvas, laid_out, styled


def test_both_formats_have_the_layout_that_was_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    layouts = []
    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", lambda _engine, figure: layouts.append(figure))
    with styled():
        figure = canvas(3)
        figure.subplots().plot([1, 2])
        laid_out(figure)
    plot = Plot("lines", "Lines", "table", figure, "One line.")
    assert plot.svg.startswith(b"<?xml") and plot.png.startswith(b"\x89PNG")
    assert layouts == [figure]


def test_names_are_not_read_as_formulas() -> None:
    """Names of models and of agents' stages are not ours, and an invalid formula stops the drawing."""
    with styled():
        figure = canvas(1)
        figure.subplots().set_yticks([0], ["$\\x$"])
    plot = Plot("names", "Names", "table", figure, "One name.")
    assert plot.svg.startswith(b"<?xml") and plot.png.startswith(b"\x89PNG")
