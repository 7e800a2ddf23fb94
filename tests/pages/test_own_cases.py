"""Our own cases: what can be checked without a browser, and, with one, that their examples hold."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from pipeline.pages.cases import Case, load_cases
from pipeline.pages.checking import Finding, check
from pipeline.pages.demo import example_of, faults

CASES = load_cases()
NAMES = [case.name for case in CASES]
#: the cases of which all examples are tried here; `just pages-check` tries all, and `test_demo.py` a few of each
CHECKED = CASES[::3]
_ASSERT = re.compile(r'\bassert\(\s*"([^"]+)"')


def asserted(case: Case) -> list[str]:
    return _ASSERT.findall(case.code["test.js"].decode())


def test_there_are_at_least_twelve_cases():
    assert len(CASES) >= 12


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_every_example_expects_every_assertion(case: Case):
    for example in case.examples:
        assert not example.fault, example.name
        assert list(example.expected) == asserted(case), example.name


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_every_assertion_fails_on_a_page_that_has_its_subject(case: Case):
    """Without the subject, which the first assertion is about, all of them fail."""
    good = [example for example in case.examples if example.is_good]
    partly = [example for example in case.examples if len(set(example.expected.values())) == 2]
    assert len(good) >= 2
    for name in asserted(case)[1:]:
        assert any(example.expected[name] == "fail" for example in partly), name


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_every_assertion_has_passing_and_failing_examples(case: Case):
    for name in asserted(case):
        assert {example.expected[name] for example in case.examples} == {"pass", "fail"}, name


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_the_demo_answers_with_a_good_page_and_two_of_few_faults(case: Case):
    """Each fault costs a wait of a second and a half, and the demo should end within a minute."""
    good, *bad = (example_of(case, sample) for sample in range(3))
    others = sorted(faults(example) for example in case.examples if not example.is_good)
    assert good.is_good and sorted(map(faults, bad)) == others[:2]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_a_test_has_no_fixed_waits_and_no_imports(case: Case):
    code = case.code["test.js"].decode()
    assert set(case.code) == {"test.js"}
    assert "waitForTimeout" not in code
    assert not re.search(r"\brequire\(|\bwindow\.axe\b", code)


@pytest.fixture(scope="module")
def findings() -> Sequence[Finding]:
    """For all cases at once: two browsers run side by side."""
    return check(CHECKED, jobs=2).findings


@pytest.mark.engine("browser", "npm")
@pytest.mark.parametrize("case", CHECKED, ids=NAMES[::3])
def test_examples_behave_as_expected_and_unrelated_pages_fail(case: Case, findings: Sequence[Finding]):
    assert [finding for finding in findings if finding.case == case.name] == []
