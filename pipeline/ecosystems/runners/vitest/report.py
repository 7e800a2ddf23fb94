"""Vitest's JSON report: Jest's form with words of its own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pipeline.core.records import Status
from pipeline.ecosystems.reports import Report, Reported
from pipeline.ecosystems.runners.jest import report as jest

_SNAPSHOT = re.compile(r"Snapshot [`'\"].*[`'\"] mismatched|toMatch(?:Inline)?Snapshot")


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError when it is broken or does not add up."""
    return jest.read_as(text, root, _SNAPSHOT, _totals)


def _totals(data: Mapping[str, Any], reported: Sequence[Reported]) -> dict[Status, int]:
    """Before version 2 everything that did not fail is counted as passed."""
    said = jest.totals(data)
    if said[Status.PASSED] + said[Status.FAILED] != data.get("numTotalTests"):
        return said
    skipped = sum(one.status is Status.SKIPPED for one in reported)
    return {**said, Status.PASSED: said[Status.PASSED] - skipped, Status.SKIPPED: skipped}
