"""What DockerSandbox keeps: layers as images, runners' caches as volumes, tools in the cache folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.sandbox.docker import tools
from pipeline.sandbox.docker.directories import Directories
from pipeline.sandbox.docker.disk import Disk
from pipeline.sandbox.docker.engine import Engine
from pipeline.sandbox.docker.layers import Layers
from pipeline.sandbox.docker.names import base_image, instance_image
from pipeline.sandbox.images import Directory, Identity, Installed, Kept, Kit, Layer, Machine, Transfer
from pipeline.sandbox.installation import Installation

if TYPE_CHECKING:
    from pipeline.sandbox.docker.registry import Registry


class DockerImages:
    """The images of one engine, made by Layers, counted and removed by Disk."""

    def __init__(self, engine: Engine, cache: Path) -> None:
        self._engine, self._cache = engine, cache
        self._layers, self._disk, self._directories = Layers(engine, cache), Disk(engine.api), Directories(engine.api)

    def environment(self, spec: Installation, digest: str, manifests: Path, say: Callable[[str], None]) -> Installed:
        return self._layers.environment(spec, digest, manifests, say)

    def instance(self, environment: str, digest: str, checkout: Path, *, generated: bool = False) -> None:
        self._layers.instance(environment, digest, checkout, generated=generated)

    def has(self, digest: str) -> bool:
        return self._engine.image(instance_image(digest)) is not None

    def push(self, kind: Layer, digest: str, registry: str, say: Callable[[str], None]) -> Transfer | None:
        return self._registry(registry).push(kind, digest, say)

    def pull(self, kind: Layer, digest: str, registry: str, say: Callable[[str], None]) -> Transfer | None:
        return self._registry(registry).pull(kind, digest, say)

    def _registry(self, name: str) -> Registry:
        from pipeline.sandbox.docker.registry import Registry  # its HTTP client is slow to import

        return Registry(self._engine, name)

    def tools(self, kit: Kit, say: Callable[[str], None]) -> Path:
        return tools.archive(self._engine, self._cache, kit, say)

    def machine(self) -> Machine:
        return self._engine.machine()

    def identity(self) -> Identity:
        base = self._engine.image(base_image())
        return Identity("docker", self._engine.architecture, (base.id or "") if base else "")

    def kept(self) -> list[Kept]:
        self._engine.containers.settle()
        return self._disk.kept()

    def remove(self, kept: Kept) -> bool:
        return self._disk.remove(kept)

    def serve(self, directory: Directory) -> None:
        self._directories.serve(directory)

    def served(self) -> list[Directory]:
        return self._directories.served()

    def forget(self, directory: Directory) -> None:
        self._directories.forget(directory)
