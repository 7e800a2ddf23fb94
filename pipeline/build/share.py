"""Images of datasets in a registry: those that another machine needs, environments first.

Reads instances; what moves is the sandbox's business. Images that are missing on one side do not stop the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from pipeline.core.records import Instance
from pipeline.sandbox.base import Sandbox
from pipeline.sandbox.images import Layer, Transfer

#: what happens to an image, by direction: it is transferred, it exists already, or its source lacks it
State = Literal["pushed", "pulled", "there", "missing"]
MOVED: dict[str, State] = {"push": "pushed", "pull": "pulled"}


class Shared(NamedTuple):
    """One image. `wire_bytes` travelled, None if unknown; `disk_bytes` are its own on this machine, without those of
    the image below it, None if it is not here."""

    kind: Layer
    digest: str
    instances: tuple[str, ...]
    state: State
    wire_bytes: int | None = 0
    disk_bytes: int | None = None

    def row(self) -> dict[str, Any]:
        """As JSON."""
        return self._asdict()


def images_of(instances: Sequence[Instance]) -> dict[tuple[Layer, str], list[str]]:
    """The images of instances, each once, with the instances that need it: first all environments."""
    images: dict[tuple[Layer, str], list[str]] = {}
    for instance in instances:
        images.setdefault(("environment", instance.environment_digest), []).append(instance.instance_id)
    for instance in instances:
        images.setdefault(("instance", instance.image), []).append(instance.instance_id)
    return images


def share(
    sandbox: Sandbox,
    instances: Sequence[Instance],
    registry: str,
    direction: Literal["push", "pull"],
    say: Callable[[str], None],
) -> list[Shared]:
    """Push or pull the images of instances. Raises UserError, with what to do, if the registry cannot be used."""
    images, found = images_of(instances), list[Shared]()
    transfer = sandbox.images.push if direction == "push" else sandbox.images.pull
    for number, ((kind, digest), names) in enumerate(images.items(), 1):
        result = transfer(kind, digest, registry, _numbered(say, f"{number} of {len(images)}"))
        found.append(Shared(kind, digest, tuple(names), _state(result, direction), result.wire if result else 0))
    sizes = {(kept.kind, kept.digest): kept.size for kept in sandbox.images.kept()}
    return [image._replace(disk_bytes=sizes.get((image.kind, image.digest))) for image in found]


def _numbered(say: Callable[[str], None], place: str) -> Callable[[str], None]:
    return lambda text: say(f"{place}: {text}")


def _state(result: Transfer | None, direction: str) -> State:
    if result is None:
        return "missing"
    return MOVED[direction] if result.moved else "there"
