"""Texts in pieces that fit an embedding model.

A text that fits is one piece. A longer text is split between lines into as few pieces as possible, of about equal
length, each beginning with the last lines of the previous one. A single line that is too long is split, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from magentless.tokens import Count


def chunks(text: str, most: int, overlap: int, count: Count) -> list[str]:
    """The pieces, each of at most `most` tokens, of which up to `overlap` repeat the end of the previous piece."""
    whole = count(text)
    if whole <= most:
        return [text] if text.strip() else []
    overlap = min(overlap, most // 2)
    lines = [part for line in text.splitlines(keepends=True) for part in _fitting(line, most - overlap, count)]
    sizes = [count(line) for line in lines]
    number = ceil((whole - overlap) / (most - overlap))
    even = (whole + (number - 1) * overlap) / number
    return ["".join(lines[start:end]) for start, end in _pieces(sizes, even, most, overlap)]


def _pieces(sizes: Sequence[int], even: float, most: int, overlap: int) -> Iterator[tuple[int, int]]:
    """Start and end of each piece: up to `even` tokens, and at most `most` including the overlap."""
    start = end = 0
    while end < len(sizes):
        first, taken = end, sum(sizes[start:end])
        while end < len(sizes) and (end == first or (taken < even and taken + sizes[end] <= most)):
            taken += sizes[end]
            end += 1
        yield start, end
        start, shared = end, 0
        while start and (shared := shared + sizes[start - 1]) <= overlap:
            start -= 1


def _fitting(line: str, most: int, count: Count) -> list[str]:
    """The parts of a line, halved until they fit."""
    if count(line) <= most or len(line) < 2:
        return [line]
    middle = len(line) // 2
    return _fitting(line[:middle], most, count) + _fitting(line[middle:], most, count)
