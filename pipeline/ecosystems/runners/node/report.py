"""The JUnit report of `node --test` (Node 18 and later, by `reporter.mjs`): a suite for each file around its own.

A test with sub-tests is a suite there; its own result is in the totals only. The reporter writes failed hooks of groups
as comments.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from pipeline.core.records import Status
from pipeline.ecosystems.reports import ForgedReport, Report, Reported, ReportError, collect, relative

_TOTAL = re.compile(rb"<!-- (tests|suites|pass|fail|cancelled|skipped|todo) (\d+) -->")
#: how every report begins: nothing can define entities before that
_BEGINNING = re.compile(rb"(?:<\?xml [^>]{0,80}\?>)?\s*<testsuites>")
#: characters that XML 1.0 forbids, which a message or a title may contain, and references to characters
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REFERENCE = re.compile("&#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));")
_HOOK = re.compile(rb"^<!-- hook (\S+) -->$", re.MULTILINE)


def read(text: bytes, root: str) -> Report:
    """Read the report. Raises ReportError if it is broken or does not add up."""
    if not _BEGINNING.match(text):
        raise ReportError("the report does not begin as Node's do")
    try:
        files = list(ElementTree.fromstring(_allowed(text)))
    except (ElementTree.ParseError, ValueError) as error:
        raise ReportError(f"the report is not XML: {error}") from error
    totals = {name.decode(): int(number) for name, number in _TOTAL.findall(text)}
    reported = [test for file in files for test in _reported(file, relative(file.get("name", ""), root), ())]
    broken = {test.file for test in reported if _is_file(test)}
    broken |= {relative(unquote(name.decode()), root) for name in _HOOK.findall(text)}
    tests = [test for test in reported if not _is_file(test)]
    groups = sum(1 for file in files for _ in file.iter("testsuite")) - len(files)
    _audit(reported, groups, totals)
    suites = {test.file: Status.FAILED if test.file in broken else Status.PASSED for test in reported}
    return collect(tests, suites, totals["fail"] + totals["cancelled"] == 0)


def _allowed(text: bytes) -> str:
    """The report with U+FFFD in place of what XML forbids: Node writes colors of messages as they are."""
    return _REFERENCE.sub(_referred, _FORBIDDEN.sub("\ufffd", text.decode(errors="replace")))


def _referred(reference: re.Match[str]) -> str:
    number = int(reference[1], 16) if reference[1] else int(reference[2])
    is_allowed = number <= sys.maxunicode and not _FORBIDDEN.match(chr(number))
    return reference[0] if is_allowed else "\ufffd"


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


def _is_file(test: Reported) -> bool:
    """Whether this is not a test but a file that could not run."""
    return len(test.path) == 1 and test.path[0].endswith(test.file) and test.status is Status.FAILED


def _audit(reported: list[Reported], groups: int, totals: dict[str, int]) -> None:
    """Compare with the totals, in which parents also count as tests that pass or fail."""
    if not {"tests", "suites", "pass", "fail", "cancelled", "skipped", "todo"} <= totals.keys():
        raise ReportError("the report has no totals")
    counted, parents = Counter(test.status for test in reported), groups - totals["suites"]
    failed = totals["fail"] + totals["cancelled"]
    sums = {
        "tests": (len(reported) + parents, totals["tests"]),
        "skipped": (counted[Status.SKIPPED], totals["skipped"] + totals["todo"]),
        "passed or failed": (counted[Status.PASSED] + counted[Status.FAILED] + parents, totals["pass"] + failed),
    }
    differing = {name: pair for name, pair in sums.items() if pair[0] != pair[1]}
    mismatches = [f"{name}: {actual} read, {expected} reported" for name, (actual, expected) in differing.items()]
    if counted[Status.FAILED] > failed or counted[Status.PASSED] > totals["pass"]:
        mismatches.append(f"failed: {counted[Status.FAILED]} read, {failed} reported")
    if mismatches:
        raise ForgedReport("the report does not add up: " + "; ".join(mismatches))
