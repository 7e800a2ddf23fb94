"""The figures: formats, the letters beside the colours, the text alternative."""

from __future__ import annotations

from pipeline import analyze
from pipeline.analyze.plots import LARGEST_GRID, MARKS
from pipeline.core.records import Outcome
from pipeline.core.store import Store, write_records
from tests.analyze.conftest import UI, add_run, add_verdicts
from tests.factories import make_instance, make_prediction, make_verdict


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


def test_a_grid_that_nobody_could_read_is_left_out(tmp_path):
    store, prediction = Store(tmp_path), make_prediction(1)
    write_records(store.dataset(UI), [make_instance(number) for number in range(1, LARGEST_GRID + 2)])
    add_run(store, UI, [prediction])
    add_verdicts(store, UI, [make_verdict(prediction)])
    assert [plot.name for plot in analyze.figures(analyze.load(store))] == ["resolution"]


def test_cells_carry_letters(store):
    (axes,) = analyze.figures(analyze.load(store))[1].figure.axes
    assert [text.get_text() for text in axes.texts] == ["R", "–", "R", "R", "–", "E", "–", "U"]
