"""From observations to verdicts: passed, failed or error. Pure functions.

A page passes if it is about its case, violates no rule that counts and fails no requirement. A page that causes its run
to be cut short fails. Only faults of the case, the runner or the machine are errors, which are not in the n of pass@k.
If a case threw, or was cut short, running it on a correct page has shown who is to blame (`Doubt`). A page that other
programs may have hindered (`is_hindered`) is to be run again before it is judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from pipeline.pages.records import Assertion, Observed, PageVerdict, Result, Violation

#: rules with one of these tags are counted separately: the public harness treats axe-core's advice in the same way
APART = ("best-practice",)

#: how a page was cut short -> the cause, for which the page is to blame
LIMITS = {
    "time": "time",
    "load": "time",
    "audit": "time",
    "hung": "time",
    "crash": "crashed",
    "ended": "crashed",
    "closed": "left",
    "left": "left",
    "navigation": "left",
    "unaudited": "unaudited",
    "reload": "too_much",
    "popup": "too_much",
    "dialog": "too_much",
    "download": "too_much",
    "network": "too_much",
    "console": "too_much",
    "service worker": "too_much",
    "size": "too_large",
    "error": "too_much",
}
#: cause -> its meaning
CAUSES = {
    "time": "the page, its load or an audit took too long",
    "crashed": "it ended the browser's process or the runner's",
    "left": "it went to another document or closed itself",
    "unaudited": "axe-core could not audit it",
    "too_much": "it requested, opened, logged or loaded more than a page may",
    "off_task": "it is empty or not about its case",
    "unfinished": "the case could not continue with it",
    "too_large": "it is too large",
    "case": "the case is at fault",
    "machine": "the runner or the machine is at fault",
}
#: the message of an assertion that passed on a page that is not about its case, and is therefore counted as failed
OFF_TASK = "the page is not about the case"
#: who is to blame for a doubtful end; the machine, if it failed at the correct page
Doubt = Literal["page", "case", "machine"]
UNDECIDED = "the page or the case is at fault, but the machine failed at the run that decides"


class Judged(NamedTuple):
    """The result of a page, and why."""

    result: Result
    cause: str = ""
    detail: str = ""


def judge(seen: Observed, apart: Sequence[str] = APART, doubt: Doubt = "page") -> Judged:
    """The verdict; `apart` are the axe-core tags whose rules do not count."""
    if seen.machine:
        return Judged("error", "machine", seen.machine)
    if seen.fault:
        return Judged("error", "case", seen.fault)
    if seen.is_doubtful and doubt == "case":
        return Judged("error", "case", seen.threw or f"{seen.detail or seen.ended}, also on a correct page")
    if seen.is_doubtful and doubt == "machine":
        return Judged("error", "machine", UNDECIDED)
    if seen.ended:
        return Judged("failed", LIMITS[seen.ended], seen.detail or seen.ended)
    if seen.off_task:
        return Judged("failed", "off_task", seen.off_task)
    if seen.threw:
        return Judged("failed", "unfinished", seen.threw)
    failed = any(assertion.type == "R" and assertion.status == "fail" for assertion in seen.assertions)
    return Judged("failed" if failed or counting(seen.violations, apart) else "passed")


def is_hindered(seen: Observed) -> bool:
    """Whether more time could have given a page another result, and other programs left it too little."""
    if seen.ended or seen.fault or seen.machine:
        return bool(seen.busy) and LIMITS.get(seen.ended) == "time"
    failed = any(assertion.status == "fail" for assertion in seen.assertions)
    return bool(seen.busy) and bool(failed or seen.threw or seen.off_task)


def counting(violations: Sequence[Violation], apart: Sequence[str] = APART) -> tuple[Violation, ...]:
    """The violations of rules that count."""
    return tuple(violation for violation in violations if not set(apart) & set(violation.tags))


def verdict_of(seen: Observed, about: PageVerdict, apart: Sequence[str] = APART, doubt: Doubt = "page") -> PageVerdict:
    """The record of a verdict; `about` has the page's model, case and law."""
    result, cause, detail = judge(seen, apart, doubt)
    counted = counting(seen.violations, apart)
    held = _none_held(seen.assertions) if cause == "off_task" else seen.assertions
    return about.model_copy(
        update={
            "result": result,
            "cause": cause,
            "detail": detail,
            "assertions": held,
            "violations": counted,
            "advice": tuple(violation for violation in seen.violations if violation not in counted),
            "incidents": tuple(sorted(set(seen.incidents) - {"console"})),
        }
    )


def _none_held(assertions: Sequence[Assertion]) -> tuple[Assertion, ...]:
    """The assertions on a page that is not about their case, all as failed: a pass there proves nothing."""
    failed = {"status": "fail", "message": OFF_TASK}
    return tuple(
        assertion.model_copy(update=failed) if assertion.status == "pass" else assertion for assertion in assertions
    )


def outcomes(assertions: Sequence[Assertion]) -> dict[str, str]:
    """The result of each assertion by name; assertions of the same name fail if one of them does."""
    results: dict[str, str] = {}
    for assertion in assertions:
        results[assertion.name] = "fail" if "fail" in (assertion.status, results.get(assertion.name)) else "pass"
    return results
