"""The tables of the small data directory, and a helper to read them."""

from __future__ import annotations

import pandas as pd
import pytest
from analyze.conftest import fill_ledger, make_data

from pipeline import analyze
from pipeline.analyze.measures.definition import definition
from pipeline.analyze.measures.shown import as_text


@pytest.fixture(scope="session")
def frames(tmp_path_factory):
    """Made once: the tests only read them."""
    store = make_data(tmp_path_factory.mktemp("measures") / "data")
    fill_ledger(store)
    return analyze.load(store)


@pytest.fixture(scope="session")
def tables(frames):
    return analyze.tables(frames)


def rows(tables: dict[str, pd.DataFrame], name: str, *columns: str) -> list[str]:
    """A table's rows as people see them, with spaces between cells."""
    text = as_text(tables[name], definition(name).dictionary)
    return [" ".join(cells) for cells in text[list(columns or text.columns)].itertuples(index=False)]
