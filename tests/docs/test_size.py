"""Tests have at least 1.1 times as many lines of code as what they test.

Comments, docstrings and blank lines do not count, so that documentation is not sacrificed for tests. The benchmarks in
tests/ do not count as tests.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pipeline.core.law import without_remarks

ROOT = Path(__file__).parents[2]
LEAST = 1.1


def lines_of_code(paths: Iterable[Path]) -> int:
    return sum(without_remarks(path.read_text(encoding="utf-8")).count("\n") + 1 for path in paths)


def test_tests_are_larger_than_what_they_test() -> None:
    sources = lines_of_code(path for folder in ("pipeline", "vendors") for path in (ROOT / folder).rglob("*.py"))
    tests = lines_of_code(path for path in (ROOT / "tests").rglob("*.py") if "benchmarks" not in path.parts)
    assert tests / sources >= LEAST, f"{tests:,} lines of tests for {sources:,} lines of code: {tests / sources:.3f}"
