"""Vitest's JSON report: Jest's format with other messages.

A file counts as one that could not run if a hook of its own failed, or if it failed although none of its tests did. A
failing hook of a group is not named beside failed tests (a negative control is one), nor by Vitest 0. But the report
then counts more failed groups than it explains: the failure counts as one of all files, and every report says whether
there is one. Does not see an error without a message in a file with failed tests.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline.core.records import Status
from pipeline.ecosystems.reports import EVERYWHERE, Report, Reported, load
from pipeline.ecosystems.runners.jest import report as jest

_SNAPSHOT = re.compile(r"\A(?:\w*Error: )?Snapshot [`'\"].*[`'\"] mismatched|toMatch(?:Inline)?Snapshot")


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError if it is broken or does not add up."""
    report = jest.read_as(text, root, _SNAPSHOT, _totals, _broken)
    is_silent = Status.FAILED not in (*report.tests.values(), *report.suites.values()) and not report.success
    everywhere = Status.FAILED if is_silent or _hides_hook(load(text)) else Status.PASSED
    is_empty = not report.suites and everywhere is Status.PASSED
    return report if is_empty else replace(report, suites={**report.suites, EVERYWHERE: everywhere})


def _broken(suite: Mapping[str, Any]) -> bool:
    return bool(suite.get("message")) or _is_unexplained(suite)


def _is_unexplained(suite: Mapping[str, Any]) -> bool:
    """Whether a file failed, but neither a hook of its own nor a test."""
    return suite.get("status") == "failed" and not suite.get("message") and not _failed(suite)


def _failed(suite: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [test for test in suite["assertionResults"] if test["status"] == "failed"]


def _hides_hook(data: Mapping[str, Any]) -> bool:
    """Whether more files and groups failed than the report explains. Before version 2.1, only those count whose own
    hook failed; from then on, a failed test also counts for its file and each of its groups."""
    failed, suites = data.get("numFailedTestSuites", 0), data["testResults"]
    by_tests = "snapshot" in data and failed >= sum(suite["status"] == "failed" for suite in suites)
    explained = 0
    for suite in suites:
        if _is_unexplained(suite):
            explained += 1 + _groups(suite["assertionResults"])
        elif by_tests and suite["status"] == "failed":
            explained += 1 + _groups(_failed(suite))
        else:
            explained += bool(suite.get("message") or not suite["assertionResults"])
    return failed > explained


def _groups(tests: Iterable[Mapping[str, Any]]) -> int:
    """The number of groups of these tests. Of groups with one name in one place, there may be as many as there are
    tests with one name in them."""
    groups: dict[tuple[int, str], int] = {}
    most: dict[int, int] = {}
    for path, number in Counter((*test.get("ancestorTitles", ()), test["title"]) for test in tests).items():
        group = 0
        for title in path[:-1]:
            group = groups.setdefault((group, title), len(groups) + 1)
            most[group] = max(number, most.get(group, 0))
    return sum(most.values())


def _totals(data: Mapping[str, Any], reported: Sequence[Reported]) -> dict[Status, int]:
    """The totals. Before version 2, Vitest counts all tests that did not fail as passed; from then on, tests that did
    not begin, since their process died, are in no total."""
    totals = jest.totals(data)
    skipped = sum(test.status is Status.SKIPPED for test in reported)
    if totals[Status.PASSED] + totals[Status.FAILED] == data.get("numTotalTests"):
        return {**totals, Status.PASSED: totals[Status.PASSED] - skipped, Status.SKIPPED: skipped}
    pending = sum(test["status"] == "pending" for suite in data["testResults"] for test in suite["assertionResults"])
    unbegun = skipped - totals[Status.SKIPPED]
    return {**totals, Status.SKIPPED: skipped} if 0 < unbegun <= pending else totals
