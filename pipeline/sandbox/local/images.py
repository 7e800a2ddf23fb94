"""What LocalSandbox keeps in its cache folder: layers are folders, made by the host's own Node.

Does not cover the tools of agents: they would run on this machine with all that it has.
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
from pipeline.sandbox.images import Directory, Identity, Installed, Kept, Kit, Machine
from pipeline.sandbox.installation import Installation
from pipeline.sandbox.local import disk as local_disk
from pipeline.sandbox.local import process
from pipeline.sandbox.local.workspace import copy, environ
from pipeline.sandbox.progress import telling

#: what machines call their architecture -> what engines call it
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class LocalImages:
    """Layers in the folder `cache`; what installs them is in `running` meanwhile."""

    def __init__(self, cache: Path, running: process.Running) -> None:
        self._cache, self._running = cache, running

    def environment(self, spec: Installation, digest: str, manifests: Path, say: Callable[[str], None]) -> Installed:
        if spec.browser:
            raise refused("local", "browse")
        made = once(self.environment_folder(digest), lambda folder: self._install(spec, folder, manifests, say))
        packages = tuple(made.get("packages", ()))
        return Installed(made.get("node", ""), packages, deviations=tuple(made["deviations"]))

    def _install(self, spec: Installation, folder: Path, manifests: Path, say: Callable[[str], None]) -> dict[str, Any]:
        here = node.version()
        tools, packages, deviations = self._tools(spec, here, say)
        scratch, ca = folder / "scratch", install.host_ca()
        scratch.mkdir()
        copy(manifests, folder / "tree")
        registry = node.registry()
        env = environ(tools, scratch) | install.variables(spec, str(scratch), registry, str(ca) if ca else None)
        limits, running = install.LIMITS, self._running
        run = partial(process.run, folder=folder / "tree", env=env, limits=limits, running=running)
        with telling(say, f"installing: {' '.join(spec.commands[0])}"), timed("install"):
            install.run_all(spec, registry, run)
        shutil.rmtree(scratch)
        return {"tools": str(tools), "node": here, "packages": packages, "deviations": deviations}

    def _tools(self, spec: Installation, here: str, say: Callable[[str], None]) -> tuple[Path, list[str], list[str]]:
        """The folder of the tools' programs, what these are, and what is not as specified."""
        wanted = spec.tools(here, node.architecture())
        found = [node.exact(self._cache, package) for package in wanted]
        with telling(say, f"fetching {', '.join(map(str, found))}"):
            tools = node.prefix(self._cache, *found) / "bin"
        host = f"Node {here} of this machine" if node.major(here) != node.major(spec.node) else spec.node
        packages = list(map(str, found))
        return tools, packages, node.deviations({spec.node: host} | dict(zip(map(str, wanted), packages, strict=True)))

    def instance(self, environment: str, digest: str, checkout: Path) -> None:
        def make(folder: Path) -> str:
            copy(checkout, folder / "repo")
            (folder / "runner-cache").mkdir()
            return environment

        once(self.instance_folder(digest), make)

    def has(self, digest: str) -> bool:
        return Unit(self.instance_folder(digest)).path.exists()

    def tools(self, kit: Kit, say: Callable[[str], None]) -> Path:
        raise refused("local", "reach")

    def machine(self) -> Machine:
        place = next(path for path in (self._cache, *self._cache.parents) if path.exists())
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return Machine(os.cpu_count() or 1, memory, shutil.disk_usage(place).free)

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
