"""Which of our tests another benchmark's name means."""

from __future__ import annotations

import pytest

from pipeline.dataset.foreign_names import Names, fragments

TESTS = [
    "test/markup/index.js > highlight() markup > bash > should markup strings",
    "test/markup/index.js > highlight() markup > adding dynamic tests...",
    "tests/run.js > Testing language 'sql' > – should pass test case 'string_feature'",
    "src/Menu-test.js > Menu > renders",
    "src/Tabs-test.js > Tabs > renders",
    "src/Tabs-test.js > a > b > c",
    "src/Broken-test.js",
]


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("bash.should markup strings", [0]),
        ("highlight() markup.adding dynamic tests...", [1]),
        ("Testing language 'sql' – should pass test case 'string_feature'", [2]),
        ("Menu renders", [3]),
        ("renders", [3, 4]),
        ("src/Tabs-test.js", [4, 5]),
        ("src/Tabs-test.js > Tabs > renders", [4]),
        ("src/Broken-test.js", [6]),
        ("a b c", [5]),
        ("a c", []),
        ("Tabs", []),
    ],
)
def test_foreign_names_lack_files_outer_suites_and_marks(name: str, meant: list[int]) -> None:
    """A file means all its tests; only the front of a name may be left out."""
    assert Names(TESTS).of(name) == [TESTS[place] for place in meant]


@pytest.mark.trap("duration-in-name")
@pytest.mark.parametrize(
    "name",
    [
        "Menu renders (52 ms)",
        "src/Menu-test.js > Menu > renders (5.1 s)",
        "Menu renders (1 min 2.5 s)",
        "Menu renders 52ms",
        "src/Menu-test.js (5.1 s)",
        "./src/Menu-test.js",
        "PASS src/Menu-test.js",
        "FAIL ./src/Menu-test.js (12.345 s)",
    ],
)
def test_what_a_runner_prints_around_a_name_is_no_part_of_it(name: str) -> None:
    """Jest prints a duration behind slow tests and files only; Multi-SWE-bench's and SWE-bench's parsers keep it."""
    assert Names(TESTS).of(name) == [TESTS[3]]


def test_a_duration_in_our_own_name_stays() -> None:
    assert Names(["a.js > waits (52 ms)", "a.js > waits"]).of("waits (52 ms)") == ["a.js > waits (52 ms)"]


@pytest.mark.rule("foreign-benchmarks")
@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("adds + 1", ["a.js > adds > + 1"]),
        ("adds.- 1", ["a.js > adds > - 1"]),
        ("a.js > a < b", ["a.js > a < b"]),
        ("a > b", ["a.js > a > b"]),
        ("a b", ["a.js > a > b"]),
        ("a.b", ["a.js > a > b"]),
        ("a - b", ["a.js > a > b"]),
        ("a+b+c", ["a.js > (a, b, c)", "a.js > (a; b; c)"]),
    ],
)
def test_punctuation_counts_if_it_alone_tells_tests_apart(name: str, meant: list[str]) -> None:
    """They were taken for one. A name with other punctuation than all of them stands for all."""
    tests = ["a.js > adds > + 1", "a.js > adds > - 1", "a.js > a < b", "a.js > a > b"]
    tests += ["a.js > (a, b, c)", "a.js > (a; b; c)"]
    assert Names(tests).of(name) == meant


def test_fragments_of_a_name_that_occur_in_its_source() -> None:
    assert fragments("COMBINED: All grammars.have 7605 total regex") == [
        "COMBINED", "All grammars", "have", "total regex",
    ]  # fmt: skip
    assert fragments("a 1 b") == []
