"""Locating an edit's SEARCH lines in a file, and applying the edit.

The lines that the model was shown are searched first, then the whole file. Lines are compared in three ways, the
strictest first: exactly; with white space inside a line as one blank and none at its end; and also without indentation
(the replacement is then shifted by the difference). The first way that finds the lines decides, and it must find them
only once. If none does, blank lines at the ends of SEARCH, line numbers that were copied with the lines, or both are
removed. New lines end as those that they replace; a missing final line end stays missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from magentless.causes import Cause, Ended
from magentless.edits import Edit

LINE = re.compile(r"[^\n]*\n|[^\n]+")
INNER_SPACE = re.compile(r"(?<=\S)\s+")
#: added to the name of a way if blank lines or line numbers were removed
TRIMMED, NUMBERED = ", without blank lines", ", without line numbers"
LINE_END = re.compile(r"\r?\n$")

# name of the way, and the part of a line that is compared
WAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("exact", lambda line: line),
    ("whitespace", lambda line: INNER_SPACE.sub(" ", line).rstrip()),
    ("indentation", lambda line: " ".join(line.split())),
)


#: whether each line of a file was shown; empty if unknown
Shown = Sequence[bool]


@dataclass(frozen=True)
class Match:
    """Where the lines of an edit were found (index of the first line), and in which way."""

    way: str
    start: int
    edit: Edit


class Applied(NamedTuple):
    """The text after an edit, the way in which it matched, and which lines the model now knows."""

    text: str
    way: str
    shown: Shown = ()


def apply_edit(text: str, edit: Edit, shown: Shown = ()) -> Applied:
    """The text after the edit. Raises Ended (SEARCH_MISMATCH)."""
    lines = LINE.findall(text)
    bare = [LINE_END.sub("", line) for line in lines]
    found = find(bare, edit, shown)
    start, edit = found.start, found.edit
    end, replace = start + len(edit.search), edit.replace
    if found.way.startswith("indentation"):
        replace = shifted(replace, edit.search, bare[start:end])
    line_end = _line_end([*lines[start:end], *lines])
    new = [line + line_end for line in replace]
    if new and end == len(lines) and not lines[-1].endswith("\n"):
        new[-1] = replace[-1]
    known = [*shown[:start], *[True] * len(new), *shown[end:]] if shown else ()
    return Applied("".join([*lines[:start], *new, *lines[end:]]), edit.way or found.way, known)


def find(lines: Sequence[str], edit: Edit, shown: Shown = ()) -> Match:
    """The unique position of the edit's SEARCH lines in `lines`. Raises Ended (SEARCH_MISMATCH)."""
    for variant, note in _variants(edit):
        if found := _found(lines, variant, shown):
            return Match(found[0] + note, found[1], variant)
    raise Ended(Cause.SEARCH_MISMATCH, f"{edit.path}: the searched lines do not occur")


def occurs(lines: Sequence[str], edit: Edit) -> bool:
    """Whether the edit's SEARCH lines are anywhere in `lines`, also more than once."""
    return any(any(_all_starts(lines, variant).values()) for variant, _ in _variants(edit))


def _variants(edit: Edit) -> Iterator[tuple[Edit, str]]:
    """The edit and those that were possibly meant, each with a note for the name of its way."""
    bare = edit.unnumbered
    variants = (edit, ""), (edit.trimmed, TRIMMED), (bare, NUMBERED), (bare and bare.trimmed, TRIMMED + NUMBERED)
    return ((variant, note) for variant, note in variants if variant)


def _found(lines: Sequence[str], edit: Edit, shown: Shown) -> tuple[str, int] | None:
    """The way and the position. Raises Ended if there are several."""
    count = len(edit.search)
    all_starts = _all_starts(lines, edit)
    windows = {
        way: [start for start in starts if all(shown[start : start + count])] for way, starts in all_starts.items()
    }
    for way, starts in [*(windows.items() if shown else ()), *all_starts.items()]:
        if len(starts) > 1:
            raise Ended(Cause.SEARCH_MISMATCH, f"{edit.path}: the searched lines occur {len(starts)} times ({way})")
        if starts:
            return way, starts[0]
    return None


def shifted(replace: Sequence[str], search: Sequence[str], found: Sequence[str]) -> tuple[str, ...]:
    """The replacement with each line's indentation changed from that of `search` to that of `found`."""
    old, new = (_indentation(lines) for lines in (search, found))
    return tuple(new + line.removeprefix(old) if line.strip() else line for line in replace)


def _all_starts(lines: Sequence[str], edit: Edit) -> dict[str, list[int]]:
    """The positions of the SEARCH lines, by way."""
    return {
        way: _starts([compared(line) for line in lines], [compared(line) for line in edit.search])
        for way, compared in WAYS
    }


def _starts(lines: list[str], wanted: list[str]) -> list[int]:
    count = len(wanted)
    return [start for start in range(len(lines) - count + 1) if lines[start : start + count] == wanted]


def _indentation(lines: Sequence[str]) -> str:
    first = next((line for line in lines if line.strip()), "")
    return first[: len(first) - len(first.lstrip())]


def _line_end(lines: Sequence[str]) -> str:
    """The end of the first line that has one."""
    return next((found[0] for line in lines if (found := LINE_END.search(line))), "\n")
