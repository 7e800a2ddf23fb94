"""Reading datasets, in the same way for all stages that use them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Instance
from pipeline.core.store import Store, each_record, unique


def read_dataset(store: Store, repo: Repo) -> tuple[Instance, ...]:
    """The instances of a repository. Raises UserError, with what there is, when it has none."""
    path = store.dataset(repo)
    found = tuple(unique(each_record(path, Instance), path))
    if not found:
        raise missing(store, repo)
    return found


def missing(store: Store, repo: Repo) -> UserError:
    """The error for a repository without instances."""
    repos = store.repositories("02_dataset")
    there = ", ".join(str(one) for one in repos if _holds_any(store.dataset(one))) or "none"
    return UserError(f"{repo} has no dataset", hint=f"built: {there}; run: just build-run {repo}")


def built(store: Store, repos: Sequence[Repo]) -> list[Repo]:
    """These repositories, or all that have instances where none is named. Raises UserError when there are none."""
    found = list(repos) or [repo for repo in store.repositories("02_dataset") if _holds_any(store.dataset(repo))]
    if not found:
        raise UserError("no dataset is built", path=store.root / "02_dataset", hint="run: just build-run REPO")
    return found


def _holds_any(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0
