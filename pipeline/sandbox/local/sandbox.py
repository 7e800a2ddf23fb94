"""LocalSandbox: no container engine, for trusted code only. The caller decides what is trusted.

Writes to its cache folder: `environments/DIGEST` (tree with node_modules), `instances/DIGEST` (sources, runner-cache),
`workspaces/N` (emptied after use) and `npm/`. A command gets a clean environment, a time limit, an output limit and a
session that is killed with it. Not limited: memory, CPUs, processes, disk and network. Not isolated: it runs as the
caller, on the host's Node, and may read and write whatever the caller may.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.core.cache import lock, once
from pipeline.core.errors import UserError
from pipeline.core.store import Unit
from pipeline.core.timing import timed
from pipeline.sandbox import install, node
from pipeline.sandbox.base import DEFAULT, Cache, Kept, Limits, Machine
from pipeline.sandbox.installation import Installation
from pipeline.sandbox.local import disk as local_disk
from pipeline.sandbox.local import process
from pipeline.sandbox.local.workspace import LocalWorkspace, copy, environ, link_modules, slot
from pipeline.sandbox.progress import telling

TOOLS = ("node", "npm", "git")


class LocalSandbox:
    """Layers are folders; a workspace is a copy of the sources with links to the environment's modules."""

    name = "local"

    def __init__(self, cache: Path) -> None:
        self.cache = cache.resolve()  # node names files by their real path
        self.running = process.Running()

    def check(self) -> None:
        if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
            raise UserError(f"not on this machine: {', '.join(missing)}", hint="install Node with npm, and git")

    def environment(self, spec: Installation, digest: str, manifests: Path, say: Callable[[str], None]) -> list[str]:
        made = once(self._environment(digest), lambda folder: self._install(spec, folder, manifests, say))
        return made["deviations"]

    def _install(self, spec: Installation, folder: Path, manifests: Path, say: Callable[[str], None]) -> dict[str, Any]:
        here = node.version()
        tools, deviations = self._tools(spec, here, say)
        scratch, ca = folder / "scratch", install.host_ca()
        scratch.mkdir()
        copy(manifests, folder / "tree")
        registry = node.registry()
        env = environ(tools, scratch) | install.variables(spec, str(scratch), registry, ca and str(ca))
        limits, running = install.LIMITS, self.running
        run = partial(process.run, folder=folder / "tree", env=env, limits=limits, running=running)
        with telling(say, f"installing: {' '.join(spec.commands[0])}"), timed("install"):
            install.run_all(spec, registry, run)
        shutil.rmtree(scratch)
        return {"tools": str(tools), "deviations": deviations}

    def _tools(self, spec: Installation, here: str, say: Callable[[str], None]) -> tuple[Path, list[str]]:
        """The folder of the tools' programs, and what is not as specified."""
        wanted = spec.tools(here, node.architecture())
        found = [node.exact(self.cache, package) for package in wanted]
        with telling(say, f"fetching {', '.join(map(str, found))}"):
            tools = node.prefix(self.cache, *found) / "bin"
        host = f"Node {here} of this machine" if node.major(here) != node.major(spec.node) else spec.node
        return tools, node.deviations({spec.node: host} | dict(zip(map(str, wanted), map(str, found), strict=True)))

    def has(self, digest: str) -> bool:
        return Unit(self._instance(digest)).path.exists()

    def instance(self, environment: str, digest: str, checkout: Path) -> None:
        def make(folder: Path) -> str:
            copy(checkout, folder / "repo")
            (folder / "runner-cache").mkdir()
            return environment

        once(self._instance(digest), make)

    def machine(self) -> Machine:
        place = next(path for path in (self.cache, *self.cache.parents) if path.exists())
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        return Machine(os.cpu_count() or 1, memory, shutil.disk_usage(place).free)

    def kept(self) -> list[Kept]:
        return local_disk.kept(self.cache)

    def remove(self, kept: Kept) -> bool:
        return local_disk.remove(self.cache, kept)

    def abort(self) -> None:
        self.running.end()

    @contextmanager
    def open(self, digest: str, *, cache: Cache = "use", limits: Limits = DEFAULT) -> Iterator[LocalWorkspace]:
        instance = self._instance(digest)
        environment = self._environment(Unit(instance).result())
        filled, tools = instance / "runner-cache", Unit(environment).result()["tools"]
        with slot(self.cache / "workspaces") as folder:
            local_disk.mark(folder, digest)
            workspace = LocalWorkspace(folder, Path(tools), limits, self.running)
            copy(instance / "repo", folder / "repo")
            link_modules(environment / "tree", folder / "repo")
            if cache != "none":
                _copy_cache(filled, folder / "cache", filled)
            yield workspace
            if cache == "fill":
                _copy_cache(folder / "cache", filled, filled)

    def _environment(self, digest: str) -> Path:
        return self.cache / "environments" / digest

    def _instance(self, digest: str) -> Path:
        return self.cache / "instances" / digest


def _copy_cache(source: Path, target: Path, filled: Path) -> None:
    with lock(filled.with_name("runner-cache.lock")):
        copy(source, target)
