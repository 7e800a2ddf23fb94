"""The JUnit report of `node --test` (Node 18 and later, by `reporter.mjs`): a suite for each file around its own.

A test with sub-tests is a suite there: what it says of itself is in the totals alone. Of a group's hook that failed the
reporter tells in a comment.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pipeline.core.records import Status
from pipeline.ecosystems.reports import ForgedReport, Report, Reported, ReportError, collect, relative

_TOTAL = re.compile(rb"<!-- (tests|suites|pass|fail|cancelled|skipped|todo) (\d+) -->")
_HOOK = re.compile(rb"^<!-- hook (\S+) -->$", re.MULTILINE)


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError when it is broken or does not add up."""
    try:
        files = list(ElementTree.fromstring(text))
    except (ElementTree.ParseError, ValueError) as error:
        raise ReportError(f"the report is no XML: {error}") from error
    totals = {name.decode(): int(number) for name, number in _TOTAL.findall(text)}
    reported = [one for file in files for one in _reported(file, relative(file.get("name", ""), root), ())]
    broken = {one.file for one in reported if _is_file(one)}
    broken |= {relative(unquote(name.decode()), root) for name in _HOOK.findall(text)}
    tests = [one for one in reported if not _is_file(one)]
    groups = sum(1 for file in files for _ in file.iter("testsuite")) - len(files)
    _audit(reported, groups, totals)
    suites = {one.file: Status.FAILED if one.file in broken else Status.PASSED for one in reported}
    return collect(tests, suites, totals["fail"] + totals["cancelled"] == 0)


def _reported(node: Element, file: str, path: tuple[str, ...]) -> Iterator[Reported]:
    for child in node:
        below = (*path, child.get("name", ""))
        if child.tag == "testcase":
            yield Reported(file, below, _status(child))
        elif child.tag == "testsuite":
            yield from _reported(child, file, below)


def _status(test: Element) -> Status:
    if test.find("skipped") is not None:
        return Status.SKIPPED
    return Status.PASSED if test.find("failure") is None else Status.FAILED


def _is_file(one: Reported) -> bool:
    """Whether this is no test but its file, which could not run."""
    return len(one.path) == 1 and one.path[0].endswith(one.file) and one.status is Status.FAILED


def _audit(reported: list[Reported], groups: int, totals: dict[str, int]) -> None:
    """Parents count as tests, and pass or fail by themselves."""
    if not {"tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"} <= totals.keys():
        raise ReportError("the report has no totals")
    counted, parents = Counter(one.status for one in reported), groups - totals["suites"]
    failed = totals["fail"] + totals["cancelled"]
    sums = {
        "tests": (len(reported) + parents, totals["tests"]),
        "skipped": (counted[Status.SKIPPED], totals["skipped"] + totals["todo"]),
        "passed or failed": (counted[Status.PASSED] + counted[Status.FAILED] + parents, totals["pass"] + failed),
    }
    wrong = [f"{name}: {read} read, {said} reported" for name, (read, said) in sums.items() if read != said]
    if counted[Status.FAILED] > failed or counted[Status.PASSED] > totals["pass"]:
        wrong.append(f"failed: {counted[Status.FAILED]} read, {failed} reported")
    if wrong:
        raise ForgedReport("the report does not add up: " + "; ".join(wrong))
