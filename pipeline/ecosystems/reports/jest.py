"""Jest's `--json` report (Jest 19 and later; before 21 by `reporters/jest20.cjs`)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from pipeline.core.records import Status
from pipeline.ecosystems.reports import Case, Report, ReportError, audit, collect

ANNOUNCEMENT = "Test results written to: "

STATUSES = {
    "passed": Status.PASSED,
    "failed": Status.FAILED,
    "pending": Status.SKIPPED,
    "skipped": Status.SKIPPED,
    "disabled": Status.SKIPPED,
    "todo": Status.SKIPPED,
}
#: the runner's own totals; skipped ones stand in two
_TOTALS = {
    Status.PASSED: ("numPassedTests",),
    Status.FAILED: ("numFailedTests",),
    Status.SKIPPED: ("numPendingTests", "numTodoTests"),
}
#: from a report and its cases to what the cases must add up to
Totals = Callable[[Mapping[str, Any], Sequence[Case]], dict[Status, int]]

_SURROGATE = re.compile("[\ud800-\udfff]")
_SNAPSHOT = re.compile(r"toMatch(?:Inline|Specific)?Snapshot|toThrowErrorMatching(?:Inline)?Snapshot")


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError when it is broken or does not add up."""
    return read_as(text, root, _SNAPSHOT, lambda data, _cases: totals(data))


def read_as(text: bytes, root: str, snapshot: re.Pattern[str], totals: Totals) -> Report:
    """Read a report in Jest's form; `snapshot` is how a failure by snapshot reads. Raises ReportError."""
    data = load(text)
    try:
        cases = list(cases_of(data, root, snapshot))
        audit((case.status for case in cases), totals(data, cases))
        suites = {relative(suite["name"], root): suite_status(suite) for suite in data["testResults"]}
        return collect(cases, suites, bool(data["success"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ReportError(f"the report lacks what the runner writes: {error!r}") from error


def totals(data: Mapping[str, Any]) -> dict[Status, int]:
    """The runner's own totals."""
    return {status: sum(data.get(key, 0) for key in keys) for status, keys in _TOTALS.items()}


def load(text: bytes) -> dict[str, Any]:
    """Parse the JSON. Raises ReportError."""
    try:
        data = _parsed(text)
    except (ValueError, RecursionError) as error:
        raise ReportError(f"the report is no JSON: {error}") from error
    if not isinstance(data, dict):
        raise ReportError("the report is no JSON object")
    return data


def _parsed(text: bytes) -> Any:
    """By a fast reader, which refuses half an emoji (a lone surrogate): no record could hold one, so U+FFFD does."""
    try:
        return from_json(text)
    except ValueError:
        return json.loads(_SURROGATE.sub("\ufffd", json.dumps(json.loads(text), ensure_ascii=False)))


def cases_of(data: dict[str, Any], root: str, snapshot: re.Pattern[str]) -> Iterator[Case]:
    """Every test of a report in Jest's form."""
    for suite in data["testResults"]:
        file = relative(suite["name"], root)
        for test in suite["assertionResults"]:
            messages = test.get("failureMessages")
            yield Case(
                file,
                (*filter(None, test.get("ancestorTitles", ())), test["title"]),
                STATUSES[test["status"]],
                bool(messages) and all(map(snapshot.search, messages)),
            )


def suite_status(suite: dict[str, Any]) -> Status:
    """FAILED for a file that could not run at all, else PASSED. Vitest 0 calls such a file passed."""
    return Status.PASSED if suite["assertionResults"] else Status.FAILED


def relative(name: str, root: str) -> str:
    """A file's path in the repository."""
    return name.removeprefix(root.rstrip("/") + "/")
