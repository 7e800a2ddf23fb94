"""How files of a data directory are merged: a table from paths to forms, and a function per form.

A form gets the bytes of both sides and returns the merged bytes, or names the conflicts. Does not cover files that only
one side has changed: these are taken unchanged (`merge`).
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.store import digest
from pipeline.core.texts import parse_json
from pipeline.remote.sides import Sides


class Merged(NamedTuple):
    """The result of a merge: the bytes (None: our file stays), and the conflicts."""

    data: bytes | None
    conflicts: tuple[str, ...] = ()


Form = Callable[[Sides], Merged]


# -- records by their keys -------------------------------------------------------------------------------------------
def by(*keys: str) -> Form:
    """A form for records with these fields as key. If only one side changed a record since the last merge, its
    version wins."""

    def merge(sides: Sides) -> Merged:
        ours, theirs = (_rows(path, data, keys) for path, data in sides.contents())
        lines: dict[str, bytes] = {}
        conflicts: list[str] = []
        for key in dict.fromkeys([*ours, *theirs]):
            our_line, their_line, old_digest = ours.get(key), theirs.get(key), sides.rows.get(key)
            chosen = _chosen(our_line, their_line, old_digest, sides.prefer)
            if chosen is CONFLICT:
                conflicts.append(key)
            elif chosen is not None:
                lines[key] = chosen
        ordered = _ordered(lines, list(ours), list(theirs))
        return Merged(b"".join(line + b"\n" for line in ordered), tuple(conflicts))

    merge.keys = keys  # type: ignore[attr-defined]
    return merge


CONFLICT = b""


def _chosen(ours: bytes | None, theirs: bytes | None, old_digest: str | None, prefer: str) -> bytes | None:
    """The merged record: None if it was removed, CONFLICT if the sides differ."""
    if ours == theirs or _digest_of_content(ours) == _digest_of_content(theirs):
        return ours
    if old_digest is not None and old_digest == _digest_of_content(ours):
        return theirs
    if old_digest is not None and old_digest == _digest_of_content(theirs):
        return ours
    if ours is None or theirs is None:
        return ours or theirs  # a record that one side changed and the other removed stays
    return {"ours": ours, "theirs": theirs}.get(prefer, CONFLICT)


def _digest_of_content(line: bytes | None) -> str | None:
    """The digest of a record without the version of the program that wrote it."""
    return None if line is None else digest({**json.loads(line), "tool": ""})


def _rows(path: Path, data: bytes, keys: tuple[str, ...]) -> dict[str, bytes]:
    """Lines by the values of their keys. Raises UserError with file, line and field."""
    lines: dict[str, bytes] = {}
    for number, line in enumerate(data.splitlines(), 1):
        if not line.strip():
            continue
        try:
            record = parse_json(line)
            key = " ".join(str(_value(record, field)) for field in keys)
        except (ValueError, KeyError, TypeError) as error:
            raise UserError(f"not such a record: {error}", path=path, line=number, field=keys[0]) from None
        if key in lines:
            raise UserError(f"{key} is listed twice", path=path, line=number, field=keys[0], hint="keep one of them")
        lines[key] = line.strip()
    return lines


def _value(record: Mapping[str, Any], field: str) -> Any:
    """A field of a record. A candidate stores its repository and number instead of its `instance_id`."""
    if field == "instance_id" and field not in record and "number" in record:
        return Repo(record["org"], record["repo"]).instance_id(record["number"])
    return record[field]


def rows_of(form: Form, path: Path, data: bytes) -> dict[str, str]:
    """The digests of merged records by key; empty for a file that does not hold records."""
    keys = getattr(form, "keys", None)
    return {key: _digest_of_content(line) or "" for key, line in _rows(path, data, keys).items()} if keys else {}


def _ordered(lines: Mapping[str, bytes], ours: list[str], theirs: list[str]) -> list[bytes]:
    """Sorted by number if both sides are; otherwise ours, followed by what only the other side has."""
    if ours == sorted(ours, key=_natural) and theirs == sorted(theirs, key=_natural):
        return [lines[key] for key in sorted(lines, key=_natural)]
    return list(lines.values())


def _natural(key: str) -> tuple[Any, ...]:
    """`acme__ui-9` before `acme__ui-10`."""
    name, _, number = key.rpartition("-")
    return (name, int(number)) if number.isdecimal() else (key, 0)


# -- append-only files -----------------------------------------------------------------------------------------------
def journal(sides: Sides) -> Merged:
    """Lines of both sides, each side's in its own order; where they differ, the older line comes first."""
    return Merged(joined(sides.our_data, sides.their_data))


def joined(ours: bytes, theirs: bytes) -> bytes:
    """The contents of two journals as one."""
    lines = union(_whole_lines(ours), _whole_lines(theirs), _time)
    return b"".join(line + b"\n" for line in lines)


