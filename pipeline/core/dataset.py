"""Reading datasets, the same for all stages that stand on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from pipeline.core.errors import UserError
from pipeline.core.names import Repo
from pipeline.core.records import Instance
from pipeline.core.store import Store, each_record


def read_dataset(store: Store, repo: Repo) -> tuple[Instance, ...]:
    """The instances of a repository. Raises UserError, with what there is, when it has none."""
    return tuple(each_instance(store, repo))


def each_instance(store: Store, repo: Repo) -> Iterator[Instance]:
    """The same one by one, for datasets that are larger than what is needed of them."""
    path, seen = store.dataset(repo), set()
    for instance in each_record(path, Instance):
        if instance.instance_id in seen:
            raise UserError("an instance is there twice", path=path, field="instance_id", hint="keep one line for each")
        seen.add(instance.instance_id)
        yield instance
    if not seen:
        there = ", ".join(str(one) for one in store.repositories("02_dataset")) or "none"
        raise UserError(f"{repo} has no dataset", hint=f"built are: {there}; run: just build-run {repo}")


def built(store: Store, repos: Sequence[Repo]) -> list[Repo]:
    """These repositories, or all that have instances where none is named. Raises UserError when there are none."""
    found = list(repos) or [repo for repo in store.repositories("02_dataset") if _holds_any(store.dataset(repo))]
    if not found:
        raise UserError("no dataset is built", path=store.root / "02_dataset", hint="run: just build-run REPO")
    return found


def _holds_any(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0
