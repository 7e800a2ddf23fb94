"""What was seen of a page means: passed, failed or error. Pure functions.

A page passes with no violation of a rule that counts and no failed requirement, when it is about its case. What the
page did to be cut short fails it; only a fault of the case, the runner or the machine is an error, and leaves n of
pass@k. Whose fault it is that a case threw or hung, the same case on a page that is right has told (`Doubt`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from pipeline.pages.records import Assertion, Observed, PageVerdict, Result, Violation

#: rules with one of these tags are counted apart: the public harness counts axe-core's advice so, too
APART = ("best-practice",)

#: how a page was cut short -> the cause, which is the page's
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
    "size": "too_large",
    "error": "too_much",
}
#: what each cause means, for people
CAUSES = {
    "time": "it took longer than a page, its load, or an audit may",
    "crashed": "it ended the browser's process, or the runner's",
    "left": "it went to another document, or closed itself",
    "unaudited": "axe-core could not audit it",
    "too_much": "it asked, opened, said or loaded more than a page may",
    "off_task": "it is empty, or not about its case",
    "unfinished": "the case could not go on with it",
    "too_large": "it is larger than a page may be",
    "case": "the case is at fault",
    "machine": "the runner or the machine is at fault",
}
#: whose fault a doubtful end is
Doubt = Literal["page", "case"]


class Judged(NamedTuple):
    """How a page ends, and why."""

    result: Result
    cause: str = ""
    detail: str = ""


def judge(seen: Observed, apart: Sequence[str] = APART, doubt: Doubt = "page") -> Judged:
    """The verdict; `apart` are tags of axe-core whose rules do not count."""
    if seen.machine:
        return Judged("error", "machine", seen.machine)
    if seen.fault:
        return Judged("error", "case", seen.fault)
    if seen.is_doubtful and doubt == "case":
        return Judged("error", "case", seen.threw or f"{seen.detail}, on a page that is right, too")
    if seen.ended:
        return Judged("failed", LIMITS[seen.ended], seen.detail or seen.ended)
    if seen.off_task:
        return Judged("failed", "off_task", seen.off_task)
    if seen.threw:
        return Judged("failed", "unfinished", seen.threw)
    failed = any(one.type == "R" and one.status == "fail" for one in seen.assertions)
    return Judged("failed" if failed or counting(seen.violations, apart) else "passed")


def counting(violations: Sequence[Violation], apart: Sequence[str] = APART) -> tuple[Violation, ...]:
    """The violations of the rules that count."""
    return tuple(one for one in violations if not set(apart) & set(one.tags))


def verdict_of(seen: Observed, about: PageVerdict, apart: Sequence[str] = APART, doubt: Doubt = "page") -> PageVerdict:
    """The record of a page; `about` says whose page it is, of which case, and under which law."""
    result, cause, detail = judge(seen, apart, doubt)
    counted = counting(seen.violations, apart)
    return about.model_copy(
        update={
            "result": result,
            "cause": cause,
            "detail": detail,
            "assertions": seen.assertions,
            "violations": counted,
            "advice": tuple(one for one in seen.violations if one not in counted),
            "incidents": tuple(sorted(set(seen.incidents) - {"console"})),
        }
    )


def outcomes(assertions: Sequence[Assertion]) -> dict[str, str]:
    """How each assertion ended, by name; one of a name that fails once fails."""
    found: dict[str, str] = {}
    for one in assertions:
        found[one.name] = "fail" if "fail" in (one.status, found.get(one.name)) else "pass"
    return found
