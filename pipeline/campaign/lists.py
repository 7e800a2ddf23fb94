"""Whether the built dataset of a repository matches its list. Reads both; writes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.core.names import Repo
from pipeline.core.records import Instance
from pipeline.core.store import Store, read_records

if TYPE_CHECKING:
    from pipeline.dataset.rebuild import Difference


def differing(store: Store, repo: Repo, lock: Path) -> list[Difference]:
    """The facts in which the built instances differ from a list, including instances that are not built. Raises
    UserError."""
    return list(_differing(store, repo, lock))


def _differing(store: Store, repo: Repo, lock: Path) -> Iterator[Difference]:
    from pipeline.dataset.rebuild import Difference, differences, read_list

    built = {instance.instance_id: instance for instance in read_records(store.dataset(repo), Instance)}
    for entry in read_list(lock)[1]:
        if entry.instance_id in built:
            yield from differences(entry, built[entry.instance_id])
        else:
            yield Difference(entry.instance_id, "outcome", "qualified", "not built")
