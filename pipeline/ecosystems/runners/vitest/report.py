"""Vitest's JSON report: Jest's format with other messages.

A file that failed although none of its tests did counts as one that could not run: a hook of a group or of the file
failed. Does not see a hook that fails alongside tests of the same file. Vitest 0 does not report which hooks failed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline.core.records import Status
from pipeline.ecosystems.reports import EVERYWHERE, Report, Reported
from pipeline.ecosystems.runners.jest import report as jest

_SNAPSHOT = re.compile(r"\A(?:\w*Error: )?Snapshot [`'\"].*[`'\"] mismatched|toMatch(?:Inline)?Snapshot")


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError if it is broken or does not add up."""
    report = jest.read_as(text, root, _SNAPSHOT, _totals, _broken)
    is_hidden = Status.FAILED not in (*report.tests.values(), *report.suites.values()) and not report.success
    return replace(report, suites={**report.suites, EVERYWHERE: Status.FAILED}) if is_hidden else report


def _broken(suite: Mapping[str, Any]) -> bool:
    return suite.get("status") == "failed" and all(test["status"] != "failed" for test in suite["assertionResults"])


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
