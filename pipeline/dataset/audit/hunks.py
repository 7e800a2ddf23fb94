"""The hunks of gold, gold without one of them, and the part of gold's patch for one file with another text. Pure.

A hunk is a block of adjacent changed lines. Blocks without an effect at run time (only comments, types, blank lines,
the order of attributes) do not count, and neither do files that are not code.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from pipeline.dataset.audit.code import Code

Block = tuple[int, int, int, int]
#: the largest number of blocks that form one hunk
_TOGETHER = 8


class Hunk(NamedTuple):
    """The number of its first line in gold's text (from 1), and gold's text without it."""

    line: int
    text: bytes


def lines_of(text: bytes) -> list[bytes]:
    """Lines with their line ends, as git counts them."""
    return re.findall(rb"[^\n]*\n|[^\n]+$", text)


def section(gold: str, base: bytes, text: bytes) -> str:
    """The part of gold's patch for one file, with another text; empty if that is the base's.

    Raises UnicodeDecodeError for a text that is not UTF-8.
    """
    head = gold[: gold.index("\n@@ ") + 1].splitlines(keepends=True)
    changed = difflib.diff_bytes(difflib.unified_diff, lines_of(base), lines_of(text), lineterm=b"\n")
    body = [line if line.endswith(b"\n") else line + b"\n\\ No newline at end of file\n" for line in changed][2:]
    return "".join(
        [line for line in head if not line.startswith("index ")] + [line.decode() for line in body] if body else []
    )


def changed_lines(base: bytes, gold: bytes) -> frozenset[int]:
    """The numbers (from 1) of the lines of gold's text that differ from the base's."""
    blocks = _blocks(lines_of(base), lines_of(gold))
    return frozenset(line + 1 for _, _, start, end in blocks for line in range(start, end))


def hunks(base: bytes, code: Code) -> Iterator[Hunk]:
    """Each hunk of a file that gold changed. A file that gold created is one hunk.

    Blocks that can only be left out together (the two tags of an element) are one hunk.
    """
    before, after = lines_of(base), lines_of(code.text)
    waiting = _blocks(before, after)
    while waiting:
        candidates = (replace(code, text=_without(before, after, waiting[:n])) for n in range(1, _TOGETHER + 1))
        count = next((n for n, candidate in enumerate(candidates, 1) if candidate.faults <= code.faults), 1)
        without = _without(before, after, waiting[:count])
        if replace(code, text=without).effective != code.effective:
            yield Hunk(waiting[0][2] + 1, without)
        waiting = waiting[count:]


def _without(before: list[bytes], after: list[bytes], blocks: list[Block]) -> bytes:
    """Gold's text with some blocks as they are in the base."""
    lines = list(after)
    for old, old_end, new, new_end in reversed(blocks):
        lines[new:new_end] = before[old:old_end]
    return b"".join(lines)


def _blocks(before: list[bytes], after: list[bytes]) -> list[Block]:
    """The blocks that differ: start and end in the base, start and end in gold's text."""
    opcodes = difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(a, b, c, d) for kind, a, b, c, d in opcodes if kind != "equal"]
