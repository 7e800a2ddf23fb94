"""The JUnit report of `node --test` (Node 18 and later, by `reporter.mjs`): a suite for each file around its own.

A test with sub-tests is a suite there: what it says of itself is in the totals alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pipeline.core.records import Status
from pipeline.ecosystems.reports import Case, Report, ReportError, collect, relative

_TOTAL = re.compile(rb"<!-- (tests|suites|pass|fail|cancelled|skipped|todo) (\d+) -->")


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError when it is broken or does not add up."""
    try:
        files = list(ElementTree.fromstring(text))
    except (ElementTree.ParseError, ValueError) as error:
        raise ReportError(f"the report is no XML: {error}") from error
    totals = {name.decode(): int(number) for name, number in _TOTAL.findall(text)}
    cases = [case for file in files for case in _cases(file, relative(file.get("name", ""), root), ())]
    broken = {case.file for case in cases if _is_file(case)}
    tests = [case for case in cases if not _is_file(case)]
    groups = sum(1 for file in files for _ in file.iter("testsuite")) - len(files)
    _audit(cases, groups, totals)
    suites = {case.file: Status.FAILED if case.file in broken else Status.PASSED for case in cases}
    return collect(tests, suites, totals["fail"] + totals["cancelled"] == 0)


def _cases(node: Element, file: str, path: tuple[str, ...]) -> Iterator[Case]:
    for child in node:
        below = (*path, child.get("name", ""))
        if child.tag == "testcase":
            yield Case(file, below, _status(child))
        elif child.tag == "testsuite":
            yield from _cases(child, file, below)


def _status(case: Element) -> Status:
    if case.find("skipped") is not None:
        return Status.SKIPPED
    return Status.PASSED if case.find("failure") is None else Status.FAILED


def _is_file(case: Case) -> bool:
    """Whether this is no test but its file, which could not run."""
    return len(case.path) == 1 and case.path[0].endswith(case.file) and case.status is Status.FAILED


def _audit(cases: list[Case], groups: int, totals: dict[str, int]) -> None:
    """Parents count as tests, and pass or fail by themselves."""
    if not {"tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"} <= totals.keys():
        raise ReportError("the report has no totals")
    counted, parents = Counter(case.status for case in cases), groups - totals["suites"]
    failed = totals["fail"] + totals["cancelled"]
    sums = {
        "tests": (len(cases) + parents, totals["tests"]),
        "skipped": (counted[Status.SKIPPED], totals["skipped"] + totals["todo"]),
        "passed or failed": (counted[Status.PASSED] + counted[Status.FAILED] + parents, totals["pass"] + failed),
    }
    wrong = [f"{name}: {read} read, {said} reported" for name, (read, said) in sums.items() if read != said]
    if counted[Status.FAILED] > failed or counted[Status.PASSED] > totals["pass"]:
        wrong.append(f"failed: {counted[Status.FAILED]} read, {failed} reported")
    if wrong:
        raise ReportError("the report does not add up: " + "; ".join(wrong))
