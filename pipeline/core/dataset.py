"""Reading datasets: the same for all stages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Instance
from pipeline.core.store import Store, each_record, unique
from pipeline.core.texts import is_there


def read_dataset(store: Store, repo: Repo) -> tuple[Instance, ...]:
    """The instances of a repository. Raises UserError, with the datasets that exist, if it has none."""
    path = store.dataset(repo)
    found = tuple(unique(each_record(path, Instance), path))
    if not found:
        raise missing(store, repo)
    return found


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