def union(ours: list[bytes], theirs: list[bytes], time: Callable[[bytes], str]) -> list[bytes]:
    """The lines of both sides, without duplicates between sides; duplicates within a side stay."""
    shared = next((n for n, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]), None)
    shared = min(len(ours), len(theirs)) if shared is None else shared
    remaining = Counter(ours[shared:])
    new: list[bytes] = []
    for line in theirs[shared:]:
        if remaining[line]:
            remaining[line] -= 1
        else:
            new.append(line)
    return ours[:shared] + _merged(ours[shared:], new, time)


def _merged(ours: list[bytes], theirs: list[bytes], time: Callable[[bytes], str]) -> list[bytes]:
    result: list[bytes] = []
    left, right = list(reversed(ours)), list(reversed(theirs))
    while left and right:
        result.append((left if time(left[-1]) <= time(right[-1]) else right).pop())
    return result + left[::-1] + right[::-1]


def _whole_lines(data: bytes) -> list[bytes]:
    """The complete lines, without an incomplete one that a killed process left at the end."""
    *lines, last = data.split(b"\n")
    whole = [line for line in lines if line.strip()]
    try:
        return [*whole, last] if last.strip() and parse_json(last) else whole
    except ValueError:
        return whole


def _time(line: bytes) -> str:
    """When a record was written; a record without a time counts as the oldest."""
    try:
        return str(parse_json(line).get("time") or "")
    except (ValueError, AttributeError):
        return ""


def pages(sides: Sides) -> Merged:
    """Pages of pull requests, members of gzip. What only one side has fetched is fetched again if the state on the
    last page is older, so nothing is lost."""
    ours, theirs = (_members(path, data) for path, data in sides.contents())
    return Merged(b"".join(union(ours, theirs, lambda _: "")))


def _members(path: Path, data: bytes) -> list[bytes]:
    """The members of a gzip file, recompressed uniformly. Raises UserError."""
    members: list[bytes] = []
    while data:
        unpack = zlib.decompressobj(wbits=31)
        try:
            unpack.decompress(data)
        except zlib.error as error:
            raise UserError(f"not a page of pull requests: {error}", path=path) from None
        if not unpack.eof:
            break  # a killed process left it incomplete
        members.append(data[: len(data) - len(unpack.unused_data)])
        data = unpack.unused_data
    return members


# -- the rest --------------------------------------------------------------------------------------------------------
def derived(sides: Sides) -> Merged:
    """Derived files and logs: the newer one is taken, and the caller archives the other."""
    return Merged(sides.their_data if sides.theirs.stat().st_mtime > sides.ours.stat().st_mtime else None)


def keep_ours(sides: Sides) -> Merged:
    """Files named by a digest of their inputs, and caches: ours stays."""
    return Merged(None)


def opaque(sides: Sides) -> Merged:
    """All other files: a conflict if both sides changed them."""
    chosen = {"ours": Merged(None), "theirs": Merged(sides.their_data)}
    return chosen.get(sides.prefer, Merged(None, ("the file",)))


INSTANCE = by("instance_id")
#: path -> form; the first match counts. Units (folders with a manifest) are taken whole and are not listed here.
FORMS: tuple[tuple[str, Form], ...] = (
    ("*.log", derived),
    ("00_viewer/*.jsonl", journal),
    ("01_raw/*/pages.jsonl.gz", pages),
    ("01_raw/*/pictures/*", keep_ours),
    ("01_raw/*/source.json", opaque),
    ("01_raw/*.jsonl", INSTANCE),
    ("01_raw/*", derived),
    ("02_dataset/*/learned.jsonl", keep_ours),
    ("02_dataset/*/proposals.jsonl", by("instance_id", "model", "number", "rejected")),
    ("02_dataset/*/environments/*", derived),
    ("02_dataset/*.jsonl", INSTANCE),
    ("03_predictions/responses/*", keep_ours),
    ("03_predictions/*/responses/*", keep_ours),
    ("03_predictions/answers/*", derived),  # of an answer without a manifest: what its agent left
    ("03_predictions/pages/*/answers.jsonl", by("case", "model", "sample")),
    ("03_predictions/*/metadata.json", derived),
    ("03_predictions/*.jsonl", INSTANCE),
    ("04_evaluation/pages/*/verdicts.jsonl", by("case", "model", "sample")),
    ("04_evaluation/pages/*/hybrid.jsonl", by("name", "model", "sample")),
    ("04_evaluation/pages/*", derived),
    ("04_evaluation/*.jsonl", INSTANCE),
    ("04_evaluation/*/final_report.json", derived),
    ("04_evaluation/*/runs.json", derived),
)


def form_of(path: str) -> Form:
    """The form of a file at this path, relative to the data directory."""
    return next((form for pattern, form in FORMS if fnmatchcase(path, pattern)), opaque)
