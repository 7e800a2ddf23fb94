"""Reading datasets and candidates: the same for all stages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeVar

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Instance
from pipeline.core.store import Store, each_record, unique
from pipeline.core.texts import is_there

Found = TypeVar("Found", Candidate, Instance)


def read_dataset(store: Store, repo: Repo) -> tuple[Instance, ...]:
    """The instances of a repository. Raises UserError, with the datasets that exist, if it has none."""
    path = store.dataset(repo)
    found = tuple(unique(_of(repo, each_record(path, Instance), path), path))
    if not found:
        raise missing(store, repo)
    return found


def read_candidates(store: Store, repo: Repo) -> list[Candidate]:
    """The candidates of a repository, none if nothing was collected. Raises UserError with file and field."""
    path = store.raw(repo) / "candidates.jsonl"
    return list(unique(_of(repo, each_record(path, Candidate), path), path))


def _of(repo: Repo, records: Iterable[Found], path: Path) -> Iterator[Found]:
    """The records of a file, which must all be of its repository. Raises UserError."""
    for number, record in enumerate(records, 1):
        if record.repository != repo:
            message = f"record {number} is of {record.repository}, and the file of {repo}"
            raise UserError(message, path=path, field="repo", hint="move it to the file of its own repository")
        yield record


def missing(store: Store, repo: Repo) -> UserError:
    """The error for a repository without instances."""
    names = ", ".join(map(str, _all_built(store))) or "none"
    return UserError(f"{repo} has no dataset", hint=f"built: {names}; run: just build-run {repo}")


def built(store: Store, repos: Sequence[Repo]) -> list[Repo]:
    """These repositories, or all that have instances if none is named. Raises UserError if there are none."""
    found = list(repos) or _all_built(store)
    if not found:
        raise UserError("no dataset is built", path=store.root / "02_dataset", hint="run: just build-run REPO")
    return found


def _all_built(store: Store) -> list[Repo]:
    """All repositories that have instances."""
    return [repo for repo in store.repositories("02_dataset") if _is_filled(store.dataset(repo))]


def _is_filled(path: Path) -> bool:
    return is_there(path) and path.stat().st_size > 0
