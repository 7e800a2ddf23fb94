"""A file on both sides: ours in the data directory, theirs as it came, and what both held the last time they met."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path

PREFER = ("ours", "theirs")


class Sides:
    """`rows` are the digests of records by key when the sides last met; `prefer` decides conflicts, if given."""

    def __init__(self, ours: Path, theirs: Path, rows: Mapping[str, str], prefer: str = "") -> None:
        self.ours, self.theirs, self.rows, self.prefer = ours, theirs, rows, prefer

    @cached_property
    def our_data(self) -> bytes:
        return self.ours.read_bytes()

    @cached_property
    def their_data(self) -> bytes:
        return self.theirs.read_bytes()

    def both(self) -> Iterator[tuple[Path, bytes]]:
        """Ours first, with its path for errors."""
        yield self.ours, self.our_data
        yield self.theirs, self.their_data
