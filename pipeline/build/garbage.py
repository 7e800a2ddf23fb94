"""What a sandbox keeps that no dataset refers to: who stays and why. The layers of a dataset stay, and all below them.

Reads `02_dataset/*.jsonl`. Nothing that goes is lost: it is made again from the clone when it is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from pipeline.build import layers
from pipeline.core.errors import UserError
from pipeline.core.records import Instance
from pipeline.core.store import Store, read_records
from pipeline.sandbox.base import Sandbox
from pipeline.sandbox.images import Kept


class Judged(NamedTuple):
    """What becomes of one thing, and why. `goes` is False, too, for what turned out to be in use."""

    kept: Kept
    goes: bool
    why: str

    def row(self) -> dict[str, Any]:
        """For a table, or as JSON."""
        shown = {name: getattr(self.kept, name) for name in ("kind", "name", "digest", "size")}
        return shown | {"goes": self.goes, "why": self.why}


def referenced(store: Store) -> dict[str, str]:
    """Digests of images and environments of all datasets -> the repository that refers to each.

    Raises UserError when there is no instance at all: with the wrong folder everything would go.
    """
    datasets = [(repo, read_records(store.dataset(repo), Instance)) for repo in store.repositories("02_dataset")]
    named = [(digest, str(repo)) for repo, found in datasets for one in found for digest in _digests(one)]
    if not named:
        hint = "name the data directory with --data, or remove everything with --all"
        raise UserError("no dataset is built", path=store.root / "02_dataset", hint=hint)
    return dict(named)


def _digests(instance: Instance) -> tuple[str, str]:
    return instance.image, instance.environment_digest


def judge(kept: Collection[Kept], names: Mapping[str, str]) -> list[Judged]:
    """What stays, then what goes in the order in which it can."""
    staying = layers.standing(kept, lambda one: one.busy or one.digest in names)
    stay = [Judged(one, False, _reason(one, staying[one.name], names)) for one in kept if one.name in staying]
    go = [Judged(one, True, "no dataset refers to it") for one in layers.least_useful(kept, staying)]
    return [*sorted(stay, key=lambda one: (one.kept.kind, one.kept.name)), *go]


def _reason(one: Kept, above: Kept, names: Mapping[str, str]) -> str:
    if one.digest in names:
        return f"of {names[one.digest]}"
    return "in use" if one.busy or one.name == above.name else f"below {above.name}"


def collect(sandbox: Sandbox, judged: Collection[Judged]) -> list[Judged]:
    """Remove what goes; what is in use all the same stays."""
    return [
        one if not one.goes or sandbox.images.remove(one.kept) else one._replace(goes=False, why="in use")
        for one in judged
    ]
