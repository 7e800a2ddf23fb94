"""A patch side by side: the old text on the left, the new text on the right. Pure.

Binary patches and modes are shown by their headers only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$")


class Line(NamedTuple):
    """One row: line numbers and texts of both sides, None if a side has no line. `kind` is `same`, `changed`, or
    `place`, a hunk's heading, whose text is `old`."""

    kind: str
    old_number: int | None = None
    old: str | None = None
    number: int | None = None
    new: str | None = None


class File(NamedTuple):
    """`headers` are its other headers: renames, modes, binaries."""

    name: str
    headers: tuple[str, ...]
    lines: list[Line]
    added: int
    removed: int


def files(patch: str) -> list[File]:
    """The files of a patch, in the patch's order."""
    parts = re.split(r"^(?=diff --git )", patch, flags=re.MULTILINE)
    return [_file(part.rstrip("\n").split("\n")) for part in parts if part.startswith("diff --git ")]


def _file(lines: list[str]) -> File:
    first = next((index for index, line in enumerate(lines) if line.startswith("@@ ")), len(lines))
    head = lines[:first]
    rows = list(_rows(lines[first:]))
    names = [line[6:] for line in head if line.startswith(("+++ b/", "--- a/"))]
    name = names[-1] if names else head[0].removeprefix("diff --git ").rpartition(" b/")[2]
    headers = tuple(line for line in head[1:] if not line.startswith(("index ", "--- ", "+++ ")))
    changed = [row for row in rows if row.kind == "changed"]
    return File(
        name, headers, rows, sum(row.new is not None for row in changed), sum(row.old is not None for row in changed)
    )


def _rows(lines: list[str]) -> Iterator[Line]:
    old = new = old_left = new_left = 0
    removed: list[str] = []
    added: list[str] = []
    for line in lines:
        heading = _HUNK.match(line) if old_left <= 0 and new_left <= 0 else None
        if heading:
            yield from _paired(removed, added, old, new)
            removed, added = [], []
            old, new = int(heading[1]), int(heading[3])
            old_left, new_left = int(heading[2] or 1), int(heading[4] or 1)
            yield Line("place", old=line)
        elif line.startswith("-"):
            if added:
                yield from _paired(removed, added, old, new)
                old, new, removed, added = old + len(removed), new + len(added), [], []
            removed.append(line[1:])
            old_left -= 1
        elif line.startswith("+"):
            added.append(line[1:])
            new_left -= 1
        elif not line.startswith("\\"):
            yield from _paired(removed, added, old, new)
            old, new, removed, added = old + len(removed), new + len(added), [], []
            yield Line("same", old, line[1:], new, line[1:])
            old, new, old_left, new_left = old + 1, new + 1, old_left - 1, new_left - 1
    yield from _paired(removed, added, old, new)


def _paired(removed: list[str], added: list[str], old: int, new: int) -> Iterator[Line]:
    for index, (before, after) in enumerate(zip_longest(removed, added)):
        old_number = None if before is None else old + index
        new_number = None if after is None else new + index
        yield Line("changed", old_number, before, new_number, after)
