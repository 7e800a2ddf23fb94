"""Making expected output in separate files false: stored snapshots, and golden files beside the tests.

A golden file is recognized by its name (`strings.expect.txt`, `expected/menu.html`), or is a fixture with sections
between lines of dashes or equals signs, of which at least one is JSON. Input is never changed, since the right output
for other input is unknown. Does not cover expected output under any other name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from itertools import pairwise

from pipeline.ecosystems.runners.jest.snapshots import entries
from pipeline.execution.falsified import values
from pipeline.execution.falsified.values import Falsified

_NAMED = re.compile(
    r"(?:^|[/._-])(?:expect(?:ed|ations?)?|goldens?|approved|baselines?|outputs?)(?:[/._-]|$)", re.IGNORECASE
)
_DELIMITER = re.compile(r"^\s*(?:-{4,}|={4,})\s*$")
#: a start, an end, and what replaces the text between them
Change = tuple[int, int, str]
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def falsify_snapshots(text: str, lines: Collection[int], around: Collection[int], first: bool) -> Falsified:
    """Change a letter of gold's last line in each snapshot, or of a line next to lines that gold removes."""
    changes: dict[str, Change] = {}
    assertions = 0
    for key, (start, end) in entries(text).items():
        top = text.count("\n", 0, start) + 1
        changeable = _changeable(range(top, top + text.count("\n", start, end) + 1), lines, around)
        assertions += bool(changeable)
        for change in _chosen(list(values.lettered(text, start, end, changeable)), first):
            changes[key] = change
    return Falsified(values.replaced(text, changes.values()), assertions, len(changes), tests=frozenset(changes))


def former_snapshots(before: str, gold: str) -> Falsified:
    """Gold's snapshots, with the former version of those that differ."""
    earlier = {key: before[start:end] for key, (start, end) in entries(before).items()}
    changes = {
        key: (start, end, earlier[key])
        for key, (start, end) in entries(gold).items()
        if earlier.get(key, gold[start:end]) != gold[start:end]
    }
    return Falsified(values.replaced(gold, changes.values()), tests=frozenset(changes))


def falsify_golden(path: str, text: str, lines: Collection[int], around: Collection[int], first: bool) -> Falsified:
    """Change a letter of the last line of expected output that is gold's, or is next to lines that gold removes."""
    if _NAMED.search(path):
        changeable = _changeable(range(1, text.count("\n") + 2), lines, around)
        changes = list(values.lettered(text, 0, len(text), changeable))
    else:
        changeable = _changeable(list(_in_json(text)), lines, around)
        changes = list(_in_strings(text, changeable))
    chosen = _chosen(changes, first)
    tests = None if chosen else frozenset[str]()
    return Falsified(values.replaced(text, chosen), int(bool(changeable)), len(chosen), tests=tests)


def _changeable(numbers: Collection[int], lines: Collection[int], around: Collection[int]) -> list[int]:
    """Those of some lines that are gold's: the added ones, else those around removed ones."""
    return [number for number in numbers if number in lines] or [number for number in numbers if number in around]


def _chosen(changes: list[Change], first: bool) -> list[Change]:
    """The last change; with `first`, the first one of several."""
    return changes[-1:] if not first else changes[:1] if len(changes) > 1 else []


def _in_json(text: str) -> Iterator[int]:
    """The numbers of the lines in sections of JSON; none without a delimiter."""
    rows = text.split("\n")
    delimiters = [number for number, row in enumerate(rows, 1) if _DELIMITER.match(row)]
    for start, end in pairwise([0, *delimiters, len(rows) + 1]):
        if delimiters and _is_json("\n".join(rows[start : end - 1])):
            yield from range(start + 1, end)


def _is_json(text: str) -> bool:
    """Whether a text is a list or an object of JSON."""
    try:
        return isinstance(json.loads(text), list | dict)
    except (ValueError, RecursionError):
        return False


def _in_strings(text: str, lines: Collection[int]) -> Iterator[Change]:
    """A change of one letter in the last string of each of these lines that has one, so that JSON stays JSON."""
    start = 0
    for number, row in enumerate(text.split("\n"), 1):
        spans = [match.span(1) for match in _STRING.finditer(row) if values.has_letters(match[1])]
        if number in lines and spans:
            left, right = spans[-1]
            yield start + left, start + right, values.altered(row[left:right])
        start += len(row) + 1
