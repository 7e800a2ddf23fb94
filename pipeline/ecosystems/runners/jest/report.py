"""Jest's `--json` report (Jest 19 and later; before 21 by `reporter20.cjs`).

A file whose `beforeAll` or `afterAll` failed counts as one that could not run: `hooks.cjs` adds this to its message,
since the report lacks some kinds of hooks (Jest 21 and later; before, only a file's own `afterAll` is seen).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pipeline.core.records import Status
from pipeline.ecosystems.reports import (
    SCREENSHOT,
    STATUSES,
    Report,
    Reported,
    ReportError,
    audit,
    collect,
    load,
    reason_digest,
    relative,
)

#: the runner's own totals; skipped tests are in two of them
_TOTALS = {
    Status.PASSED: ("numPassedTests",),
    Status.FAILED: ("numFailedTests",),
    Status.SKIPPED: ("numPendingTests", "numTodoTests"),
}
#: from a report and its tests to the totals that these must add up to
Totals = Callable[[Mapping[str, Any], Sequence[Reported]], dict[Status, int]]
#: whether a file could not run as a whole, from its part of the report
Broken = Callable[[Mapping[str, Any]], bool]

#: the message of a file that could not run as a whole, by Jest itself or by `hooks.cjs`
_BROKEN = re.compile(
    r"^[^\w\n]*\u25cf(?:\x1b\[\d+m|\s)*(?:Test suite failed to run|A hook of this file failed)", re.MULTILINE
)
_SNAPSHOT = re.compile(r"toMatch(?:Inline|Specific)?Snapshot|toThrowErrorMatching(?:Inline)?Snapshot")


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError if it is broken or does not add up."""
    return read_as(text, root, _SNAPSHOT, lambda data, _: totals(data), _is_broken)


def _is_broken(suite: Mapping[str, Any]) -> bool:
    return _BROKEN.search(suite.get("message") or "") is not None


def read_as(text: bytes, root: str, snapshot: re.Pattern[str], totals: Totals, broken: Broken) -> Report:
    """Read a report in Jest's form; `snapshot` matches the message of a failure by snapshot. Raises ReportError.

    A file without tests could not run at all (Vitest 0 calls such a file passed). One that several projects run could
    not run if it could not in one of them.
    """
    data = load(text)
    try:
        reported = list(reported_tests(data, root, snapshot))
        audit((test.status for test in reported), totals(data, reported))
        ran = {relative(suite["name"], root): Status.PASSED for suite in data["testResults"]}
        failed = (suite for suite in data["testResults"] if not suite["assertionResults"] or broken(suite))
        suites = ran | {relative(suite["name"], root): Status.FAILED for suite in failed}
        return collect(reported, suites, bool(data["success"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error


def totals(data: Mapping[str, Any]) -> dict[Status, int]:
    """The runner's own totals."""
    return {status: sum(data.get(key, 0) for key in keys) for status, keys in _TOTALS.items()}


def _ordered(suites: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The files in their order. One that several projects run comes several times, in the order in which these end and
    without their names: here it is ordered by its tests and their statuses, so that equal names get the same numbers.
    """
    first: dict[str, int] = {}
    for number, suite in enumerate(suites):
        first.setdefault(suite["name"], number)
    return sorted(suites, key=lambda suite: (first[suite["name"]], _content(suite)))


def _content(suite: Mapping[str, Any]) -> list[tuple[str, ...]]:
    tests = suite["assertionResults"]
    return [(*map(str, test.get("ancestorTitles", ())), str(test["title"]), str(test["status"])) for test in tests]


def reported_tests(data: dict[str, Any], root: str, snapshot: re.Pattern[str]) -> Iterator[Reported]:
    """Every test of a report in Jest's form."""
    for suite in _ordered(data["testResults"]):
        file = relative(suite["name"], root)
        for test in suite["assertionResults"]:
            messages = test.get("failureMessages")
            yield Reported(
                file,
                (*filter(None, test.get("ancestorTitles", ())), test["title"]),
                STATUSES[test["status"]],
                bool(messages) and all(map(snapshot.search, messages)),
                any(map(SCREENSHOT.search, messages or ())),
                reason_digest(messages or ()),
            )
