"""What this project keeps in a Docker engine, and its removal: images, volumes of runners' caches, leftovers.

Images share layers: a layer counts for the image that added it. Images and containers that others make from ours
inherit our labels, but neither name nor comment, and belong to them. Does not cover the base image, which people make
themselves, and anything else in the same engine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from docker import APIClient
from docker.errors import APIError, NotFound

from pipeline.core.errors import InfrastructureError
from pipeline.sandbox.docker.containers import CONFLICT, OWNER, is_alive, is_ours
from pipeline.sandbox.docker.faults import faults
from pipeline.sandbox.docker.names import DIGEST, IMAGES, LAYER, MADE_HERE, base_image
from pipeline.sandbox.images import Kept, Kind

#: the kinds of images, by the label of their layer
KINDS: dict[str, Kind] = {"browser": "tools", "node": "tools", "environment": "environment", "instance": "instance"}
#: the engine's message while it measures for another client, and the seconds for which it is asked again
MEASURING, PATIENT = "already running", 60

#: kinds of what an engine stores, and the fields that hold them in newer answers
FORMS = {"Images": "ImageUsage", "Containers": "ContainerUsage", "Volumes": "VolumeUsage"}

Row = dict[str, Any]


class Disk:
    """What we keep in one engine. Every method raises InfrastructureError if no engine answers."""

    def __init__(self, api: APIClient) -> None:
        self._api = api
        self._inspected: dict[str, Row] = {}

    @faults()
    def kept(self) -> list[Kept]:
        """Everything that this project made. An image is in use if any container uses it, even another program's."""
        usage = self._usage()
        used = {row["ImageID"] for row in usage["Containers"]}
        labeled = {kind: [row for row in usage[kind] if _has_layer(row)] for kind in ("Images", "Volumes")}
        containers = [_container(row) for row in usage["Containers"] if is_ours(row)]
        return [*self._images(labeled["Images"], used), *map(_volume, labeled["Volumes"]), *containers]

    def _usage(self) -> dict[str, Sequence[Row]]:
        """What the engine stores, by kind. Since version 1.52 of its API, it lists that in another form, and only in a
        detailed answer. Raises InfrastructureError for an answer in neither form."""
        answer = self._patiently(self._api.df)
        if "Images" not in answer:
            answer = self._patiently(self._detailed)
        if not {"Images", "ImageUsage"} & answer.keys():
            raise InfrastructureError("the engine's answer about its disk lists no images", cause="engine")
        return {kind: answer.get(kind) or (answer.get(field) or {}).get("Items") or () for kind, field in FORMS.items()}

    def _detailed(self) -> Row:
        api: Any = self._api  # the SDK has no option for a detailed answer
        return api._result(api._get(api._url("/system/df"), params={"verbose": "1"}), json=True)

    def _patiently(self, ask: Callable[[], Row]) -> Row:
        """An answer of the engine, which measures its disk for one client at a time."""
        for _ in range(PATIENT):
            try:
                return ask()
            except APIError as error:
                if MEASURING not in str(error):
                    raise
                time.sleep(1)
        return ask()

    def _images(self, rows: Sequence[Row], used: set[str]) -> Iterator[Kept]:
        inspected = {row["Id"]: image for row in rows if (image := self._inspect(row["Id"]))}
        ours = [row for row in rows if row["Id"] in inspected and (_tag(row) or _made_here(inspected[row["Id"]]))]
        present = filter(None, (self._inspect(base_image()), *(inspected[row["Id"]] for row in ours)))
        chains = {tuple(image["RootFS"]["Layers"]): image for image in present}
        for row in ours:
            chain = tuple(inspected[row["Id"]]["RootFS"]["Layers"])
            parent = next((chains[prefix] for n in range(len(chain) - 1, 0, -1) if (prefix := chain[:n]) in chains), {})
            tag, digest = _tag(row), row["Labels"].get(DIGEST, "")
            kind: Kind = KINDS[row["Labels"][LAYER]] if tag else "leftover"
            size = row["Size"] - parent.get("Size", 0)
            yield Kept(kind, tag or row["Id"], digest, size, _tag(parent), row["Created"], row["Id"] in used)

    def _inspect(self, image: str) -> Row | None:
        """An image; None if it has been removed since it was listed."""
        if image not in self._inspected:
            with suppress(NotFound):
                self._inspected[image] = self._api.inspect_image(image)
        return self._inspected.get(image)

    @faults()
    def remove(self, kept: Kept) -> bool:
        """Remove a listed object; False if it is in use (now, or when it was listed). True if it is gone already."""
        removers = {"cache": self._api.remove_volume, "container": self._remove_container}
        try:
            if not kept.busy:
                removers.get(kept.kind, self._api.remove_image)(kept.name)
        except NotFound:
            return True
        except APIError as error:
            if error.status_code != CONFLICT:
                raise
            return False
        return not kept.busy

    def _remove_container(self, name: str) -> None:
        self._api.remove_container(name, v=True, force=True)


def _has_layer(row: Row) -> bool:
    """Whether an image or a volume is labeled as one of our layers, or as a runner's cache."""
    return (row["Labels"] or {}).get(LAYER) in (*KINDS, "cache")


def _tag(image: Row) -> str:
    """The name that we gave an image; others may have added names."""
    return next((tag for tag in image.get("RepoTags") or () if tag.startswith(IMAGES)), "")


def _made_here(image: Row) -> bool:
    return image.get("Comment") == MADE_HERE


def _volume(row: Row) -> Kept:
    created, usage = datetime.fromisoformat(row["CreatedAt"]).timestamp(), row["UsageData"]
    return Kept("cache", row["Name"], row["Labels"][DIGEST], usage["Size"], "", created, usage["RefCount"] > 0)


def _container(row: Row) -> Kept:
    """A container, which is in use while the process that created it runs."""
    digest, busy = row["Labels"].get(DIGEST, ""), is_alive(row["Labels"][OWNER])
    return Kept("container", row["Id"], digest, row.get("SizeRw", 0), row["Image"], row["Created"], busy)
