"""DockerSandbox: layers are images, a workspace is a container without network or rights that is removed after use.

Needs a Docker engine (DOCKER_HOST, else the local one) and the base image; keeps what it fetches in its cache folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any

from docker.models.containers import Container

from pipeline.core.errors import InfrastructureError, UserError, unknown
from pipeline.sandbox import node
from pipeline.sandbox.base import DEFAULT, Ability, Cache, Limits
from pipeline.sandbox.docker import fence
from pipeline.sandbox.docker import tools as agent_tools
from pipeline.sandbox.docker.engine import Engine, start
from pipeline.sandbox.docker.images import DockerImages
from pipeline.sandbox.docker.names import base_image, instance_image
from pipeline.sandbox.docker.reach import relayed, route_to
from pipeline.sandbox.docker.runner_cache import RunnerCache
from pipeline.sandbox.docker.workspace import DockerWorkspace

#: where the engine is unless DOCKER_HOST says otherwise
SOCKET = "unix:///var/run/docker.sock"


class DockerSandbox:
    """The sandbox for untrusted code, and for agents that run code."""

    name = "docker"
    can = frozenset[Ability]({"contain", "reach", "browse", "share"})

    def __init__(self, cache: Path) -> None:
        self.cache = cache.absolute()

    @cached_property
    def _engine(self) -> Engine:
        return Engine()

    @cached_property
    def images(self) -> DockerImages:
        return DockerImages(self._engine, self.cache)

    def check(self) -> None:
        fence.configured()
        try:
            image = self._engine.image(base_image())
            self._engine.sweep()
        except InfrastructureError as error:
            hint = "run: just engine-start (installs one on Debian, and starts it), or set DOCKER_HOST"
            address = os.environ.get("DOCKER_HOST") or SOCKET
            raise UserError(f"{error} (at {address})", hint=hint) from None
        if image is None:
            raise UserError(f"the engine has no image {base_image()}", hint="run: just base-build")
        if self._engine.architecture not in node.ARCHITECTURES:
            raise unknown("architecture of an engine", self._engine.architecture, list(node.ARCHITECTURES))

    def abort(self) -> None:
        self._engine.containers.end()

    @contextmanager
    def open(
        self, digest: str, *, cache: Cache = "use", limits: Limits = DEFAULT, tools: Path | None = None, reach: str = ""
    ) -> Iterator[DockerWorkspace]:
        runner, route = RunnerCache(self._engine, digest, cache), route_to(reach) if reach else None
        hosts = route.hosts if route else {}
        with self._started(digest, limits, mounts=runner.mounts(), extra_hosts=hosts) as container:
            if tools:
                agent_tools.give(container, tools)
            workspace = DockerWorkspace(container, limits, route.url if route else "")
            with relayed(container, route.address) if route else nullcontext(), runner.copied(workspace):
                yield workspace

    @contextmanager
    def _started(self, digest: str, limits: Limits, **options: Any) -> Iterator[Container]:
        # the first process only waits. It has another user, so no command can end it, and the container with it
        options |= {"network_mode": "none", "user": "root"}
        with self._engine.container(instance_image(digest), "workspace", limits, **options) as container:
            start(container)
            yield container
