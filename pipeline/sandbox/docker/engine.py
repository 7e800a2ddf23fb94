"""One Docker engine, through the Docker SDK: labeled images, and containers that are always removed.

Uses the engine of DOCKER_HOST (unix, tcp, ssh), else the local one. It may be on another machine: files are transferred
as archives, and nothing of the host is mounted. Its failures are raised as InfrastructureError, with the cause `disk`
if it has no space left, else `engine`.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import IO, Any

import docker
from docker.errors import APIError, NotFound
from docker.models.containers import Container
from docker.models.images import Image
from docker.types import LogConfig, Ulimit

from pipeline.sandbox.base import Limits
from pipeline.sandbox.docker.containers import LABEL, NO_CONTAINER, Containers
from pipeline.sandbox.docker.faults import faults
from pipeline.sandbox.docker.names import MADE_HERE, base_image
from pipeline.sandbox.docker.ssh import Tunnel
from pipeline.sandbox.images import Machine

log = logging.getLogger(__name__)

USER = "bench"

#: only the rights of a user, and no log on the engine's disk: output is read as it comes
UNPRIVILEGED: dict[str, Any] = {
    "user": USER,
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "init": True,
    "log_config": LogConfig(type=LogConfig.types.NONE),
}

#: seconds after which a container ends by itself, in case the process that created it is killed
LIFETIME = str(24 * 3600)

#: seconds for the first answer of an engine, and for any answer (such as committing a large layer)
GREETING, PATIENCE = 20, 900

#: files that browsers and watchers of a whole test suite hold open (docs/thesis.md, appendix 9.1)
OPEN_FILES = 1_048_576


class Engine:
    """One engine. Every method raises InfrastructureError if it does not answer."""

    @faults()
    def __init__(self) -> None:
        environment = dict(os.environ)
        if environment.get("DOCKER_HOST", "").startswith("ssh://"):
            self._tunnel = Tunnel(environment["DOCKER_HOST"], GREETING)
            environment["DOCKER_HOST"] = self._tunnel.host
        self._client = docker.from_env(timeout=GREETING, max_pool_size=64, environment=environment)
        self._client.api.timeout = PATIENCE
        self.containers = Containers(self._client)
        self._open_files = 0

    @property
    def api(self) -> docker.APIClient:
        """The SDK's client of the engine."""
        return self._client.api

    @cached_property
    @faults()
    def architecture(self) -> str:
        """The engine's architecture, `amd64` or `arm64`, which may differ from the host's."""
        return self._client.version()["Arch"]

    @cached_property
    @faults()
    def info(self) -> dict[str, Any]:
        """The engine's information about itself, as its API gives it."""
        return self._client.info()

    @cached_property
    @faults()
    def builder(self) -> str:
        """The builder that the engine would use; we never use it."""
        api = self._client.api
        version = api.get(f"{api.base_url}/_ping").headers.get("Builder-Version")
        return "BuildKit" if version == "2" else "the classic builder"

    @property
    @faults()
    def open_files(self) -> int:
        """The files that a process in a container may hold open: OPEN_FILES, or the engine's maximum if that is
        lower."""
        if not self._open_files:
            self._run_probe("true")
        return self._open_files

    def _run_probe(self, *command: str) -> str:
        """Run a trusted command; returns its output, and learns how many files it may hold open."""
        script = ("sh", "-c", 'ulimit -Hn; exec "$@"', "sh", *command)
        try:
            output = self.probe(*script, ulimits=[_ulimit("nofile", self._open_files or OPEN_FILES)])
        except APIError:  # it refuses values above its own limit, and reports that limit nowhere else
            output = self.probe(*script)
        limit, _, result = output.partition("\n")
        if not self._open_files and int(limit) < OPEN_FILES:
            log.info("this engine lets a process open %s files, %d were asked for", limit, OPEN_FILES)
        self._open_files = int(limit)
        return result

    def probe(self, *command: str, **options: Any) -> str:
        """Run a trusted command in a container of the base image; returns its output. Raises what the Docker SDK
        raises."""
        container = self.containers.create(base_image(), command, "probe", network_mode="none", user=USER, **options)
        try:
            container.start()
            container.wait()
            return container.logs().decode()
        finally:
            self.containers.give_up(container)

    @faults()
    def machine(self) -> Machine:
        """The processors, memory and disk of the machine that the engine runs on."""
        free = self._run_probe("df", "--block-size=1", "--output=avail", "/").split()[-1]
        return Machine(self.info["NCPU"], self.info["MemTotal"], int(free))

    @faults()
    def image(self, name: str) -> Image | None:
        """An image (id, labels); None if there is none of this name."""
        self.containers.check()
        with suppress(NotFound):
            return self._client.images.get(name)
        return None

    def size(self, name: str) -> int:
        """The size of an image with all its layers, in bytes; 0 if there is none."""
        image = self.image(name)
        return image.attrs["Size"] if image else 0

    @faults()
    def has_volume(self, name: str) -> bool:
        with suppress(NotFound):
            return bool(self._client.volumes.get(name))
        return False

    @contextmanager
    def container(self, image: str, purpose: str, limits: Limits, **options: Any) -> Iterator[Container]:
        """An unprivileged container that has not been started. It is removed at the end, whatever happens.

        It is removed in the background, since that takes a second, and much longer with a large layer.
        """
        with faults():
            settings = UNPRIVILEGED | self._limited(limits) | options
            container = self.containers.create(image, ["sleep", LIFETIME], purpose, **settings)
        try:
            yield container
        finally:
            self.containers.give_up(container)

    @faults()
    def sweep(self) -> None:
        """Remove what processes of this host left behind that no longer run."""
        self.containers.sweep()

    def _limited(self, limits: Limits) -> dict[str, Any]:
        return {
            "mem_limit": limits.memory,
            "memswap_limit": limits.memory,
            "shm_size": limits.memory,
            "nano_cpus": int(min(limits.cpus, self.info["NCPU"]) * 1e9),
            "pids_limit": limits.processes,
            "ulimits": [_ulimit("nofile", self.open_files), _ulimit("fsize", limits.disk)],
        }


def _ulimit(name: str, limit: int) -> Ulimit:
    return Ulimit(name=name, soft=limit, hard=limit)


@faults()
def start(container: Container) -> None:
    container.start()


@faults()
def put(container: Container, folder: str, archive: bytes | IO[bytes]) -> bool:
    """Unpack an archive in a folder; False if the folder does not exist."""
    with suppress(NotFound):
        return container.put_archive(folder, archive)
    return False


@faults()
def commit(container: Container, image: str, labels: dict[str, str], env: Mapping[str, str] | None = None) -> Image:
    """Make an image of a container. The image inherits the container's labels; those that name its owner are emptied.

    Commands in the image get the variables `env` in addition to those of its parent.
    """
    repository, _, tag = image.rpartition(":")
    all_labels = {LABEL: "image", **NO_CONTAINER, **labels}
    configuration = {"Env": [f"{name}={value}" for name, value in env.items()]} if env else {}
    return container.commit(repository, tag, message=MADE_HERE, conf={"Labels": all_labels, **configuration})
