"""The files of `01_raw/<repo>/` that other stages and people read, written from the database, one record at a time.

The viewer of stage 00 reads `triage.jsonl`: one line per candidate, joined with ratings and metadata by `instance_id`.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import BinaryIO, TypeVar

from pipeline.collect.database import Database
from pipeline.collect.entries import entry
from pipeline.collect.funnel import counts
from pipeline.core.cache import lock
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Funnel, Rejection
from pipeline.core.store import Store, read_record, write_bytes, write_json, writing

R = TypeVar("R", Candidate, Rejection)
#: file -> the record of its lines; other stages read both files, and people may edit them
FILES: dict[str, type[Candidate] | type[Rejection]] = {"candidates.jsonl": Candidate, "rejections.jsonl": Rejection}
#: the names of temporary files (store.py) of what is written to these folders
_WRITTEN = (*FILES, "triage.jsonl", "funnel.json", "source.json", "pages.jsonl.gz", "funnel.csv")
_STRAY = re.compile(rf"\.(?:{'|'.join(map(re.escape, _WRITTEN))})\.[a-z0-9_]{{8}}")


def export(store: Store, repo: Repo, database: Database, note: Callable[[dict[str, str]], None]) -> Funnel:
    """Write all files of a repository, and the table of all repositories.

    `note` gets the digests of the files that people may edit before these are put in place: whatever differs later was
    written by a person.
    """
    folder = store.raw(repo)
    with ExitStack() as stack:
        files = {name: stack.enter_context(writing(folder / name)) for name in FILES}
        note({name: _write(file, database.records(FILES[name])) for name, file in files.items()})
    write_lines(folder / "triage.jsonl", (entry(record).model_dump_json() for record in _records(database, Candidate)))
    funnel = counts(str(repo), chain(_records(database, Candidate), _records(database, Rejection)))
    write_json(folder / "funnel.json", funnel.model_dump())
    write_funnels(store)
    return funnel


def digests(folder: Path) -> dict[str, str]:
    """The current digests of the files that people may edit."""
    return {name: _digest(folder / name) for name in FILES if (folder / name).exists()}


def write_funnels(store: Store) -> None:
    """Write `01_raw/funnel.csv`: the thesis's table 4.1, a row for each collected repository."""
    folder, text = store.root / "01_raw", io.StringIO()
    table = csv.DictWriter(text, list(Funnel.model_fields), lineterminator="\n")
    table.writeheader()
    with lock(store.root / ".locks" / "funnel.lock"):
        remove_strays(folder)
        paths = (store.raw(repo) / "funnel.json" for repo in store.repositories("01_raw"))
        table.writerows(read_record(path, Funnel).model_dump() for path in paths if path.exists())
        write_bytes(folder / "funnel.csv", text.getvalue().encode())


def remove_strays(folder: Path) -> None:
    """Remove the temporary files of a killed process, and no other hidden file, such as an editor's. The caller holds
    the folder's lock."""
    for path in folder.glob(".*.*"):
        if _STRAY.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            path.unlink()


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write lines as they come. The file is written completely or not at all."""
    with writing(path) as file:
        _write(file, lines)


def _write(file: BinaryIO, lines: Iterable[str]) -> str:
    """Write lines; returns the digest of their bytes."""
    total = hashlib.sha256()
    for line in lines:
        data = f"{line}\n".encode()
        total.update(data)
        file.write(data)
    return total.hexdigest()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _records(database: Database, kind: type[R]) -> Iterator[R]:
    return map(kind.model_validate_json, database.records(kind))
