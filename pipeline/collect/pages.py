"""`pages.jsonl.gz`: the source's answers about every pull request, page by page. Append-only.

A page is a gzip member: a line per pull request (`Seen`), then a line with the state after it (the cursor, or what was
exported). A page that a killed process left incomplete is cut off before the next one is appended.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.collect.funnel import Sifted
from pipeline.collect.links import Link
from pipeline.collect.sources import readable
from pipeline.core.errors import UserError
from pipeline.core.records import Candidate, Evidence, Issue, Record, Rejection
from pipeline.core.store import write_bytes

#: bytes before a place in the file whose digest shows whether it is still the same file
_TAIL = 1 << 16
_LEVEL = 3


class Seen(Record):
    """One pull request as its source gave it, and its outcome by the filters. A page holds no schema version."""

    number: int
    title: str = ""
    body: str = ""
    author: str = ""
    labels: tuple[str, ...] = ()
    base: str = ""
    merge_sha: str = ""
    merged_at: str = ""
    updated_at: str = ""
    files: tuple[str, ...] = ()
    links: tuple[Link, ...] = ()
    issues: tuple[Issue, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    outcome: Candidate | Rejection

    @classmethod
    def of(cls, sifted: Sifted) -> Seen:
        pull = sifted.merged.pull
        return cls(
            **pull.model_dump(include={"number", "title", "body", "author", "labels", "merge_sha", "merged_at"}),
            base=pull.base.sha,
            updated_at=sifted.merged.updated_at,
            files=tuple(map(readable, sifted.merged.files)),
            links=sifted.links,
            issues=tuple(issue for issue in sifted.issues if issue.number),
            evidence=sifted.evidence,
            outcome=sifted.outcome,
        )

    def line(self) -> str:
        return self.model_dump_json(exclude={"outcome": {"schema_version"}})


class Place(NamedTuple):
    """The end of a page in the file, and the digest of the bytes before it."""

    end: int = 0
    tail: str = ""


class Page(NamedTuple):
    """A page of the file: lines of `Seen`, the state after them, and where it ends."""

    lines: list[bytes]
    state: dict[str, Any]
    end: int

    def seen(self) -> Iterator[tuple[Seen, str]]:
        """Its pull requests with their lines."""
        return ((Seen.model_validate_json(line), line.decode()) for line in self.lines)


class Pages:
    """The pages of one repository at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, lines: Iterable[str], state: dict[str, Any]) -> Place:
        """Add a page; it is on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(member(lines, state))
            file.flush()
            os.fsync(file.fileno())
            return self.place(file.tell())

    def read(self, after: int = 0) -> Iterator[Page]:
        """The complete pages after an offset. Raises UserError for anything that is not a page."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(after)
            leftover = b""
            while True:
                unpack, parts = zlib.decompressobj(wbits=31), []
                while not unpack.eof:
                    if not (block := leftover or file.read(_TAIL)):
                        return
                    leftover = b""
                    parts.append(self._unpacked(unpack, block))
                leftover = unpack.unused_data
                *lines, state = b"".join(parts).splitlines()
                yield Page(lines, json.loads(state), file.tell() - len(leftover))

    def _unpacked(self, unpack: Any, block: bytes) -> bytes:
        try:
            return unpack.decompress(block)
        except zlib.error as error:
            hint = "put back a copy of it, or move it away: the next collect asks its source again"
            raise UserError(f"not a page of pull requests: {error}", path=self.path, hint=hint) from None

    def place(self, end: int) -> Place:
        """The place at an offset."""
        if not end:
            return Place()
        with self.path.open("rb") as file:
            file.seek(max(0, end - _TAIL))
            return Place(end, hashlib.sha256(file.read(min(end, _TAIL))).hexdigest())

    def holds(self, place: Place) -> bool:
        """Whether this is the file from which the place was taken."""
        size = self.path.stat().st_size if self.path.exists() else 0
        return size >= place.end and self.place(place.end) == place

    def cut(self, end: int) -> None:
        """Remove what a killed process left after the last complete page."""
        if self.path.exists() and self.path.stat().st_size > end:
            os.truncate(self.path, end)


def member(lines: Iterable[str], state: dict[str, Any]) -> bytes:
    """A page as it stands in the file; the same page gives the same bytes."""
    text = "".join(f"{line}\n" for line in (*lines, json.dumps(state, sort_keys=True)))
    return gzip.compress(text.encode(), _LEVEL, mtime=0)


def write_pages(path: Path, pages: Iterable[bytes]) -> None:
    """Write all pages at once. The file is written completely or not at all."""
    write_bytes(path, b"".join(pages))
