"""docs/pages.md describes the formulas, the weights, our cases and the kinds of hostile pages correctly."""

import tomllib
from pathlib import Path

import pytest

from pipeline.pages.cases import load_cases
from pipeline.pages.hybrid import formulas

DOCS = (Path(__file__).parents[3] / "docs" / "pages.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("part", formulas.PARTS)
def test_the_formula_and_the_weight_of_a_part(part):
    row = next(line for line in DOCS.splitlines() if line.startswith(f"| `{part}` |"))
    assert row.endswith(f"| {formulas.table()[part]['says']} |")
    assert row.split("|")[2].strip() == str(formulas.table()["weights"][part])


@pytest.mark.parametrize("case", load_cases(), ids=lambda case: case.name)
def test_the_row_of_a_case(case):
    best = case.code["test.js"].decode().count('type: "BP"')
    (row,) = [line for line in DOCS.splitlines() if line.startswith(f"| `{case.name}` |")]
    counts = [int(cell) for cell in row.split("|")[3:6]]
    assert counts == [len(case.examples[0].expected) - best, best, len(case.examples)]


def test_how_many_kinds_of_pages_and_tests_misbehave():
    kinds = tomllib.loads((Path(__file__).parents[1] / "hostile.toml").read_text(encoding="utf-8"))
    pages, cases = len(kinds["page"]), len(kinds["case"])
    assert f"has {pages} kinds of pages and {cases} kinds of tests that misbehave" in DOCS
