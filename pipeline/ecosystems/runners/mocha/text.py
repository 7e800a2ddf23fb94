"""What Mocha's `spec` reporter prints (its default), where nothing else is to be had. It names no files.

A line's groups are the lines above it that are indented less. Output of tests that looks like a test's own line cannot
be told from one: the totals say that something is wrong. Titles that end like a duration lose it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipeline.core.records import Status
from pipeline.ecosystems.reports import Report, Reported, ReportError, audit, collect
from pipeline.ecosystems.runners.jest.text import without_durations

_CASE = re.compile(r"(✓|✔|√|\d+\)|-) (.*)")
_TOTALS = re.compile(r"^  (\d+) (passing|pending|failing)(?: \(.*\))?$", re.MULTILINE)
_STATUSES = {"passing": Status.PASSED, "pending": Status.SKIPPED, "failing": Status.FAILED}


def read(text: bytes, root: str) -> Report:
    """Read a log. Raises ReportError when it has no totals, or does not add up to them."""
    log = text.decode(errors="replace")
    last = log.rfind(" passing (")
    if last < 0:
        raise ReportError("the log ends without Mocha's totals")
    start = log.rfind("\n", 0, last) + 1
    totals = {_STATUSES[word]: int(number) for number, word in _TOTALS.findall(log, start)}
    reported = list(_reported(log[:start].splitlines()))
    audit((one.status for one in reported), dict.fromkeys(_STATUSES.values(), 0) | totals)
    return collect(reported, {}, not totals.get(Status.FAILED))


def _reported(lines: list[str]) -> Iterator[Reported]:
    groups: list[tuple[int, str]] = []
    for line in lines:
        title = line.lstrip(" ")
        indent = len(line) - len(title)
        while groups and groups[-1][0] >= indent:
            groups.pop()
        if indent and (found := _CASE.match(title)):
            path = [group for _, group in groups]
            yield Reported("", (*path, without_durations(found[2])), _status(found[1]))
        elif indent:
            groups.append((indent, title))


def _status(mark: str) -> Status:
    if mark == "-":
        return Status.SKIPPED
    return Status.FAILED if mark.endswith(")") else Status.PASSED
