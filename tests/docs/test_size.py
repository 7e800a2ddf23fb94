"""Tests have at least 1.1 times the lines of code of what they test.

A line of code is one with a token of Python: blank lines, comments and docstrings do not count, since they would let
documentation dilute the ratio. The benchmarks in tests/ are not counted as tests.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LEAST = 1.1
#: tokens that are no code
SILENT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def lines_of_code(text: str) -> int:
    """The number of lines with code. A string that is a statement of its own is a docstring."""
    lines, begins = set[int](), True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_docstring = token.type == tokenize.STRING and begins
        if token.type not in SILENT and not is_docstring:
            lines.update(range(token.start[0], token.end[0] + 1))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in SILENT
    return len(lines)


def total(paths: Iterable[Path]) -> int:
    return sum(lines_of_code(path.read_text(encoding="utf-8")) for path in paths)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", 0),
        ("a = 1\n", 1),
        ("a = (\n    1\n)\n", 3),
        ("# why\n\na = 1  # and what\n", 1),
        ('"""A module."""\n\na = 1\n', 1),
        ('def f():\n    """Do it.\n\n    Slowly.\n    """\n    return 1\n', 2),
        ('class A:\n    """One."""\n', 1),
        ('a = """\n\ntext\n"""\n', 4),
    ],
)
def test_what_counts_as_a_line_of_code(text: str, lines: int) -> None:
    assert lines_of_code(text) == lines


def test_tests_are_larger_than_what_they_test() -> None:
    sources = total(path for folder in ("pipeline", "vendors") for path in (ROOT / folder).rglob("*.py"))
    tests = total(path for path in (ROOT / "tests").rglob("*.py") if "benchmarks" not in path.parts)
    assert tests / sources >= LEAST, f"{tests:,} lines of tests for {sources:,} lines of code: {tests / sources:.3f}"
