"""A file on both sides: ours in the data directory, theirs as received, and both sides' state at the last merge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path


class Sides:
    """`rows` are the digests of records by key at the last merge; `prefer` decides conflicts, if given."""

    def __init__(self, ours: Path, theirs: Path, rows: Mapping[str, str], prefer: str = "") -> None:
        self.ours, self.theirs, self.rows, self.prefer = ours, theirs, rows, prefer

    @cached_property
    def our_data(self) -> bytes:
        return self.ours.read_bytes()

    @cached_property
    def their_data(self) -> bytes:
        return self.theirs.read_bytes()

    def contents(self) -> Iterator[tuple[Path, bytes]]:
        """Both contents, ours first, each with its path for errors."""
        yield self.ours, self.our_data
        yield self.theirs, self.their_data
