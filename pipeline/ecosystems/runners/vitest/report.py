"""Vitest's JSON report: Jest's form with words of its own.

A file that failed though none of its tests did could not run as a whole: a hook of a group or of the file failed. Does
not see a hook that fails beside tests that fail in the same file. Vitest 0 tells that hooks failed, and not where.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pipeline.core.records import Status
from pipeline.ecosystems.reports import EVERYWHERE, Report, Reported
from pipeline.ecosystems.runners.jest import report as jest

_SNAPSHOT = re.compile(r"Snapshot [`'\"].*[`'\"] mismatched|toMatch(?:Inline)?Snapshot")


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError when it is broken or does not add up."""
    report = jest.read_as(text, root, _SNAPSHOT, _totals, _broken)
    unsaid = Status.FAILED not in (*report.tests.values(), *report.suites.values()) and not report.success
    return replace(report, suites={**report.suites, EVERYWHERE: Status.FAILED}) if unsaid else report


def _broken(suite: Mapping[str, Any]) -> bool:
    return suite.get("status") == "failed" and all(test["status"] != "failed" for test in suite["assertionResults"])


def _totals(data: Mapping[str, Any], reported: Sequence[Reported]) -> dict[Status, int]:
    """Before version 2 everything that did not fail is counted as passed."""
    said = jest.totals(data)
    if said[Status.PASSED] + said[Status.FAILED] != data.get("numTotalTests"):
        return said
    skipped = sum(one.status is Status.SKIPPED for one in reported)
    return {**said, Status.PASSED: said[Status.PASSED] - skipped, Status.SKIPPED: skipped}
