"""Hunks of gold, gold without one of them, and a file's part of gold's patch with another text. Pure.

A hunk is a block of changed lines beside each other. One whose lines have no effect when the program runs (remarks,
types, blank lines, the order of attributes aside) is none; neither is one of a file that is no code.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from pipeline.dataset.audit.code import Code

Block = tuple[int, int, int, int]
#: blocks that may go together as one hunk
_TOGETHER = 8


class Hunk(NamedTuple):
    """The first of its lines in gold's text (from 1), and the text without it."""

    line: int
    text: bytes


def lines_of(text: bytes) -> list[bytes]:
    """Lines with their ends, as git counts them."""
    return re.findall(rb"[^\n]*\n|[^\n]+$", text)


def section(gold: str, base: bytes, text: bytes) -> str:
    """A file's part of a patch: gold's, which has its names and modes, with another text; empty where it is the base's.

    Raises UnicodeDecodeError for a text that is no UTF-8.
    """
    head = gold[: gold.index("\n@@ ") + 1].splitlines(keepends=True)
    changed = difflib.diff_bytes(difflib.unified_diff, lines_of(base), lines_of(text), lineterm=b"\n")
    body = [line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in changed][2:]
    return "".join(
        [line for line in head if not line.startswith("index ")] + [line.decode() for line in body] if body else []
    )


def changed_lines(base: bytes, gold: bytes) -> frozenset[int]:
    """The lines of gold's text, from 1, that are not the base's."""
    blocks = _blocks(lines_of(base), lines_of(gold))
    return frozenset(line + 1 for _, _, start, end in blocks for line in range(start, end))


def hunks(base: bytes, code: Code) -> Iterator[Hunk]:
    """Each hunk of a file that gold changed, or made (of no base): then its whole is one.

    Blocks of which one cannot be left out without the next (the two ends of an element) are one hunk.
    """
    before, after = lines_of(base), lines_of(code.text)
    waiting = _blocks(before, after)
    while waiting:
        made = (replace(code, text=_without(before, after, waiting[:n])) for n in range(1, _TOGETHER + 1))
        count = next((n for n, one in enumerate(made, 1) if one.faults <= code.faults), 1)
        without = _without(before, after, waiting[:count])
        if replace(code, text=without).effective != code.effective:
            yield Hunk(waiting[0][2] + 1, without)
        waiting = waiting[count:]


def _without(before: list[bytes], after: list[bytes], blocks: list[Block]) -> bytes:
    """The text with some blocks as they were before."""
    lines = list(after)
    for old, old_end, new, new_end in reversed(blocks):
        lines[new:new_end] = before[old:old_end]
    return b"".join(lines)


def _blocks(before: list[bytes], after: list[bytes]) -> list[Block]:
    """Places in both texts that differ: start and end there, start and end here."""
    found = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(a, b, c, d) for kind, a, b, c, d in found if kind != "equal"]
