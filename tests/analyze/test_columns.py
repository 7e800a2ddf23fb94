"""The dictionary of columns: how a row is built from its parts, and that every source exists."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

import pandas as pd
import pytest

from pipeline.analyze import columns
from pipeline.analyze.columns import frames, look_up

KINDS = {"string", "Int64", "Float64", "boolean", "decimal"}


class Point(NamedTuple):
    x: int | None
    inner: dict[str, Any]


@pytest.mark.parametrize("name", frames())
def test_every_column_is_described(name: str) -> None:
    for column in frames()[name]:
        assert column.type in KINDS and column.meaning and column.source, column


@pytest.mark.parametrize("name", frames())
def test_no_frame_has_a_column_twice(name: str) -> None:
    names = [column.name for column in frames()[name]]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (("x",), 3),
        (("inner", "a"), 1),
        (("inner", "deep", "b"), 2),
        (("inner", "none"), None),
        (("inner", "none", "further"), None),
        (("nobody",), None),
        ((), Point(3, {"a": 1, "deep": {"b": 2}})),
    ],
)
def test_a_path_through_records_and_dictionaries(path: tuple[str, ...], found: Any) -> None:
    assert look_up(Point(3, {"a": 1, "deep": {"b": 2}}), path) == found


def test_a_path_through_missing_values_is_unknown() -> None:
    assert look_up(Point(None, {}), ("x", "y")) is None
    assert look_up(None, ("x",)) is None


@pytest.mark.parametrize("name", frames())
def test_a_row_without_parts_has_an_unknown_cell_for_every_column(name: str) -> None:
    assert columns.cells(name, {}) == (None,) * len(frames()[name])


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        ("string", "text", "text"),
        ("string", "", None),
        ("string", 7, "7"),
        ("Int64", 3, 3),
        ("Int64", ("a", "b"), 2),
        ("Int64", {}, 0),
        ("boolean", False, False),
        ("Float64", 0.0, 0.0),
        ("decimal", Decimal("0.1"), Decimal("0.1")),
        ("Int64", None, None),
    ],
)
def test_a_value_as_a_cell(kind: str, value: Any, cell: Any) -> None:
    """An empty text is unknown; a list counts by its length."""
    found = columns._cell(kind, value)
    assert found == cell and (found is None) == (cell is None)


def test_types_are_those_of_pandas() -> None:
    for kind in KINDS:
        assert pd.Series([None], dtype=columns._PANDAS.get(kind, kind)).isna().all()
