"""The output of Mocha's `spec` reporter (its default), if there is nothing better. It names no files.

A line's groups are the lines above it that are indented less. Output that looks like the line of a test cannot be
distinguished from one; then the totals do not match. Titles that end like a duration lose it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.core.records import Status
from pipeline.ecosystems.reports import Report, Reported, ReportError, audit, collect
from pipeline.ecosystems.runners.jest.text import lines_of, without_durations

_CASE = re.compile(r"(✓|✔|√|\d+\)|-) (.*)")
_TOTALS = re.compile(r"^  (\d+) (passing|pending|failing)(?: \(.*\))?$", re.MULTILINE)
_STATUSES = {"passing": Status.PASSED, "pending": Status.SKIPPED, "failing": Status.FAILED}


def read(text: bytes, root: str) -> Report:
    """Read a log. Raises ReportError if it has no totals or does not add up to them."""
    log = text.decode(errors="replace").replace("\r\n", "\n")
    last = log.rfind(" passing (")
    if last < 0:
        raise ReportError("the log ends without Mocha's totals")
    start = log.rfind("\n", 0, last) + 1
    totals = {_STATUSES[word]: int(number) for number, word in _TOTALS.findall(log, start)}
    reported = list(_reported(lines_of(log[:start])))
    audit((test.status for test in reported), dict.fromkeys(_STATUSES.values(), 0) | totals)
    return collect(reported, {}, not totals.get(Status.FAILED))


def _reported(lines: list[str]) -> Iterator[Reported]:
    groups: list[tuple[int, str]] = []
    for line in lines:
        title = line.lstrip(" ")
        indent = len(line) - len(title)
        while groups and groups[-1][0] >= indent:
            groups.pop()
        if indent and (match := _CASE.match(title)):
            path = [group for _, group in groups]
            yield Reported("", (*path, without_durations(match[2])), _status(match[1]))
        elif indent:
            groups.append((indent, title))


def _status(mark: str) -> Status:
    if mark == "-":
        return Status.SKIPPED
    return Status.FAILED if mark.endswith(")") else Status.PASSED
