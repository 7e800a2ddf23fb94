"""Vitest's JSON report: Jest's form with words of its own."""

from __future__ import annotations

import re

from pipeline.core.reports import Report, jest

ANNOUNCEMENT = "JSON report written to "

_SNAPSHOT = re.compile(r"Snapshot [`'\"].*[`'\"] mismatched|toMatch(?:Inline)?Snapshot")


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError when it is broken or does not add up."""
    return jest.read(text, root, _SNAPSHOT)
