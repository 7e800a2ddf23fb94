"""What a sandbox keeps that no dataset refers to. The layers of a dataset stay, and all layers below them.

Reads `02_dataset/*.jsonl`, and what interrupted builds have decided, in every data directory on the sandbox. Nothing is
lost: removed layers are made again from the clone when needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.build import layers
from pipeline.core.errors import A11yBenchError, UserError
from pipeline.core.names import Repo
from pipeline.core.records import Instance
from pipeline.core.store import Store, Unit, read_records
from pipeline.sandbox.base import Sandbox
from pipeline.sandbox.images import Directory, Kept

#: the stages that work with layers
STAGES = ("build", "predict", "evaluate")


class Judged(NamedTuple):
    """What becomes of one thing, and why. `goes` is False, too, for what turned out to be in use."""

    kept: Kept
    goes: bool
    why: str

    def row(self) -> dict[str, Any]:
        """For a table, or as JSON."""
        shown = {name: getattr(self.kept, name) for name in ("kind", "name", "digest", "size")}
        return shown | {"goes": self.goes, "why": self.why}


class Referring(NamedTuple):
    """Digest of an image or environment -> what refers to it; data directories of which that is not known -> why."""

    names: dict[str, str]
    unknown: dict[Directory, str]


@contextmanager
def referring(store: Store, sandbox: Sandbox) -> Iterator[Referring]:
    """What refers to layers in `store` and every other data directory that is served; none of them changes meanwhile.

    Raises UserError when a stage is under way in one of them, and when nothing in `store` refers to anything: with the
    wrong folder everything would go.
    """
    found, here = Referring({}, {}), Directory.here(store.root)
    with ExitStack() as held:
        held.enter_context(store.still(*STAGES))
        own = referenced(store)
        if not own:
            hint = "name the data directory with --data, or remove everything with --all"
            raise UserError("no dataset is built", path=store.root / "02_dataset", hint=hint)
        for one in sandbox.images.served():
            if one == here:
                continue
            try:
                other = _opened(one)
                held.enter_context(other.still(*STAGES))
                found.names.update({digest: f"{whose} in {one}" for digest, whose in referenced(other).items()})
            except (OSError, Unreadable) as error:
                found.unknown[one] = str(error)
        found.names.update(own)
        yield found


@contextmanager
def everything(store: Store) -> Iterator[Referring]:
    """As if nothing referred to any layer."""
    with store.still(*STAGES):
        yield Referring({}, {})


class Unreadable(A11yBenchError):
    """A data directory of which nothing can be said here."""


def _opened(directory: Directory) -> Store:
    if not directory.is_here:
        raise Unreadable("it is on another host")
    if directory.is_gone:
        raise Unreadable("it is gone: moved, or not mounted, or deleted (then: --forget-gone)")
    try:
        return Store(Path(directory.path))
    except UserError as error:
        raise Unreadable(error.message) from None


def referenced(store: Store) -> dict[str, str]:
    """Digests of images and environments of all datasets -> the repository that refers to each."""
    return {
        digest: str(repo)
        for repo in store.repositories("02_dataset")
        for digest in (*_of_dataset(store, repo), *_of_units(store, repo))
    }


def _of_dataset(store: Store, repo: Repo) -> Iterator[str]:
    for one in read_records(store.dataset(repo), Instance):
        yield from (one.image, one.environment_digest)


def _of_units(store: Store, repo: Repo) -> Iterator[str]:
    """Of what is decided and not in the dataset yet: a build that was killed writes that when it goes on."""
    for path in sorted(store.qualification(repo).glob("units/*/manifest.json")):
        result = Unit(path.parent).result()
        if "image" in result:
            yield from (result["image"], result["environment_digest"])


def judge(kept: Collection[Kept], referring: Referring) -> list[Judged]:
    """What stays, then what goes in the order in which it can.

    As long as it is not known what a data directory refers to, only leftovers go.
    """
    names, unknown = referring.names, ", ".join(map(str, referring.unknown))
    staying = layers.standing(kept, lambda one: one.busy or one.digest in names)
    maybe = {one.name for one in kept if unknown and one.kind != "leftover"} - staying.keys()
    stay = [Judged(one, False, _reason(one, staying[one.name], names)) for one in kept if one.name in staying]
    stay += [Judged(one, False, f"may be of {unknown}") for one in kept if one.name in maybe]
    go = [Judged(one, True, "no dataset refers to it") for one in layers.least_useful(kept, {*staying, *maybe})]
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
