"""The figures: formats, the letters beside the colours, the text alternative."""

from __future__ import annotations

from pipeline import analyze
from pipeline.analyze.plots import MARKS
from pipeline.core.records import Outcome


def test_every_outcome_has_a_colour_and_a_letter_of_its_own():
    assert set(MARKS) == set(Outcome)
    assert len(set(MARKS.values())) == len({letter for _, letter in MARKS.values()}) == len(Outcome)


def test_svg_and_png(store):
    for plot in analyze.figures(analyze.load(store)):
        assert plot.image("png").startswith(b"\x89PNG")
        assert b"<svg" in plot.image("svg")


def test_the_alternative_says_what_the_grid_shows(store):
    grid = analyze.figures(analyze.load(store))[1]
    assert "magentless, model-a: empty: acme__ui-2; not evaluated: acme__forms-1" in grid.alternative


def test_cells_carry_letters(store):
    (axes,) = analyze.figures(analyze.load(store))[1].figure.axes
    assert [text.get_text() for text in axes.texts] == ["R", "–", "R", "R", "–", "E", "–", "U"]
