"""Expected output in files of its own, made false: stored snapshots, and golden files beside the tests.

A golden file is named for it (`strings.expect.txt`, `expected/menu.html`), or is a fixture whose sections stand between
lines of dashes or equals signs, of which at least one is JSON. Input is never changed: nobody knows what another patch
makes of other input. Does not cover expected output under any other name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator

from pipeline.ecosystems.runners.jest.snapshots import entries
from pipeline.execution.falsified import values
from pipeline.execution.falsified.values import Falsified

_NAMED = re.compile(
    r"(?:^|[/._-])(?:expect(?:ed|ations?)?|goldens?|approved|baselines?|outputs?)(?:[/._-]|$)", re.IGNORECASE
)
_DELIMITER = re.compile(r"^\s*(?:-{4,}|={4,})\s*$")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def falsify_snapshots(text: str, lines: Collection[int], around: Collection[int], first: bool) -> Falsified:
    """Change a letter of gold's last line in each snapshot, or of a line next to those that gold removes."""
    changes, assertions = [], 0
    for start, end in entries(text):
        top = text.count("\n", 0, start) + 1
        span = range(top, top + text.count("\n", start, end) + 1)
        changeable = [number for number in span if number in lines] or [number for number in span if number in around]
        assertions += bool(changeable)
        letters = list(values.lettered(text, start, end, changeable))
        if letters and (not first or len(letters) > 1):
            changes.append(letters[0 if first else -1])
    return Falsified(values.replaced(text, changes), assertions, len(changes))


def falsify_golden(path: str, text: str, lines: Collection[int], around: Collection[int], first: bool) -> Falsified:
    """Change a letter of the last line of expected output that is gold's, or next to those that gold removes."""
    expected = list(_expected(path, text))
    changeable = [number for number in expected if number in lines] or [n for n in expected if n in around]
    changes = list(_changes(text.split("\n"), changeable, quoted=not _NAMED.search(path)))
    if not changes or (first and len(changes) < 2):
        return Falsified(text, bool(changeable))
    number, line = changes[0 if first else -1]
    return Falsified(_with_line(text, number, line), 1, 1)


def _expected(path: str, text: str) -> Iterator[int]:
    """The numbers of the lines that hold expected output."""
    rows = text.split("\n")
    if _NAMED.search(path):
        yield from range(1, len(rows) + 1)
        return
    starts = [0, *(number for number, row in enumerate(rows, 1) if _DELIMITER.match(row))]
    for start, end in zip(starts, [*(start - 1 for start in starts[1:]), len(rows)], strict=True):
        if len(starts) > 1 and _is_json("\n".join(rows[start:end])):
            yield from range(start + 1, end + 1)


def _is_json(text: str) -> bool:
    """Whether a text is a list or an object of JSON."""
    try:
        return isinstance(json.loads(text), list | dict)
    except ValueError:
        return False


def _changes(rows: list[str], numbers: Collection[int], *, quoted: bool) -> Iterator[tuple[int, str]]:
    """These lines with another letter; `quoted` is within their last string, so that JSON stays JSON."""
    for number in numbers:
        row = rows[number - 1]
        if not quoted and values.has_letters(row):
            yield number, values.false_line(row)
        strings = [match for match in _STRING.finditer(row) if values.has_letters(match[1])] if quoted else []
        if strings:
            start, end = strings[-1].span(1)
            yield number, row[:start] + values.altered(row[start:end]) + row[end:]


def _with_line(text: str, number: int, line: str) -> str:
    rows = text.split("\n")
    return "\n".join([*rows[: number - 1], line, *rows[number:]])
