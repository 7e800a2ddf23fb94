"""DockerSandbox: layers are images, a workspace is a container without network or rights that is removed after use.

Needs a Docker engine (DOCKER_HOST, else the local one) and the base image; keeps what it fetches in its cache folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any

from docker.models.containers import Container

from pipeline.core.errors import InfrastructureError, UserError, unknown
from pipeline.sandbox import node
from pipeline.sandbox.base import DEFAULT, Cache, Kept, Limits, Machine, NoBaseImage
from pipeline.sandbox.docker.disk import Disk
from pipeline.sandbox.docker.engine import Engine, start
from pipeline.sandbox.docker.layers import Layers
from pipeline.sandbox.docker.names import base_image, instance_image
from pipeline.sandbox.docker.runner_cache import RunnerCache
from pipeline.sandbox.docker.workspace import DockerWorkspace
from pipeline.sandbox.installation import Installation


class DockerSandbox:
    """The sandbox for code that nobody has read."""

    name = "docker"

    def __init__(self, cache: Path) -> None:
        self.cache = cache.absolute()

    @cached_property
    def _engine(self) -> Engine:
        return Engine()

    @cached_property
    def _disk(self) -> Disk:
        return Disk(self._engine.api)

    def check(self) -> None:
        try:
            found = self._engine.image(base_image())
            self._engine.sweep()
        except InfrastructureError as error:
            hint = "run: just engine-start (installs one on Debian, and starts it), or set DOCKER_HOST"
            raise UserError(str(error), hint=hint) from None
        if found is None:
            raise NoBaseImage(f"the engine has no image {base_image()}", hint="run: just base-build")
        if self._engine.architecture not in node.ARCHITECTURES:
            raise unknown("architecture of an engine", self._engine.architecture, list(node.ARCHITECTURES))

    def environment(self, spec: Installation, digest: str, manifests: Path, say: Callable[[str], None]) -> list[str]:
        return Layers(self._engine, self.cache).environment(spec, digest, manifests, say)

    def has(self, digest: str) -> bool:
        return self._engine.image(instance_image(digest)) is not None

    def instance(self, environment: str, digest: str, checkout: Path) -> None:
        Layers(self._engine, self.cache).instance(environment, digest, checkout)

    def machine(self) -> Machine:
        return self._engine.machine()

    def kept(self) -> list[Kept]:
        self._engine.containers.settle()
        return self._disk.kept()

    def remove(self, kept: Kept) -> bool:
        return self._disk.remove(kept)

    def abort(self) -> None:
        self._engine.containers.end()

    @contextmanager
    def open(self, digest: str, *, cache: Cache = "use", limits: Limits = DEFAULT) -> Iterator[DockerWorkspace]:
        runner = RunnerCache(self._engine, digest, cache)
        with self._started(digest, limits, mounts=runner.mounts()) as container:
            workspace = DockerWorkspace(container, limits)
            with runner.copied(workspace):
                yield workspace

    @contextmanager
    def _started(self, digest: str, limits: Limits, **options: Any) -> Iterator[Container]:
        # the first process only waits; no command may end it, and with it the container, and so is another user
        options |= {"network_mode": "none", "user": "root"}
        with self._engine.container(instance_image(digest), "workspace", limits, **options) as container:
            start(container)
            yield container
