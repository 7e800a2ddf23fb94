"""What LocalSandbox keeps in its cache folder: layers are folders, made by the host's own Node.

Does not cover the tools of agents, which would run on this machine without isolation, and registries.
"""

from __future__ import annotations

import os
import platform
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.core.cache import once
from pipeline.core.store import Unit, digest, read_json, write_json
from pipeline.core.timing import timed
from pipeline.sandbox import install, node
from pipeline.sandbox.base import refused
from pipeline.sandbox.images import Directory, Identity, Installed, Kept, Kit, Layer, Machine, Transfer
from pipeline.sandbox.installation import Installation
from pipeline.sandbox.local import disk as local_disk
from pipeline.sandbox.local import process
from pipeline.sandbox.local.workspace import copy, environ
from pipeline.sandbox.progress import reporting

#: names of architectures on machines -> in engines
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class LocalImages:
    """Layers in the folder `cache`; commands that install them are in `running`."""

    def __init__(self, cache: Path, running: process.Running) -> None:
        self._cache, self._running = cache, running

    def environment(self, spec: Installation, digest: str, manifests: Path, say: Callable[[str], None]) -> Installed:
        if spec.browser:
            raise refused("local", "browse")
        local_disk.settle(self._cache, self.environment_folder(digest))
        result = once(self.environment_folder(digest), lambda folder: self._install(spec, folder, manifests, say))
        packages = tuple(result.get("packages", ()))
        return Installed(result.get("node", ""), packages, deviations=tuple(result["deviations"]))

    def _install(self, spec: Installation, folder: Path, manifests: Path, say: Callable[[str], None]) -> dict[str, Any]:
        host_version = node.version()
        tools, packages, deviations = self._tools(spec, host_version, say)
        scratch, ca = folder / "scratch", install.host_ca()
        scratch.mkdir()
        copy(manifests, folder / "tree")
        registry = node.registry()
        env = environ(tools, scratch) | install.variables(spec, str(scratch), registry, str(ca) if ca else None)
        limits, running = install.LIMITS, self._running
        run = partial(process.run, folder=folder / "tree", env=env, limits=limits, running=running)
        with reporting(say, f"installing: {' '.join(spec.commands[0])}"), timed("install"):
            install.run_all(spec, registry, run)
        shutil.rmtree(scratch)
        return {
            "tools": str(tools.relative_to(self._cache)),
            "node": host_version,
            "packages": packages,
            "deviations": deviations,
        }

    def _tools(
        self, spec: Installation, host_version: str, say: Callable[[str], None]
    ) -> tuple[Path, list[str], list[str]]:
        """The folder of the tools' programs, the packages in it, and deviations from the specification."""
        requested = spec.tools(host_version, node.architecture())
        releases = [node.exact(self._cache, package) for package in requested]
        with reporting(say, f"fetching {', '.join(map(str, releases))}"):
            tools = node.prefix(self._cache, *releases) / "bin"
        is_other = node.major(host_version) != node.major(spec.node)
        resolved = {spec.node: f"Node {host_version} of this machine" if is_other else spec.node}
        resolved |= {str(package): str(release) for package, release in zip(requested, releases, strict=True)}
        return tools, list(map(str, releases)), node.deviations(resolved)

    def instance(self, environment: str, digest: str, checkout: Path, *, generated: bool = False) -> None:
        def make(folder: Path) -> str:
            copy(checkout, folder / "repo")
            (folder / "runner-cache").mkdir()
            return environment

        once(self.instance_folder(digest), make)

    def has(self, digest: str) -> bool:
        unit = Unit(self.instance_folder(digest))
        return unit.path.exists() and local_disk.is_complete(self._cache, self.environment_folder(unit.result()))

    def push(self, kind: Layer, digest: str, registry: str, say: Callable[[str], None]) -> Transfer | None:
        raise refused("local", "share")

    def pull(self, kind: Layer, digest: str, registry: str, say: Callable[[str], None]) -> Transfer | None:
        raise refused("local", "share")

    def tools(self, kit: Kit, say: Callable[[str], None]) -> Path:
        raise refused("local", "reach")

    def machine(self) -> Machine:
        folder = next(path for path in (self._cache, *self._cache.parents) if path.exists())
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return Machine(os.cpu_count() or 1, memory, shutil.disk_usage(folder).free)

    def identity(self) -> Identity:
        machine = platform.machine()
        return Identity("local", ARCHITECTURES.get(machine, machine), "")

    def kept(self) -> list[Kept]:
        return local_disk.kept(self._cache)

    def remove(self, kept: Kept) -> bool:
        return local_disk.remove(self._cache, kept)

    def serve(self, directory: Directory) -> None:
        write_json(self._note(directory), directory)

    def served(self) -> list[Directory]:
        return sorted(Directory(*read_json(path)) for path in self._cache.glob("data-directories/*.json"))

    def forget(self, directory: Directory) -> None:
        self._note(directory).unlink(missing_ok=True)

    def _note(self, directory: Directory) -> Path:
        return self._cache / "data-directories" / f"{digest(*directory)}.json"

    def environment_folder(self, digest: str) -> Path:
        return self._cache / "environments" / digest

    def instance_folder(self, digest: str) -> Path:
        return self._cache / "instances" / digest
