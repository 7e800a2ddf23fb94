"""A workspace in a container: commands, files, and the runner's cache in a volume."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

from docker.models.containers import Container

from pipeline.sandbox.base import COMMON, Completed, Limits, workspace_gone
from pipeline.sandbox.docker import tar
from pipeline.sandbox.docker.commands import execute, fetch, read
from pipeline.sandbox.docker.engine import put
from pipeline.sandbox.docker.limits import peak
from pipeline.sandbox.docker.names import HOME, REPO, RUNNER_CACHE, SCRATCH, TOOLS
from pipeline.sandbox.docker.outlet import DockerOutlet
from pipeline.sandbox.docker.shell import Shell

ENV = {**COMMON, "HOME": HOME}
#: bytes; a larger file reaches a container faster as an archive
SMALL = 1 << 18


class DockerWorkspace:
    """A running container. If a limit ends it, its files can still be read until it is removed.

    Our own commands run in one shell until the first other command.
    """

    root, scratch, cache, tools = REPO, SCRATCH, RUNNER_CACHE, TOOLS

    def __init__(self, container: Container, limits: Limits, url: str = "") -> None:
        self._container, self._limits, self._gone, self.url = container, limits, False, url
        self._shell: Shell | None = None
        self._is_exposed = False

    @property
    def is_gone(self) -> bool:
        """Whether a limit has ended it."""
        return self._gone

    def run(
        self,
        argv: Sequence[str],
        *,
        env: dict[str, str] | None = None,
        seconds: float | None = None,
        folder: str = "",
        ours: bool = False,
    ) -> Completed:
        if self._gone:
            raise workspace_gone()
        limits = replace(self._limits, seconds=self._limits.seconds if seconds is None else seconds)
        path = posixpath.join(self.root, folder)
        if ours and not env and (shell := self._open_shell()):
            completed = shell.run(argv, path, limits)
        else:
            self._expose()
            completed = execute(self._container, argv, folder=path, env=ENV | (env or {}), limits=limits)
        self._gone = completed.limit is not None
        return completed

    def _open_shell(self) -> Shell | None:
        """The shell for our own commands; None once code of the repository may have run, or a limit has ended all."""
        if self._is_exposed or self._gone:
            return None
        if self._shell is None or self._shell.has_ended:
            self._shell = Shell(self._container, ENV)
        return self._shell

    def _expose(self) -> None:
        """End the shell, since code of the repository may run."""
        self._is_exposed = True
        if self._shell:
            self._shell.close()
            self._shell = None

    def write(self, path: str, data: bytes) -> None:
        folder, name = posixpath.split(path)
        if len(data) <= SMALL and path.startswith(f"{self.scratch}/") and (shell := self._open_shell()):
            completed = shell.write(path, data, self._limits)
            self._gone = completed.limit is not None
            if not completed.code:
                return
        if not put(self._container, folder, tar.of_entries({name: data})):
            self.run(["mkdir", "-p", folder], ours=True)
            put(self._container, folder, tar.of_entries({name: data}))

    def read(self, path: str) -> bytes | None:
        return read(self._container, path, self._limits.output)

    def outlet(self, name: str) -> DockerOutlet:
        return DockerOutlet(self._container, name, self._limits)

    def peak(self) -> int:
        return 0 if self._gone else peak(self._container)

    def fetch(self, folder: str, target: Path) -> None:
        with TemporaryFile() as archive:
            fetch(self._container, folder, archive, self._limits.output)
            archive.seek(0)
            tar.extract_files(archive, target)
