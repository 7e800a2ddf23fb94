"""The files of `01_raw/<repo>/` that other stages and people read, written from the database, one record at a time.

What the viewer of stage 00 reads is `triage.jsonl`: a line for each candidate, joined with ratings and metadata by its
`instance_id`.
"""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from pipeline.collect.database import Database
from pipeline.collect.entries import entry
from pipeline.collect.funnel import counts
from pipeline.core.cache import lock
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Funnel, Rejection
from pipeline.core.store import Store, read_json, read_records, write_bytes, write_json, writing

#: file -> whether it holds the rejections; both are what other stages read, and may be changed by hand
FILES = {"candidates.jsonl": False, "rejections.jsonl": True}


def restore(folder: Path, database: Database) -> bool:
    """Take over what was changed by hand since the last export; returns whether the files say what the database says.

    A run that was killed left files that do not count, and a file that is gone is written anew. Raises UserError for a
    record that can not be read.
    """
    known = {name: _digest(folder / name) for name in FILES}
    if database.get("unfinished"):
        return False
    if any(found and found != database.get(name) for name, found in known.items()):
        candidates = read_records(folder / "candidates.jsonl", Candidate)
        rejections = read_records(folder / "rejections.jsonl", Rejection)
        database.replace([*candidates, *rejections])
        return False
    return all(known.values()) and (folder / "funnel.json").exists()


def export(store: Store, repo: Repo, database: Database) -> Funnel:
    """Write all files of a repository, and the table of all repositories."""
    folder = store.raw(repo)
    digests = {name: write_lines(folder / name, database.records(rejected=which)) for name, which in FILES.items()}
    write_lines(folder / "triage.jsonl", (entry(one).model_dump_json() for one in _candidates(database)))
    funnel = counts(str(repo), chain(_candidates(database), _rejections(database)))
    write_json(folder / "funnel.json", funnel.model_dump())
    write_funnels(store)
    database.set(**digests, unfinished="")
    return funnel


def write_funnels(store: Store) -> None:
    """`01_raw/funnel.csv`: the seed's table 4.1, a row for each repository that was collected."""
    folder, text = store.root / "01_raw", io.StringIO()
    table = csv.DictWriter(text, list(Funnel.model_fields), lineterminator="\n")
    table.writeheader()
    with lock(store.root / ".locks" / "funnel.lock"):
        remove_strays(folder)
        paths = (store.raw(repo) / "funnel.json" for repo in store.repositories("01_raw"))
        table.writerows(Funnel.model_validate(read_json(path)).model_dump() for path in paths if path.exists())
        write_bytes(folder / "funnel.csv", text.getvalue().encode())


def remove_strays(folder: Path) -> None:
    """Take away what a killed process was about to write; the folder's lock is held."""
    for path in folder.glob(".*.*"):
        path.unlink()


def write_lines(path: Path, lines: Iterable[str]) -> str:
    """Write lines as they come, the file whole or not at all; returns the digest of its bytes."""
    total = hashlib.sha256()
    with writing(path) as file:
        for line in lines:
            data = f"{line}\n".encode()
            total.update(data)
            file.write(data)
    return total.hexdigest()


def _digest(path: Path) -> str:
    if not path.exists():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _candidates(database: Database) -> Iterator[Candidate]:
    return map(Candidate.model_validate_json, database.records(rejected=False))


def _rejections(database: Database) -> Iterator[Rejection]:
    return map(Rejection.model_validate_json, database.records(rejected=True))
