"""The output of Jest with `--verbose` (Jest 20 and later), if there is no report: a tree of tests for each file.

    FAIL src/Menu.test.js (5.1 s)
      Menu
        ✓ opens (12 ms)
        ○ skipped later

Output of the tests themselves, between the trees, is skipped. Before Jest 24, skipped tests have a number and no names.
Does not cover titles of several lines, and titles that end like a duration, which is removed.
"""

from __future__ import annotations

import re
from functools import lru_cache

from pipeline.core.records import Status
from pipeline.ecosystems.reports import Report, ReportError, audit, unique_name

MARKS = {
    "✓": Status.PASSED,
    "√": Status.PASSED,
    "✕": Status.FAILED,
    "×": Status.FAILED,
    "○": Status.SKIPPED,
    "✎": Status.SKIPPED,
}
#: the duration or memory after a test or file: `(5.1 s)`, `(12ms)`, `(1 m 2 s)`, `(43 MB heap size)`
_DURATION = re.compile(r" \((?:[\d.,]+ ?(?:ms|s|m|h)(?: [\d.]+ s)?|[\d.]+ [kMG]?B heap size)\)")

#: a file's line, with the preceding line break; old versions put blanks around the word
_HEADER = re.compile(rb"\n ?(PASS|FAIL) +([^\n]*)")
#: the first line of a tree: a title or a mark at the first level, but not a failure message or output of a test
_TREE = re.compile("  (?! |●|console\\.)")
_UNNAMED = re.compile(r"skipped (\d+) tests?$")
#: more skipped tests than any group has: a number that code under test printed
_MOST = 100_000
_WORD = re.compile(r"^(?:skipped|todo) ")
_TOTALS = {Status.PASSED: ("passed",), Status.FAILED: ("failed",), Status.SKIPPED: ("skipped", "todo")}


def read(text: bytes, root: str) -> Report:
    """Read a log. Raises ReportError if it has no totals or does not add up to them."""
    text = text.replace(b"\r\n", b"\n")
    end = text.rfind(b"\nTests: ")
    if end < 0:
        raise ReportError("the log ends without Jest's totals")
    summary = text.rfind(b"\nSummary of all failing tests\n", 0, end)
    tests, suites = _files(b"\n" + text[: summary if summary >= 0 else end])
    counts = _numbers(text, b"\nTests: ")
    audit(tests.values(), {status: sum(counts.get(word, 0) for word in words) for status, words in _TOTALS.items()})
    failed = counts.get("failed", 0) + _numbers(text, b"\nTest Suites: ").get("failed", 0)
    return Report(tests, suites, success=failed == 0)


def _numbers(text: bytes, label: bytes) -> dict[str, int]:
    """The counts of one of the last lines: `Tests: 1 failed, 7 passed, 8 total`."""
    line = text[text.rfind(label) + len(label) :].partition(b"\n")[0].decode(errors="replace")
    return {word: int(number) for number, word in re.findall(r"\b(\d+) (\w+)", line)}


def _files(text: bytes) -> tuple[dict[str, Status], dict[str, Status]]:
    """The tests by name, and the files."""
    headers = list(_HEADER.finditer(text))
    ends = [*(header.start() for header in headers), len(text)][1:]
    tests: dict[str, Status] = {}
    suites: dict[str, Status] = {}
    numbers: dict[str, int] = {}
    for header, end in zip(headers, ends, strict=True):
        file = without_durations(header[2].decode(errors="replace").rstrip()).rpartition(" ")[2]
        lines = _tree(text, header.end() + 1, end)
        suites[file] = Status.PASSED if lines else Status.FAILED
        try:
            _read_tree(file, lines, tests, numbers)
        except IndexError:
            raise ReportError(f"the tests of {file} are not a tree") from None
    return tests, suites


def _tree(text: bytes, start: int, end: int) -> list[str]:
    """The lines of a file's tree: the first paragraph below its line, or (before Jest 22) the last one that matches."""
    first = text.find(b"\n\n", start, end)
    paragraph = text[start : first if first >= 0 else end].decode(errors="replace")
    if _TREE.match(paragraph):
        return lines_of(paragraph)
    paragraphs = text[start:end].decode(errors="replace").split("\n\n") if b"\n\n  " in text[start:end] else []
    return next((lines_of(block) for block in reversed(paragraphs) if _TREE.match(block)), [])


def lines_of(text: str) -> list[str]:
    """The lines of a text that are not empty. A title may contain other characters that end a line in Unicode."""
    return [line for line in text.split("\n") if line]


def _read_tree(file: str, lines: list[str], tests: dict[str, Status], numbers: dict[str, int]) -> None:
    """Add the tests of a file. `names[n]` is the prefix of names at level n; a level is indented by two blanks."""
    names = [f"{file} > "]
    for line in lines:
        title = line.lstrip(" ")
        depth = (len(line) - len(title)) // 2 - 1
        status = MARKS.get(title[0])
        if status is None:
            names[depth + 1 :] = [f"{names[depth]}{title} > "]
        elif status is Status.SKIPPED:
            _add_skipped(names[depth], title[2:], tests, numbers)
        else:
            tests[unique_name(names[depth] + without_durations(title[2:]), tests, numbers)] = status


def _add_skipped(group: str, title: str, tests: dict[str, Status], numbers: dict[str, int]) -> None:
    """Add one skipped test, or before Jest 24 as many as the title says."""
    unnamed = _UNNAMED.match(title)
    name = "(skipped)" if unnamed else without_durations(_WORD.sub("", title))
    skipped = int(unnamed[1]) if unnamed else 1
    if skipped > _MOST:
        raise ReportError(f"no group has {skipped} tests")
    for _ in range(skipped):
        tests[unique_name(group + name, tests, numbers)] = Status.SKIPPED


def without_durations(title: str) -> str:
    """A title without the durations after it."""
    while title.endswith(")") and _is_duration(title[(start := title.rfind(" (")) :]):
        title = title[:start]
    return title


@lru_cache(maxsize=10_000)
def _is_duration(text: str) -> bool:
    return bool(_DURATION.fullmatch(text))
