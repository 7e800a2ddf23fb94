"""Records refuse unknown fields, never change, and have digests that exclude data about themselves."""

from __future__ import annotations

from decimal import Decimal
from functools import cached_property
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from pipeline import __version__
from pipeline.core.record import SCHEMA_VERSION, InstanceId, Record, Usd, Versioned, digest


class Point(Record):
    x: int
    y: int = 0

    @cached_property
    def length(self) -> int:
        return abs(self.x) + abs(self.y)


class Stored(Versioned):
    name: str
    note: str = ""


@pytest.mark.parametrize("fields", [{"x": 1, "z": 2}, {"x": "one"}, {}, {"x": None}])
def test_a_record_refuses_unknown_and_wrong_fields(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Point.model_validate(fields)


def test_a_record_never_changes() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Point(x=1).x = 2


def test_a_copy_recomputes_cached_values() -> None:
    point = Point(x=3)
    assert point.length == 3
    assert point.model_copy(update={"y": 4}).length == 7
    assert point.length == 3


def test_a_stored_record_has_schema_and_program_version() -> None:
    stored = Stored(name="a")
    assert (stored.schema_version, stored.tool) == (SCHEMA_VERSION, __version__)
    with pytest.raises(ValidationError):
        Stored.model_validate({"name": "a", "schema_version": SCHEMA_VERSION + 1})


@pytest.mark.parametrize("name", ["acme__ui-1", "acme__ui-12~same3", "my-org__my.repo-7", "a__b-1~"])
def test_the_name_of_an_instance(name: str) -> None:
    assert TypeAdapter(InstanceId).validate_python(name) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "acme/ui#1",
        "acme__ui",
        "acme__ui-",
        "acme__ui-x",
        "acme__ui-1~UP",
        "acme__ui-1~a/b",
        "../ui-1",
        "acme__ui-01",
    ],
)
def test_an_invalid_instance_name_is_refused(name: str) -> None:
    """Folders have the same name: it must not lead elsewhere, and each instance has one name only."""
    with pytest.raises(ValidationError, match="not the name of an instance"):
        TypeAdapter(InstanceId).validate_python(name)


@pytest.mark.parametrize(("value", "amount"), [("0", "0"), (0.1, "0.1"), ("1E-30", "1E-30"), (3, "3")])
def test_an_amount_is_exact(value: Any, amount: str) -> None:
    assert TypeAdapter(Usd).validate_python(value) == Decimal(amount)


@pytest.mark.parametrize("value", ["-1", "NaN", "Infinity", "1E+31", "1E-31", "much"])
def test_an_invalid_amount_is_refused(value: str) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Usd).validate_python(value)


def test_a_digest_leaves_out_defaults_and_the_programs_version() -> None:
    """A new field with a default, or another version of this program, makes nothing stale."""
    assert digest(Stored(name="a")) == digest(Stored(name="a", note="", tool="0.0.1"))
    assert digest(Stored(name="a")) != digest(Stored(name="a", note="b"))
    assert digest(Point(x=1)) == digest({"x": 1})


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("ab", "c"), ("a", "bc")),
        (("a",), ("a", "")),
        ((1,), (1.0,)),
        (([1, 2],), ([2, 1],)),
        (({"a": None},), ({},)),
        (("",), ()),
    ],
    ids=repr,
)
def test_different_values_have_different_digests(first: tuple[Any, ...], second: tuple[Any, ...]) -> None:
    assert digest(*first) != digest(*second)


def test_the_order_of_keys_does_not_matter() -> None:
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    assert digest(b"text") == digest("text")
    assert digest(Decimal("1.50")) == digest('"1.50"')


@given(st.lists(st.one_of(st.text(), st.binary(), st.integers(), st.dictionaries(st.text(), st.integers()))))
def test_a_digest_can_be_a_file_name(parts: list[Any]) -> None:
    name = digest(*parts)
    assert len(name) == 32 and set(name) <= set("0123456789abcdef") and name == digest(*parts)
