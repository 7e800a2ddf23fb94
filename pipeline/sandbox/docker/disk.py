"""What this project keeps in a Docker engine, and removing it: images, volumes of runners' caches, leftovers.

Images share layers: a layer counts for the image that added it. Does not cover the base image, which people make
themselves, and what others keep in the same engine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from docker import APIClient
from docker.errors import APIError, NotFound

from pipeline.sandbox.base import Kept
from pipeline.sandbox.docker.engine import LABEL, OWNER, faults, is_alive, owner
from pipeline.sandbox.docker.names import DIGEST, LAYER, base_image

#: the kinds of images, by the label of their layer
KINDS = {"node": "tools", "environment": "environment", "instance": "instance"}
#: what an engine says that measures for somebody else, and the seconds for which it is asked again
MEASURING, PATIENT = "already running", 60
#: the status of an answer that something is in use
CONFLICT = 409

Row = dict[str, Any]


class Disk:
    """Raises InfrastructureError when no engine answers, in every method."""

    def __init__(self, api: APIClient) -> None:
        self._api = api
        self._inspected: dict[str, Row] = {}

    @faults()
    def kept(self) -> list[Kept]:
        """Everything with this project's labels."""
        usage = self._usage()
        rows = {
            kind: [row for row in usage[kind] or () if _is_ours(row)] for kind in ("Images", "Volumes", "Containers")
        }
        used = {row["ImageID"] for row in rows["Containers"]}
        volumes, containers = map(_volume, rows["Volumes"]), map(_container, rows["Containers"])
        return [*self._images(rows["Images"], used), *volumes, *containers]

    def _usage(self) -> Row:
        """The engine measures for one client at a time."""
        for _ in range(PATIENT):
            try:
                return self._api.df()
            except APIError as error:
                if MEASURING not in str(error):
                    raise
                time.sleep(1)
        return self._api.df()

    def _images(self, rows: Sequence[Row], used: set[str]) -> Iterator[Kept]:
        found = {name: self._inspect(name) for name in (base_image(), *(row["Id"] for row in rows))}
        chains = {tuple(image["RootFS"]["Layers"]): image for image in found.values() if image}
        for row in (row for row in rows if found[row["Id"]]):
            chain = tuple(found[row["Id"]]["RootFS"]["Layers"])
            below = next((chains[part] for n in range(len(chain) - 1, 0, -1) if (part := chain[:n]) in chains), {})
            tags, digest = row["RepoTags"] or (), row["Labels"].get(DIGEST, "")
            kind = KINDS[row["Labels"][LAYER]] if tags else "leftover"
            size, on = row["Size"] - below.get("Size", 0), next(iter(below.get("RepoTags", ())), "")
            yield Kept(kind, next(iter(tags), row["Id"]), digest, size, on, row["Created"], row["Id"] in used)

    def _inspect(self, image: str) -> Row | None:
        """An image; none changes. None when somebody has removed it since it was listed."""
        if image not in self._inspected:
            with suppress(NotFound):
                self._inspected[image] = self._api.inspect_image(image)
        return self._inspected.get(image)

    @faults()
    def remove(self, kept: Kept) -> bool:
        """Remove what was listed; False when it is in use, also since then. What is gone already is removed."""
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

    @faults()
    def end_own(self) -> None:
        """Remove the containers of this process."""
        for row in self._api.containers(all=True, filters={"label": f"{OWNER}={owner()}"}):
            self._remove_container(row["Id"])

    def _remove_container(self, name: str) -> None:
        self._api.remove_container(name, v=True, force=True)


def _is_ours(row: Row) -> bool:
    """Volumes have no label but that of their layer."""
    return not {LABEL, LAYER}.isdisjoint(row["Labels"] or {}) and (row["Labels"].get(LAYER) != "base")


def _volume(row: Row) -> Kept:
    created, usage = datetime.fromisoformat(row["CreatedAt"]).timestamp(), row["UsageData"]
    return Kept("cache", row["Name"], row["Labels"][DIGEST], usage["Size"], "", created, usage["RefCount"] > 0)


def _container(row: Row) -> Kept:
    """A container is in use as long as the process lives that made it."""
    digest, busy = row["Labels"].get(DIGEST, ""), is_alive(row["Labels"][OWNER])
    return Kept("container", row["Id"], digest, row.get("SizeRw", 0), row["Image"], row["Created"], busy)
