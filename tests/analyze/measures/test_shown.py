"""Tables as people read them: how every kind of value is shown."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd
import pytest

from pipeline.analyze.columns import Column
from pipeline.analyze.measures.definition import definitions
from pipeline.analyze.measures.shown import NOTHING, as_text, headings


def column(name: str, type: str = "string", unit: str = "") -> Column:
    return Column(name, type, unit, "", "")


def shown(value: Any, type: str = "Float64", unit: str = "") -> str:
    """A single cell as it is shown."""
    table = pd.DataFrame({"x": pd.Series([value, value], dtype="object")})
    return as_text(table, [column("x", type, unit)])["x"][0]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (42.857, "%", "42.9"),
        (0.0, "%", "0.0"),
        (100.0, "%", "100.0"),
        (0.5, "", "0.50"),
        (1234.5, "", "1,234.50"),
        (1234.56, "s", "1,234.6"),
        (0.0001234, "p", "0.00012"),
        (0.5, "p", "0.500"),
        (0.0, "p", "0.000"),
        (0.0012, "USD", "0.0012"),
        (1.5, "USD", "1.500"),
        (-3.14159, "", "-3.14"),
        (7.0, "tokens", "7.0"),
    ],
)
def test_a_number_has_as_many_decimals_as_its_unit(value: float, unit: str, text: str) -> None:
    assert shown(value, unit=unit) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Decimal(0), "0"),
        (Decimal("0.01419"), "0.0142"),
        (Decimal("0.0142"), "0.0142"),
        (Decimal("1234.5"), "1,234.5"),
        (Decimal("0.00012345"), "0.00012"),
        (Decimal("0.0000000001"), "1e-10"),
        (Decimal("0.00"), "0.00"),
        (Decimal("1E+3"), "1,000"),
    ],
)
def test_short_amounts_are_exact_and_long_amounts_are_rounded(value: Decimal, text: str) -> None:
    assert shown(value, "decimal", "USD") == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "yes"), (False, "no"), (1234567, "1,234,567"), ("acme/ui", "acme/ui"), (0, "0"), ("", "")],
)
def test_other_values(value: Any, text: str) -> None:
    assert shown(value, "string") == text


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA])
def test_the_unknown_is_a_dash(missing: Any) -> None:
    table = pd.DataFrame({"x": pd.Series([1.0, missing], dtype="object")})
    assert as_text(table, [column("x", "Float64")])["x"].tolist() == ["1.00", NOTHING]


def test_an_empty_column_is_not_shown() -> None:
    table = pd.DataFrame({"a": [1, 2], "b": [None, None]})
    assert list(as_text(table, [column("a", "Int64"), column("b")])) == ["a"]


def test_an_interval_is_shown_in_one_column() -> None:
    table = pd.DataFrame({"resolved_low": [9.9, None], "resolved_high": [81.6, None]})
    text = as_text(table, [column("resolved_low", "Float64", "%"), column("resolved_high", "Float64", "%")])
    assert text.to_dict("list") == {"resolved interval": ["9.9–81.6", NOTHING]}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("resolved_pct", "resolved %"),
        ("cost_llm_usd", "cost LLM USD"),
        ("repo", "repository"),
        ("pass_at_k_pct", "pass@k %"),
        ("tok_emb", "embedding tokens"),
        ("per_repo", "per repository"),
    ],
)
def test_a_column_is_named_for_people(name: str, label: str) -> None:
    (heading,) = headings(pd.DataFrame({name: [1]}), [column(name, "Int64")])
    assert heading.name == label and heading.numeric


def test_no_table_has_two_columns_with_the_same_heading() -> None:
    """Otherwise the second one would get the first one's cells."""
    for definition in definitions():
        table = pd.DataFrame({item.name: [1] for item in definition.dictionary})
        names = [heading.name for heading in headings(table, definition.dictionary)]
        assert len(set(names)) == len(names), definition.name
