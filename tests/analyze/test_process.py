"""Figures drawn by another process."""

from __future__ import annotations

import multiprocessing

import pandas as pd
import pytest
from analyze.conftest import make_data

from pipeline import analyze
from pipeline.analyze.measures.definition import definitions
from pipeline.analyze.plots.process import in_another_process, in_this_process
from pipeline.core.errors import UserError

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    return analyze.load(make_data(tmp_path_factory.mktemp("apart") / "data"))


def test_a_second_process_draws_the_same_figures(frames):
    with in_another_process() as draw:
        tables, images = draw(frames)
        drawn = images()
    assert list(tables) == list(analyze.tables(frames))
    assert {"funnel", "empty_cost", "empty_patches", "resolution", "grid"} <= {image.name for image in drawn}
    assert drawn == in_this_process(frames, tables)()


def test_an_error_of_the_drawing_process_is_raised(frames, monkeypatch):
    made = {table.name: pd.DataFrame() for table in definitions()} | {"funnel": pd.DataFrame({"other": [1]})}
    monkeypatch.setattr("pipeline.analyze.plots.process.each_table", lambda _: made.items())
    with in_another_process() as draw:
        _, images = draw(frames)
        with pytest.raises(KeyError, match="total"):
            images()


def test_an_error_ends_the_drawing_process(frames):
    with pytest.raises(UserError), in_another_process() as draw:
        draw(frames)
        raise UserError("broken")
    for child in multiprocessing.active_children():
        child.join(10)
    assert not multiprocessing.active_children()
