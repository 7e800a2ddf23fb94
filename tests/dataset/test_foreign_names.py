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


def test_fragments_of_a_name_that_occur_in_its_source() -> None:
    assert fragments("COMBINED: All grammars.have 7605 total regex") == [
        "COMBINED", "All grammars", "have", "total regex",
    ]  # fmt: skip
    assert fragments("a 1 b") == []
