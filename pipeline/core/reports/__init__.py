"""Readers of test runners' machine-readable reports, one per reporter and never one per repository.

A test is `file > group > title`: its name holds no duration, two files never share one, and the second of two equal
names in a file is `… [2]`. Every reader audits itself: what it read must add up to the runner's own totals.
To add a runner: a module with `read` here, and a row in the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain, count

from pipeline.core.errors import A11yBenchError, unknown
from pipeline.core.records import Status

#: parser -> module; the name stands in `Environment.parser`
PARSERS = {
    "jest-json": "pipeline.core.reports.jest",
    "vitest-json": "pipeline.core.reports.vitest",
}


class ReportError(A11yBenchError):
    """A report that is missing, broken, or does not add up."""


@dataclass(frozen=True)
class Case:
    """One test as the runner reported it."""

    file: str
    path: tuple[str, ...]
    status: Status
    by_snapshot: bool = False


@dataclass(frozen=True)
class Report:
    """One run: `tests` by name, `suites` by file (FAILED: it could not run), tests that failed by snapshot only."""

    tests: dict[str, Status]
    suites: dict[str, Status]
    by_snapshot: frozenset[str] = field(default=frozenset())
    success: bool = True


def read(parser: str, text: bytes, root: str) -> Report:
    """Read a runner's report; `root` is the repository's folder as the runner saw it. Raises ReportError."""
    if parser not in PARSERS:
        raise unknown("parser", parser, list(PARSERS))
    return import_module(PARSERS[parser]).read(text, root)


def announced(parser: str, output: bytes, report: str) -> bool:
    """Whether the runner itself said, at its end, that it wrote the report (some name it relative to their folder)."""
    words, name = import_module(PARSERS[parser]).ANNOUNCEMENT, report.rpartition("/")[2]
    lines = output.decode(errors="replace").splitlines()
    return any(line.startswith(words) and line.rstrip().endswith(name) for line in lines)


def collect(cases: Iterable[Case], suites: dict[str, Status], success: bool) -> Report:
    """Name the cases and put a report together."""
    tests: dict[str, Status] = {}
    by_snapshot = set()
    for case in cases:
        name = _free(" > ".join((case.file, *case.path)), tests)
        tests[name] = case.status
        if case.by_snapshot:
            by_snapshot.add(name)
    return Report(tests, suites, frozenset(by_snapshot), success)


def _free(name: str, taken: Collection[str]) -> str:
    """The name, or with the first number that is not taken; a title may itself end in `[2]`."""
    numbered = (f"{name} [{number}]" for number in count(2))
    return next(one for one in chain([name], numbered) if one not in taken)


def audit(cases: Iterable[Case], totals: dict[Status, int]) -> None:
    """Raise ReportError unless the cases add up to the runner's own totals."""
    counted = Counter(case.status for case in cases)
    wrong = [f"{s}: {counted[s]} read, {n} reported" for s, n in totals.items() if counted[s] != n]
    if wrong:
        raise ReportError("the report does not add up: " + "; ".join(wrong))
