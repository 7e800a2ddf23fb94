"""LocalSandbox: no container engine, for trusted code only. The caller decides what is trusted.

Writes to its cache folder: `environments/DIGEST` (tree with node_modules), `instances/DIGEST` (sources, runner-cache),
`workspaces/N` (emptied after use) and `npm/`. A command gets a clean environment, a time limit, an output limit and a
session that is killed with it. Not limited: memory, CPUs, processes, disk and network. Not isolated: it runs as the
caller, on the host's Node, and can read and write everything that the caller can.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.core.cache import lock
from pipeline.core.errors import UserError
from pipeline.core.store import Unit
from pipeline.sandbox.base import DEFAULT, Ability, Cache, Limits, refused
from pipeline.sandbox.local import disk as local_disk
from pipeline.sandbox.local import process
from pipeline.sandbox.local.images import LocalImages
from pipeline.sandbox.local.workspace import LocalWorkspace, copy, link_modules, slot

TOOLS = ("node", "npm", "git")


class LocalSandbox:
    """Layers are folders; a workspace is a copy of the sources with links to the environment's modules."""

    name = "local"
    can = frozenset[Ability]()

    def __init__(self, cache: Path) -> None:
        self.cache = cache.resolve()  # Node reports files by their real path
        self.running = process.Running()
        self.images = LocalImages(self.cache, self.running)

    def check(self) -> None:
        if missing := [tool for tool in TOOLS if not shutil.which(tool)]:
            raise UserError(f"not installed: {', '.join(missing)}", hint="install Node with npm, and git")

    def abort(self) -> None:
        self.running.end()

    @contextmanager
    def open(
        self, digest: str, *, cache: Cache = "use", limits: Limits = DEFAULT, tools: Path | None = None, reach: str = ""
    ) -> Iterator[LocalWorkspace]:
        if tools or reach:
            raise refused(self.name, "reach")
        instance = self.images.instance_folder(digest)
        environment = self.images.environment_folder(Unit(instance).result())
        filled, programs = instance / "runner-cache", local_disk.tools_of(self.cache, Unit(environment))
        with slot(self.cache / "workspaces") as folder:
            local_disk.mark(folder, digest)
            workspace = LocalWorkspace(folder, programs, limits, self.running)
            copy(instance / "repo", folder / "repo")
            link_modules(environment / "tree", folder / "repo")
            if cache != "none":
                _copy_cache(filled, folder / "cache", filled)
            yield workspace
            if cache == "fill":
                _copy_cache(folder / "cache", filled, filled)


def _copy_cache(source: Path, target: Path, filled: Path) -> None:
    with lock(filled.with_name("runner-cache.lock")):
        copy(source, target)
