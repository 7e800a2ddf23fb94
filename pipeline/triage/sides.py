"""A patch side by side: the old text on the left, the new text on the right. Pure.

Binary patches and modes are shown by their headers only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import NamedTuple

from pipeline.core.patches import sections

#: the header before the content of a binary file, which is not shown
_BINARY = "GIT binary patch"
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
    """The files of a patch, in the patch's order. Bytes of a name that are not UTF-8 become escapes."""
    return [
        _file(name.encode(errors="surrogateescape").decode(errors="backslashreplace"), part.rstrip("\n").split("\n"))
        for name, part in sections(patch)
    ]


def _file(name: str, lines: list[str]) -> File:
    first = next((index for index, line in enumerate(lines) if line.startswith("@@ ")), len(lines))
    head = lines[1:first]
    if _BINARY in head:
        head = head[: head.index(_BINARY) + 1]
    rows = list(_rows(lines[first:]))
    headers = tuple(line for line in head if not line.startswith(("index ", "--- ", "+++ ")))
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
