"""Where an edit's SEARCH lines stand in a file, and the file after the edit.

Three ways of comparing lines, strictest first; the first that finds the lines decides, and it must find them once:
exact; with any white space inside a line as one blank and none at its end; and without indentation too (the replacement
is then shifted by the difference).
Line ends and a missing final line end stay as the file has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from magentless.causes import Cause, Ended
from magentless.edits import Edit

LINE = re.compile(r"[^\n]*\n|[^\n]+")
INNER_SPACE = re.compile(r"(?<=\S)\s+")
LINE_END = re.compile(r"\r?\n$")

# name of the way, what of a line is compared
WAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("exact", lambda line: line),
    ("whitespace", lambda line: INNER_SPACE.sub(" ", line).rstrip()),
    ("indentation", lambda line: " ".join(line.split())),
)


@dataclass(frozen=True)
class Match:
    """Where the lines were found (index of the first), and by which way."""

    way: str
    start: int


def apply_edit(text: str, edit: Edit) -> tuple[str, str]:
    """The text after the edit, and the way in which it matched. Raises Ended (SEARCH_MISMATCH)."""
    lines = LINE.findall(text)
    bare = [LINE_END.sub("", line) for line in lines]
    found = find(bare, edit)
    end = found.start + len(edit.search)
    replace = edit.replace
    if found.way == "indentation":
        replace = shifted(replace, edit.search, bare[found.start : end])
    new = [line + _line_end(lines) for line in replace]
    if new and end == len(lines) and not lines[-1].endswith("\n"):
        new[-1] = replace[-1]
    return "".join([*lines[: found.start], *new, *lines[end:]]), found.way


def find(lines: Sequence[str], edit: Edit) -> Match:
    """The one place of the edit's SEARCH lines in `lines`. Raises Ended (SEARCH_MISMATCH)."""
    for way, compared in WAYS:
        wanted = [compared(line) for line in edit.search]
        starts = _starts([compared(line) for line in lines], wanted)
        if len(starts) == 1:
            return Match(way, starts[0])
        if starts:
            raise Ended(Cause.SEARCH_MISMATCH, f"{edit.path}: the searched lines occur {len(starts)} times ({way})")
    raise Ended(Cause.SEARCH_MISMATCH, f"{edit.path}: the searched lines do not occur")


def shifted(replace: Sequence[str], search: Sequence[str], found: Sequence[str]) -> tuple[str, ...]:
    """The replacement with the indentation of `search` taken off each line and that of `found` put on."""
    old, new = (_indentation(lines) for lines in (search, found))
    return tuple(new + line.removeprefix(old) if line.strip() else line for line in replace)


def _starts(lines: list[str], wanted: list[str]) -> list[int]:
    count = len(wanted)
    return [start for start in range(len(lines) - count + 1) if lines[start : start + count] == wanted]


def _indentation(lines: Sequence[str]) -> str:
    first = next((line for line in lines if line.strip()), "")
    return first[: len(first) - len(first.lstrip())]


def _line_end(lines: Sequence[str]) -> str:
    """The line end of the file, which is that of its first line."""
    found = LINE_END.search(lines[0])
    return found[0] if found else "\n"
