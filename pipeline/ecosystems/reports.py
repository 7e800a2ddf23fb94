"""What the tests of a run said, whatever the runner: the record that all readers give, and what they share.

A test is `file > group > title`: its name holds no duration, two files never share one, and the second of two equal
names in a file is `… [2]`. Every reader audits itself: what it read must add up to the runner's own totals.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

from pydantic_core import from_json

from pipeline.core.errors import A11yBenchError
from pipeline.core.records import Status
from pipeline.core.store import digest

_SURROGATE = re.compile("[\ud800-\udfff]")
#: colours, and where the message of an error ends and its stack begins
_COLOUR = re.compile(r"\x1b\[[\d;]*m")
_STACK = re.compile(r"\n\s+at .*", re.DOTALL)

#: how runners in JavaScript call what became of a test
STATUSES = {
    "passed": Status.PASSED,
    "failed": Status.FAILED,
    "pending": Status.SKIPPED,
    "skipped": Status.SKIPPED,
    "disabled": Status.SKIPPED,
    "todo": Status.SKIPPED,
}


#: how a failure by a screenshot reads: jest-image-snapshot, Playwright, Vitest 4, what counts pixels
SCREENSHOT = re.compile(
    r"to(?:MatchImageSnapshot|HaveScreenshot|MatchScreenshot)\b|Screenshot comparison failed"
    r"|Expected image to (?:match|be the same size)|\bDifference: \d+ ?px\b|\d+ pixels? (?:\(ratio|are different)"
)


#: what failed in no file of its own: a hook of all files
EVERYWHERE = "(all files)"


class ReportError(A11yBenchError):
    """A report that is missing, broken, or does not add up."""


class ForgedReport(ReportError):
    """A report that is whole and contradicts itself: its tests are not those that its totals count."""


class Reported(NamedTuple):
    """One test as the runner reported it; `file` is empty where the runner knows of none. `said` is the digest of why
    it failed (`why`), empty where the report does not tell."""

    file: str
    path: tuple[str, ...]
    status: Status
    by_snapshot: bool = False
    by_screenshot: bool = False
    said: str = ""


@dataclass(frozen=True)
class Report:
    """One run: `tests` by name, `suites` by file, tests that failed by snapshot only, and those that failed by a
    screenshot, which is no test: it says what another machine drew. `said` is why tests failed, as a digest by name.

    A suite is FAILED when the file could not run at all, and with every runner alike when a hook of a group or of the
    file (`beforeAll`, `afterAll`) failed; its tests then stay what the runner calls them."""

    tests: dict[str, Status]
    suites: dict[str, Status]
    by_snapshot: frozenset[str] = field(default=frozenset())
    success: bool = True
    by_screenshot: frozenset[str] = field(default=frozenset())
    said: dict[str, str] = field(default_factory=dict)


def collect(reported: Iterable[Reported], suites: dict[str, Status], success: bool) -> Report:
    """Name the tests and put a report together."""
    tests: dict[str, Status] = {}
    said: dict[str, str] = {}
    by_snapshot, by_screenshot = set(), set()
    for file, path, status, alone, drawn, why_so in reported:
        name = free(" > ".join((file, *path) if file else path), tests)
        tests[name] = status
        if alone:
            by_snapshot.add(name)
        if drawn:
            by_screenshot.add(name)
        if why_so:
            said[name] = why_so
    return Report(tests, suites, frozenset(by_snapshot), success, frozenset(by_screenshot), said)


def why(messages: Iterable[str]) -> str:
    """The digest of why a test failed: its messages without colours and stacks; empty for none."""
    plain = [_STACK.sub("", _COLOUR.sub("", message)).strip() for message in messages]
    return digest(plain)[:16] if plain else ""


def free(name: str, taken: Collection[str]) -> str:
    """The name, or with the first number that is not taken; a title may itself end in `[2]`."""
    if name not in taken:
        return name
    return next(one for one in (f"{name} [{number}]" for number in count(2)) if one not in taken)


def audit(statuses: Iterable[Status], totals: dict[Status, int]) -> None:
    """Raise ForgedReport unless the tests' statuses add up to the runner's own totals."""
    counted = Counter(statuses)
    wrong = [f"{s}: {counted[s]} read, {n} reported" for s, n in totals.items() if counted[s] != n]
    if wrong:
        raise ForgedReport("the report does not add up: " + "; ".join(wrong))


def load(text: bytes) -> dict[str, Any]:
    """Parse the JSON. Raises ReportError; ForgedReport where there is more behind it: the runner writes once."""
    try:
        data = _parsed(text)
    except (ValueError, RecursionError) as error:
        if _ends_early(text):
            raise ForgedReport("there is more than one report") from error
        raise ReportError(f"the report is no JSON: {error}") from error
    if not isinstance(data, dict):
        raise ReportError("the report is no JSON object")
    return data


def _ends_early(text: bytes) -> bool:
    """Whether a text begins with a whole object, and goes on."""
    try:
        return isinstance(json.JSONDecoder().raw_decode(text.decode().lstrip())[0], dict)
    except (ValueError, RecursionError):
        return False


def _parsed(text: bytes) -> Any:
    """By a fast reader, which refuses half an emoji (a lone surrogate): no record could hold one, so U+FFFD does."""
    try:
        return from_json(text)
    except ValueError:
        return json.loads(_SURROGATE.sub("\ufffd", json.dumps(json.loads(text), ensure_ascii=False)))


def relative(name: str, root: str) -> str:
    """A file's path in the repository."""
    return name.removeprefix(root.rstrip("/") + "/")
