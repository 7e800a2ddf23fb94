"""Figures that another process draws."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from analyze.conftest import make_data

from pipeline import analyze
from pipeline.analyze.plots.apart import apart, here


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    return analyze.load(make_data(tmp_path_factory.mktemp("apart") / "data"))


def test_another_process_draws_the_same(frames):
    tables = analyze.tables(frames)
    with apart() as draw:
        images = draw(frames, tables)()
    assert {"funnel", "resolution", "grid"} <= {image.name for image in images}
    assert images == here(frames, tables)()


def test_an_error_of_the_other_process_is_raised_here(frames):
    with apart() as draw, pytest.raises(KeyError, match="total"):
        draw(frames, {"funnel": pd.DataFrame({"other": [1]})})()


def test_nothing_has_to_be_drawn(frames):
    with apart() as draw:
        assert draw(replace(frames, predictions=frames.predictions[:0]), {})() == []
