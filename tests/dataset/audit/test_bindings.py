"""Renaming a local name: all of its uses, and never a name that other code can see."""

from __future__ import annotations

import pytest

from pipeline.dataset.audit.bindings import renames
from pipeline.dataset.audit.code import Code


def renamed(text: str, lines: set[int] | None = None, path: str = "src/a.tsx") -> list[str]:
    """The text after each renaming; gold changed these lines, or all of them."""
    changed = set(range(1, text.count("\n") + 2)) if lines is None else lines
    found = Code(path, text.encode(), frozenset(changed))
    return [edit.on(found.text).decode() for edit in renames(found)]


@pytest.mark.parametrize(
    ("text", "results"),
    [
        ("function f(a) { return a; }", ["function f(aValue) { return aValue; }"]),
        ("const f = a => a;", ["const f = aValue => aValue;"]),
        ("function f() { const a = 1; g(a); }", ["function f() { const aValue = 1; g(aValue); }"]),
        ("function f({ a }) { return a; }", ["function f({ a: aValue }) { return aValue; }"]),
        ("function f({ b: a }) { g(a); }", ["function f({ b: aValue }) { g(aValue); }"]),
        ("function f([a]) { g(a); }", ["function f([aValue]) { g(aValue); }"]),
        ("function f(...a) { g(a); }", ["function f(...aValue) { g(aValue); }"]),
        ("function f(a = 1) { g(a); }", ["function f(aValue = 1) { g(aValue); }"]),
        ("function f(a) { return { a }; }", ["function f(aValue) { return { a: aValue }; }"]),
        ("function f(a: string) { g(a); }", ["function f(aValue: string) { g(aValue); }"]),
        ("function f(a) { return () => a; }", ["function f(aValue) { return () => aValue; }"]),
        ("class A { m(a) { return a; } }", ["class A { m(aValue) { return aValue; } }"]),
    ],
)
def test_a_local_name_is_renamed_everywhere(text: str, results: list[str]) -> None:
    assert renamed(text) == results


@pytest.mark.parametrize(
    "text",
    [
        "const a = 1; export const b = a;",
        "function f() { g(); }",
        "function F() { const Tag = 'b'; return <Tag />; }",
        "function f(a) { { const a = 2; g(a); } }",
        "function f() { a(); const a = 1; }",
        "function f() { const a = () => 1; g(a); }",
        "function f() { const A = class {}; g(A); }",
        "function f() { try { g(); } catch (a) { h(a); } }",
        "class A { constructor(private a: string) { g(a); } }",
        "function f($a) { g($a); }",
        "function f(b) { for (const a of [1]) { g(a); } }",
    ],
    ids=[
        "of a module",
        "none",
        "a tag",
        "declared twice",
        "used before",
        "a function takes its name",
        "a class takes its name",
        "of a catch clause",
        "a property",
        "of a framework",
        "of a loop",
    ],
)
def test_a_visible_name_is_left_alone(text: str) -> None:
    assert [result for result in renamed(text) if "bValue" not in result] == []


def test_a_property_of_the_same_name_is_left_alone() -> None:
    assert renamed("function f(a) { return b.a + a; }") == ["function f(aValue) { return b.a + aValue; }"]


def test_a_new_name_is_unused_in_the_file() -> None:
    assert renamed("function f(a) { return a; }\nlet aValue;") == [
        "function f(aValue2) { return aValue2; }\nlet aValue;"
    ]


def test_only_names_that_gold_touches_are_renamed() -> None:
    text = "function f(a,\n  b) {\n  g(b);\n  return a;\n}"
    assert renamed(text, {3}) == ["function f(a,\n  bValue) {\n  g(bValue);\n  return a;\n}"]
    assert renamed(text, {9}) == []


def test_scripts_of_a_page_are_renamed_in_place() -> None:
    text = "<p>a</p>\n<script>\nfunction f(a) { return a; }\n</script>"
    assert renamed(text, path="a.vue") == [text.replace("(a) { return a;", "(aValue) { return aValue;")]
