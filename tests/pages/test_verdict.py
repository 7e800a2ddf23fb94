"""The verdict on what was observed of a page; pure functions, case by case."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pipeline.pages.engine import RUNNER
from pipeline.pages.records import Assertion, Observed, PageVerdict, Violation
from pipeline.pages.verdict import CAUSES, LIMITS, is_hindered, judge, outcomes, verdict_of

R = Assertion(name="a", status="pass")
FAILED = Assertion(name="a", status="fail")
ADVICE = Assertion(name="b", status="fail", type="BP")
WCAG = Violation(id="image-alt", tags=("wcag2a", "wcag111"), count=2)
BEST = Violation(id="region", tags=("best-practice",), count=1)

ENDS: dict[str, tuple[dict[str, Any], str]] = {
    "all holds": ({"assertions": (R,)}, "passed"),
    "a best practice fails": ({"assertions": (R, ADVICE)}, "passed"),
    "a requirement fails": ({"assertions": (R, FAILED)}, "failed"),
    "a rule that counts is violated": ({"assertions": (R,), "violations": (WCAG,)}, "failed"),
    "a rule that is counted apart": ({"assertions": (R,), "violations": (BEST,)}, "passed"),
    "a limit": ({"assertions": (R,), "ended": "time"}, "failed time"),
    "off task": ({"assertions": (R,), "off_task": "the page is empty"}, "failed off_task"),
    "off task, and the case threw": ({"off_task": "the page is empty", "threw": "no"}, "failed off_task"),
    "the case threw": ({"assertions": (R,), "threw": "no"}, "failed unfinished"),
    "the case is at fault": ({"assertions": (R,), "fault": "no run"}, "error case"),
    "the machine is at fault": ({"machine": "no browser"}, "error machine"),
    "nothing is asserted": ({}, "passed"),
}


@pytest.mark.rule("page-verdict")
@pytest.mark.parametrize("end", ENDS)
def test_how_a_page_ends(end: str) -> None:
    end_of_page, wanted = ENDS[end]
    judged = judge(Observed(**end_of_page))
    assert " ".join(filter(None, (judged.result, judged.cause))) == wanted


@pytest.mark.parametrize(
    "end", [{"threw": "no"}, {"ended": "hung"}, {"ended": "ended"}, {"ended": "time", "used": True}]
)
def test_a_doubtful_end_fails_the_page_or_is_an_error_of_the_case(end: dict[str, Any]) -> None:
    seen = Observed(**end)
    assert seen.is_doubtful
    assert judge(seen, doubt="page").result == "failed" and judge(seen, doubt="case").result == "error"


@pytest.mark.parametrize(
    "end",
    [
        {"ended": "time"},
        {"threw": "no", "machine": "gone"},
        {"threw": "no", "fault": "no"},
        {"threw": "no", "off_task": "the page is empty"},
    ],
)
def test_an_end_whose_fault_is_known_is_not_doubtful(end: dict[str, str]) -> None:
    """A test that fails at an empty page says nothing about the case, although it has no good example."""
    assert not Observed(**end).is_doubtful


@pytest.mark.rule("busy-machine")
@pytest.mark.parametrize(
    ("seen", "hindered"),
    [
        ({"ended": "time"}, True),
        ({"ended": "load"}, True),
        ({"ended": "audit"}, True),
        ({"ended": "hung"}, True),
        ({"assertions": (R, FAILED)}, True),
        ({"assertions": (R, ADVICE)}, True),
        ({"threw": "no"}, True),
        ({"off_task": "the page is empty"}, True),
        ({"assertions": (R,)}, False),
        ({"assertions": (R,), "violations": (WCAG,)}, False),
        ({"ended": "left", "assertions": (FAILED,)}, False),
        ({"ended": "ended"}, False),
        ({"machine": "gone", "assertions": (FAILED,)}, False),
        ({"fault": "no run"}, False),
    ],
)
def test_other_programs_hinder_what_time_decides(seen: dict[str, Any], hindered: bool) -> None:
    assert is_hindered(Observed(**seen, busy="other programs used 1.9 of 2 processors")) is hindered
    assert not is_hindered(Observed(**seen)), "without evidence, the failure stands"


def test_every_limit_has_a_cause_and_every_cause_a_meaning() -> None:
    assert set(LIMITS.values()) <= set(CAUSES)


def test_every_end_that_the_runner_gives_a_page_is_a_limit() -> None:
    """An unknown end stopped the evaluation of all pages."""
    source = (RUNNER / "page.js").read_text(encoding="utf-8")
    most = re.search(r"const MOST = \{(.*?)\};", source, re.DOTALL)
    assert most
    counted = {a or b for a, b in re.findall(r'^  (?:"([^"]+)"|(\w+)):', most[1], re.MULTILINE)}
    noted = set(re.findall(r'\bnote\("([^"]+)"', source))
    tripped = set(re.findall(r'\btrip\("([^"]+)"\)', source))
    assert {"service worker", "console"} <= noted and {"left", "crash"} <= tripped
    assert noted <= counted and counted | tripped <= set(LIMITS)


def test_all_rules_may_count() -> None:
    assert judge(Observed(violations=(BEST,)), apart=()).result == "failed"


def test_an_assertion_that_fails_once_fails() -> None:
    assert outcomes([R, FAILED, R, ADVICE]) == {"a": "fail", "b": "fail"}


def test_a_verdict_separates_violations_that_count_from_advice() -> None:
    about = PageVerdict(case="a", model="m", sample=0, result="error")
    seen = Observed(assertions=(R, ADVICE), violations=(WCAG, BEST), incidents={"network": 2, "console": 9})
    verdict = verdict_of(seen, about)
    assert (verdict.violations, verdict.advice, verdict.incidents) == ((WCAG,), (BEST,), ("network",))
    assert (verdict.holds("R"), verdict.holds("BP")) == (True, False)


@pytest.mark.rule("on-task")
def test_a_page_off_task_meets_no_requirement() -> None:
    """Neither the kinds as a whole nor any single assertion, including in tables by assertion."""
    about = PageVerdict(case="a", model="m", sample=0, result="error")
    verdict = verdict_of(Observed(assertions=(R, ADVICE), off_task="the page is empty"), about)
    assert (verdict.result, verdict.holds("R"), verdict.holds("BP")) == ("failed", False, False)
    assert [(assertion.status, assertion.message) for assertion in verdict.assertions] == [
        ("fail", "the page is not about the case"),
        ("fail", ""),
    ]


@pytest.mark.parametrize("end", [{"ended": "time"}, {"ended": "network"}, {"threw": "no"}])
def test_a_page_that_was_cut_short_meets_no_requirement(end: dict[str, str]) -> None:
    """Assertions that were never reached did not pass."""
    about = PageVerdict(case="a", model="m", sample=0, result="error")
    verdict = verdict_of(Observed(assertions=(R, R.model_copy(update={"type": "BP"})), **end), about)
    assert (verdict.result, verdict.holds("R"), verdict.holds("BP")) == ("failed", False, False)
