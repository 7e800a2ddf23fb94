"""The results of a run's tests, for every runner: the type that all readers return, and helpers that they share.

A test is named `file > group > title`. Names contain no durations, two files never share one, and the second of two
equal names in a file gets ` [2]`. Every reader checks itself: what it reads must add up to the runner's own totals.
"""

from __future__ import annotations

import json
import re
from collections import Counter, deque
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from pydantic_core import from_json

from pipeline.core.errors import A11yBenchError
from pipeline.core.records import Status
from pipeline.core.store import digest

#: the largest number that a message shows: Python refuses to write very large ones
_MOST = 10**9
_SURROGATE = re.compile("[\ud800-\udfff]")
#: color codes, and the stack after an error's message
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_STACK = re.compile(r"\n[ \t]+at .*", re.DOTALL)

#: name of a test's result in JavaScript runners -> its status
STATUSES = {
    "passed": Status.PASSED,
    "failed": Status.FAILED,
    "pending": Status.SKIPPED,
    "skipped": Status.SKIPPED,
    "disabled": Status.SKIPPED,
    "todo": Status.SKIPPED,
}


#: messages of a failure by screenshot: jest-image-snapshot, Playwright, Vitest 4, tools that count pixels
SCREENSHOT = re.compile(
    r"to(?:MatchImageSnapshot|HaveScreenshot|MatchScreenshot)\b|Screenshot comparison failed"
    r"|Expected image to (?:match|be the same size)|Visual diff failed"
    r"|\bDifference: \d+ ?px\b|\d pixels? (?:\(ratio|are different)"
)


#: the line at its end with which Vitest counts errors that belong to no test; its JSON report lacks them
_UNHANDLED = re.compile(
    rb"^(?:\x1b\[[\d;]*m)*Vitest caught (\d{1,9}) unhandled errors? during the test run\b", re.MULTILINE
)
#: such errors of the runner's own processes, on a slow machine
_TOO_SLOW = re.compile(
    rb"\[(?:vitest-\w+|birpc)\]:? (?:timeout (?:on )?(?:calling|starting)|failed to start)\b", re.IGNORECASE
)


#: the name of failures outside any file, such as in a hook of all files, and of those whose file the runner hides
EVERYWHERE = "(all files)"


class ReportError(A11yBenchError):
    """A report that is missing, broken, or does not add up."""


class ForgedReport(ReportError):
    """A report that is complete but contradicts itself: its tests do not match its totals."""


class Reported(NamedTuple):
    """One test as the runner reported it; `file` is empty if the runner does not report it. `reason` is the digest of
    the failure messages (`reason_digest`), empty if the report has none."""

    file: str
    path: tuple[str, ...]
    status: Status
    by_snapshot: bool = False
    by_screenshot: bool = False
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """One run: `tests` by name, `suites` by file, tests that failed by snapshot alone, and tests that failed by
    screenshot, which decide nothing, since they compare with another machine. `reasons` has digests of failure
    messages.

    A suite is FAILED if the file could not run at all or, for every runner, if a hook of a group or of the file
    (`beforeAll`, `afterAll`) failed; its tests then keep the status that the runner reports."""

    tests: dict[str, Status]
    suites: dict[str, Status]
    by_snapshot: frozenset[str] = field(default=frozenset())
    success: bool = True
    by_screenshot: frozenset[str] = field(default=frozenset())
    reasons: dict[str, str] = field(default_factory=dict)


def collect(reported: Iterable[Reported], suites: dict[str, Status], success: bool) -> Report:
    """Name the tests and build a report."""
    tests: dict[str, Status] = {}
    reasons: dict[str, str] = {}
    numbers: dict[str, int] = {}
    by_snapshot, by_screenshot = set(), set()
    for file, path, status, is_snapshot, is_screenshot, reason in reported:
        name = unique_name(" > ".join((file, *path) if file else path), tests, numbers)
        tests[name] = status
        if is_snapshot:
            by_snapshot.add(name)
        if is_screenshot:
            by_screenshot.add(name)
        if reason:
            reasons[name] = reason
    return Report(tests, suites, frozenset(by_snapshot), success, frozenset(by_screenshot), reasons)


def has_unhandled(log: bytes) -> bool:
    """Whether the runner's output counts errors that belong to no test, other than those of its own processes."""
    last = deque(_UNHANDLED.finditer(log), maxlen=1)
    return any(int(found[1]) > len(_TOO_SLOW.findall(log, found.end())) for found in last)


def reason_digest(messages: Iterable[str]) -> str:
    """The digest of a test's failure messages, without colors and stacks; empty if there are none."""
    plain = [_STACK.sub("", _COLOUR.sub("", message)).strip() for message in messages]
    return digest(plain)[:16] if plain else ""


def unique_name(name: str, taken: Collection[str], numbers: dict[str, int]) -> str:
    """The name, with the first free number if it is taken; a title may itself end in `[2]`. `numbers` remembers the
    last number by name, since a report may repeat one name many times."""
    if name not in taken:
        return name
    candidates = ((number, f"{name} [{number}]") for number in count(numbers.get(name, 1) + 1))
    numbers[name], free = next(pair for pair in candidates if pair[1] not in taken)
    return free


def audit(statuses: Iterable[Status], totals: dict[Status, int]) -> None:
    """Raise ForgedReport unless the tests' statuses add up to the runner's own totals."""
    counted = Counter(statuses)
    mismatches = [f"{s}: {counted[s]} read, {min(n, _MOST)} reported" for s, n in totals.items() if counted[s] != n]
    if mismatches:
        raise ForgedReport("the report does not add up: " + "; ".join(mismatches))


def load(text: bytes) -> dict[str, Any]:
    """Parse JSON. Raises ReportError, or ForgedReport if more text follows, since the runner writes only one report."""
    try:
        data = _parsed(text)
    except (ValueError, RecursionError) as error:
        if _ends_early(text):
            raise ForgedReport("there is more than one report") from error
        raise ReportError(f"the report is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise ReportError("the report is not a JSON object")
    return data


def _ends_early(text: bytes) -> bool:
    """Whether a text begins with a complete object that other text follows."""
    try:
        return isinstance(json.JSONDecoder().raw_decode(text.decode().lstrip())[0], dict)
    except (ValueError, RecursionError):
        return False


def _parsed(text: bytes) -> Any:
    """Parse JSON with a fast reader. It rejects lone surrogates, which no record can hold: they become U+FFFD."""
    try:
        return from_json(text)
    except ValueError:
        return json.loads(_SURROGATE.sub("\ufffd", json.dumps(json.loads(text), ensure_ascii=False)))


def relative(name: str, root: str) -> str:
    """A file's path in the repository."""
    return name.removeprefix(root.rstrip("/") + "/")
