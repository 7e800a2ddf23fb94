"""`tables.toml` agrees with the functions that it names; how numbers are shown."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pandas as pd
import pytest

from pipeline import analyze
from pipeline.analyze.columns import Column
from pipeline.analyze.measures import MAKERS
from pipeline.analyze.measures.definition import definition, definitions
from pipeline.analyze.measures.metrics import METRICS
from pipeline.analyze.measures.shown import as_text
from pipeline.analyze.report import CHAPTERS


def test_a_table_is_made_of_metrics_or_by_a_function_of_its_name():
    assert {table.name for table in definitions() if not table.by} == set(MAKERS)
    names = {column.name for table in definitions() for column in table.dictionary if column.name not in table.by}
    assert set(METRICS) <= names, "a metric that no table shows"


def test_every_chapter_has_a_table_and_every_table_a_chapter():
    assert {table.chapter for table in definitions()} == set(CHAPTERS)


def test_every_table_that_the_data_allow_has_the_columns_of_the_dictionary(tables):
    assert list(tables) == [table.name for table in definitions() if table.name in tables]
    for name, table in tables.items():
        assert list(table.columns) == [column.name for column in definition(name).dictionary]


def test_a_table_is_made_on_first_use_and_its_errors_are_raised(frames):
    """Audits without rules break one table. It must not seem to be one without data."""
    made = analyze.tables(replace(frames, audits=frames.audits.drop(columns="rule")))
    assert "verdict_errors" in made and len(made.get("funnel")) == 3
    for use in (made.__getitem__, made.__contains__, made.get):
        with pytest.raises(KeyError, match="rule"):
            use("verdict_errors_by_rule")
    assert "other" not in made and made.get("other") is None


@pytest.mark.parametrize(
    ("kind", "unit", "value", "text"),
    [
        ("Float64", "%", 33.333, "33.3"),
        ("Float64", "%", 0.0, "0.0"),
        ("Float64", "", 0.126, "0.13"),
        ("Float64", "USD", 0.1234, "0.123"),
        ("Float64", "USD", 0.0015, "0.0015"),
        ("Float64", "p", 0.00004, "4e-05"),
        ("Int64", "tokens", 3534000, "3,534,000"),
        ("boolean", "", True, "yes"),
        ("decimal", "USD", Decimal("2.81"), "2.81"),
        ("decimal", "USD", Decimal("0.1234567"), "0.1235"),
        ("decimal", "USD", Decimal("0.00001234"), "1.2e-05"),
        ("string", "", "model-a", "model-a"),
    ],
)
def test_numbers_as_people_see_them(kind, unit, value, text):
    column = Column("a_pct", kind, unit, "", "")
    table = pd.DataFrame({"a_pct": pd.Series([value, None], dtype={"decimal": object}.get(kind, kind))})
    assert as_text(table, [column])["a %"].tolist() == [text, "–"]
