"""Readers of what test runners report, one per reporter and never one per repository.

A test is `file > group > title`: its name holds no duration, two files never share one, and the second of two equal
names in a file is `… [2]`. Every reader audits itself: what it read must add up to the runner's own totals.
Where a runner's own reporters do not say enough, one of `reporters/` is handed to it; nothing is installed for it.
To add a runner: a module with `read` and `ANNOUNCEMENT` here, and a row in the table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from importlib import import_module
from importlib.resources import files
from importlib.resources.abc import Traversable
from itertools import count
from types import ModuleType
from typing import NamedTuple

from pipeline.core.errors import A11yBenchError, unknown
from pipeline.core.records import Status


class Parser(NamedTuple):
    """A row of the table: the module, the reporter that the runner is given, whether its report is its log."""

    module: str
    reporter: str = ""
    log: bool = False


#: the name stands in `Environment.parser`; those of texts are for where there is nothing else
PARSERS = {
    "jest-json": Parser("jest"),
    "jest20-json": Parser("jest", "jest20.cjs"),
    "jest-text": Parser("jest_text", log=True),
    "vitest-json": Parser("vitest"),
    "mocha-json": Parser("mocha", "mocha.cjs"),
    "mocha-text": Parser("mocha_text", log=True),
    "node-junit": Parser("node_junit", "node.mjs"),
    "playwright-json": Parser("playwright"),
    "karma-json": Parser("karma", "karma.cjs"),
}


class ReportError(A11yBenchError):
    """A report that is missing, broken, or does not add up."""


class Case(NamedTuple):
    """One test as the runner reported it; `file` is empty where the runner knows of none."""

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
    return _module(parser).read(text, root)


def reads_log(parser: str) -> bool:
    """Whether the report is what the runner printed, and no file."""
    return _row(parser).log


def reporter(parser: str) -> Traversable | None:
    """The reporter that the runner is given, None where its own is read."""
    name = _row(parser).reporter
    return files(__name__).joinpath("reporters", name) if name else None


def announced(parser: str, output: bytes, report: str) -> bool:
    """Whether the runner itself said, at its end, that it wrote the report (some name it relative to their folder).

    Playwright says nothing, and a log is its own report: their totals alone must do.
    """
    words, name = _module(parser).ANNOUNCEMENT, report.rpartition("/")[2]
    lines = output.decode(errors="replace").splitlines()
    return not words or any(line.startswith(words) and line.rstrip().endswith(name) for line in lines)


def _module(parser: str) -> ModuleType:
    return import_module(f"{__name__}.{_row(parser).module}")


def _row(parser: str) -> Parser:
    if parser not in PARSERS:
        raise unknown("parser", parser, list(PARSERS))
    return PARSERS[parser]


def collect(cases: Iterable[Case], suites: dict[str, Status], success: bool) -> Report:
    """Name the cases and put a report together."""
    tests: dict[str, Status] = {}
    by_snapshot = set()
    for file, path, status, alone in cases:
        name = free(" > ".join((file, *path) if file else path), tests)
        tests[name] = status
        if alone:
            by_snapshot.add(name)
    return Report(tests, suites, frozenset(by_snapshot), success)


def free(name: str, taken: Collection[str]) -> str:
    """The name, or with the first number that is not taken; a title may itself end in `[2]`."""
    if name not in taken:
        return name
    return next(one for one in (f"{name} [{number}]" for number in count(2)) if one not in taken)


def audit(statuses: Iterable[Status], totals: dict[Status, int]) -> None:
    """Raise ReportError unless the tests' statuses add up to the runner's own totals."""
    counted = Counter(statuses)
    wrong = [f"{s}: {counted[s]} read, {n} reported" for s, n in totals.items() if counted[s] != n]
    if wrong:
        raise ReportError("the report does not add up: " + "; ".join(wrong))
