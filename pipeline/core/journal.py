"""Append-only files of records in JSON Lines, for people's decisions. Only a merge rewrites lines.

Several processes may append at once. Each writes whole lines under a lock on the file; they are on disk when it
returns. A line that a killed writer left incomplete is not a record: readers skip it, and the next writer moves it to
`NAME.torn`, since an editor may have left it, too.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from pydantic_core import PydanticSerializationError

from pipeline.core.console import say
from pipeline.core.errors import UserError
from pipeline.core.records import Record
from pipeline.core.store import each_record, write_bytes
from pipeline.core.texts import is_there, reading

R = TypeVar("R", bound=Record)


def append(path: Path, records: Iterable[Record]) -> None:
    """Add records at the end, all or none, making the file's folder. Raises OSError, for example for a full disk, and
    UserError with the field for a text that is no Unicode, such as an argument of bytes that are not UTF-8."""
    data = "".join(_line(record, path) for record in records).encode()
    if not data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with _locked(path) as file:
        begin = _mend(path, file)
        try:
            while data:
                data = data[file.write(data) :]
            os.fsync(file.fileno())
        except OSError:
            file.truncate(begin)
            raise


def _line(record: Record, path: Path) -> str:
    try:
        return f"{record.model_dump_json()}\n"
    except PydanticSerializationError:  # of a byte that is not UTF-8, Python makes half a pair of surrogates
        field = next((name for name, value in record if "\\ud" in ascii(value)), None)
        raise UserError("a text in it is not UTF-8", path=path, field=field, hint="give it in UTF-8") from None


def rewrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    """Replace the file by `change(its content)`, while nobody can append to it. Raises OSError."""
    with _locked(path) as file:
        file.seek(0)
        write_bytes(path, change(file.read()))


@contextmanager
def _locked(path: Path) -> Iterator[BinaryIO]:
    """The file under its lock; opened again if it was replaced before the lock was granted."""
    while True:
        with path.open("ab+", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
                yield file
                return


def read(path: Path, kind: type[R]) -> list[R]:
    """All records, the oldest first; a missing file has none. Raises UserError with file, line and field."""
    if not is_there(path):
        return []
    with reading(path):
        whole = [line for line in path.read_bytes().splitlines(keepends=True) if line.strip()]
    if whole and _is_torn(whole[-1]):
        whole.pop()
    return list(islice(each_record(path, kind), len(whole)))


def newest(path: Path, kind: type[R], key: tuple[str, ...]) -> list[R]:
    """The newest record of each key, in the order in which the keys first appear.

    Records of this kind have a `time`. Of two with the same time, the later line is newer; one without a time is older
    than all that have one. Raises UserError with file, line and field.
    """
    found: dict[tuple[Any, ...], Any] = {}
    record: Any
    for record in read(path, kind):
        values = tuple(getattr(record, field) for field in key)
        if values not in found or record.time >= found[values].time:
            found[values] = record
    return list(found.values())


def _mend(path: Path, file: BinaryIO) -> int:
    """End the last line, or move it to `NAME.torn` if it is incomplete; returns the file's size."""
    file.seek(0)
    content = file.read()
    last = content[content.rfind(b"\n") + 1 :]
    if _is_torn(last):
        torn = path.with_name(f"{path.name}.torn")
        with torn.open("ab") as kept:
            kept.write(last + b"\n")
        say(f"{path}: the last line was incomplete and is now in {torn.name}")
        file.truncate(len(content) - len(last))
    elif last:
        file.write(b"\n")
    return file.seek(0, os.SEEK_END)


def _is_torn(line: bytes) -> bool:
    """Whether a last line is incomplete: it has no line end and is not valid JSON. One that is nested too deeply to
    tell is kept."""
    if not line or line.endswith(b"\n"):
        return False
    try:
        json.loads(line)
    except ValueError:
        return True
    except RecursionError:
        pass
    return False
