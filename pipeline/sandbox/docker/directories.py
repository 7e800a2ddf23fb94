"""The data directories that an engine's images serve, recorded in the engine: each is an empty volume with labels.

Every user of an engine therefore knows of all data directories, including those of other people and hosts.
"""

from __future__ import annotations

from contextlib import suppress

from docker import APIClient
from docker.errors import NotFound

from pipeline.core.store import digest
from pipeline.sandbox.docker.faults import faults
from pipeline.sandbox.images import Directory

HOST, PATH = "a11y-bench.data-host", "a11y-bench.data-path"


class Directories:
    """The recorded data directories. Every method raises InfrastructureError if no engine answers."""

    def __init__(self, api: APIClient) -> None:
        self._api = api

    @faults()
    def serve(self, directory: Directory) -> None:
        self._api.create_volume(_name(directory), labels={HOST: directory.host, PATH: directory.path})

    @faults()
    def served(self) -> list[Directory]:
        volumes = self._api.volumes(filters={"label": PATH})["Volumes"] or ()
        return sorted(Directory(volume["Labels"][HOST], volume["Labels"][PATH]) for volume in volumes)

    @faults()
    def forget(self, directory: Directory) -> None:
        with suppress(NotFound):
            self._api.remove_volume(_name(directory))


def _name(directory: Directory) -> str:
    return f"a11y-bench-data-{digest(*directory)}"
