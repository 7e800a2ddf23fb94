"""What a sandbox keeps that no dataset refers to. The layers of a dataset stay, and all layers below them.

Reads `02_dataset/*.jsonl`, and the outcomes of interrupted builds, in every data directory on the sandbox. Nothing is
lost: removed layers are made again from the clone when needed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.build import layers
from pipeline.core.errors import A11yBenchError, UserError
from pipeline.core.names import Repo
from pipeline.core.records import Instance
from pipeline.core.store import MANIFEST, Store, Unit, read_records
from pipeline.sandbox.base import Sandbox
from pipeline.sandbox.images import Directory, Kept

#: the stages that work with layers
STAGES = ("build", "predict", "evaluate")


class Judged(NamedTuple):
    """What happens to one kept layer, and why. `goes` is also False for a layer that turned out to be in use."""

    kept: Kept
    goes: bool
    why: str

    def row(self) -> dict[str, Any]:
        """For a table, or as JSON."""
        shown = {name: getattr(self.kept, name) for name in ("kind", "name", "digest", "size")}
        return shown | {"goes": self.goes, "why": self.why}


class Referring(NamedTuple):
    """`names`: digest of an image or environment -> what refers to it; `unknown`: unreadable data directory -> why."""

    names: dict[str, str]
    unknown: dict[Directory, str]


@contextmanager
def referring(store: Store, sandbox: Sandbox) -> Iterator[Referring]:
    """What refers to layers in `store` and every other data directory of the sandbox; all of them are locked meanwhile.

    Raises UserError when a stage is running in one of them, and when `store` refers to no layer: if it is the wrong
    folder, everything would go.
    """
    found = Referring({}, {})
    with ExitStack() as held:
        held.enter_context(store.still(*STAGES))
        references = referenced(store)
        if not references:
            hint = "name the data directory with --data, or remove everything with --all"
            raise UserError("no dataset is built", path=store.root / "02_dataset", hint=hint)
        for directory in _others(store, sandbox):
            try:
                owners = _references(_locked(directory, held))
                found.names.update({digest: f"{owner} in {directory}" for digest, owner in owners.items()})
            except (OSError, Unreadable) as error:
                found.unknown[directory] = str(error)
        found.names.update(references)
        yield found


@contextmanager
def everything(store: Store, sandbox: Sandbox) -> Iterator[Referring]:
    """As if nothing referred to any layer; every data directory of the sandbox that can be read here is locked
    meanwhile.

    Raises UserError when a stage is running in one of them.
    """
    with ExitStack() as held:
        held.enter_context(store.still(*STAGES))
        for directory in _others(store, sandbox):
            with suppress(OSError, Unreadable):
                _locked(directory, held)
        yield Referring({}, {})


class Unreadable(A11yBenchError):
    """A data directory that cannot be read here."""


def _others(store: Store, sandbox: Sandbox) -> list[Directory]:
    """The other data directories of the sandbox."""
    here = Directory.here(store.root)
    return [directory for directory in sandbox.images.served() if directory != here]


def _locked(directory: Directory, held: ExitStack) -> Store:
    """Another data directory, with its locks. Raises Unreadable, and UserError when a stage is running there."""
    store = _opened(directory)
    held.enter_context(store.still(*STAGES))
    return store


def _opened(directory: Directory) -> Store:
    if not directory.is_here:
        raise Unreadable("it is on another host")
    if directory.is_gone:
        raise Unreadable("it is gone: moved, or not mounted, or deleted (then: --forget-gone)")
    try:
        return Store(Path(directory.path))
    except UserError as error:
        raise Unreadable(error.message) from None


def _references(store: Store) -> dict[str, str]:
    """What another data directory refers to. Raises Unreadable for a broken file."""
    try:
        return referenced(store)
    except UserError as error:
        raise Unreadable(str(error).partition("\n")[0]) from None


def referenced(store: Store) -> dict[str, str]:
    """Digests of images and environments of all datasets -> the repository that refers to each."""
    return {
        digest: str(repo)
        for repo in store.repositories("02_dataset")
        for digest in (*_of_dataset(store, repo), *_of_units(store, repo))
    }


def _of_dataset(store: Store, repo: Repo) -> Iterator[str]:
    for instance in read_records(store.dataset(repo), Instance):
        yield from (instance.image, instance.environment_digest)


def _of_units(store: Store, repo: Repo) -> Iterator[str]:
    """Digests of finished units that are not in the dataset yet: a killed build adds them when it resumes."""
    for path in sorted(store.qualification(repo).glob(f"units/*/{MANIFEST}")):
        result = Unit(path.parent).result()
        if "image" in result:
            yield from (result["image"], result["environment_digest"])


def judge(kept: Collection[Kept], references: Referring) -> list[Judged]:
    """What stays, then what goes, in an order in which it can be removed.

    While any data directory is unreadable, only leftovers go.
    """
    names, unknown = references.names, ", ".join(map(str, references.unknown))
    staying = layers.standing(kept, lambda layer: layer.busy or layer.digest in names)
    maybe = {layer.name for layer in kept if unknown and layer.kind != "leftover"} - staying.keys()
    stay = [Judged(layer, False, _reason(layer, staying[layer.name], names)) for layer in kept if layer.name in staying]
    stay += [Judged(layer, False, f"may be of {unknown}") for layer in kept if layer.name in maybe]
    go = [Judged(layer, True, "no dataset refers to it") for layer in layers.least_useful(kept, {*staying, *maybe})]
    return [*sorted(stay, key=lambda decision: (decision.kept.kind, decision.kept.name)), *go]


def _reason(layer: Kept, above: Kept, names: Mapping[str, str]) -> str:
    if layer.digest in names:
        return f"of {names[layer.digest]}"
    return "in use" if layer.busy or layer.name == above.name else f"below {above.name}"


def collect(sandbox: Sandbox, judged: Collection[Judged]) -> list[Judged]:
    """Remove what goes; a layer that turns out to be in use stays."""
    return [
        decision
        if not decision.goes or sandbox.images.remove(decision.kept)
        else decision._replace(goes=False, why="in use")
        for decision in judged
    ]
