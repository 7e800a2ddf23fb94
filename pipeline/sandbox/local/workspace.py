"""The workspace of LocalSandbox: a numbered folder, emptied after use. It isolates nothing (sandbox.py)."""

from __future__ import annotations

import itertools
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import filelock

from pipeline.core.cache import lock
from pipeline.core.store import write_bytes
from pipeline.sandbox.base import COMMON, Completed, Limits, workspace_gone
from pipeline.sandbox.local import process


class LocalWorkspace:
    """A folder with a repository, a scratch folder, a runner's cache, a home and a folder for temporary files."""

    tools, url = "", ""

    def __init__(self, folder: Path, tools: Path, limits: Limits, running: process.Running | None = None) -> None:
        for name in ("repo", "scratch", "cache", "home", "tmp"):
            (folder / name).mkdir(parents=True)
        self.root, self.scratch, self.cache = (str(folder / name) for name in ("repo", "scratch", "cache"))
        self._env = environ(tools, folder / "home") | {"TMPDIR": str(folder / "tmp")}
        self._limits, self._running, self._gone = limits, running, False

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
        path, env = Path(self.root, folder), self._env | (env or {})
        completed = process.run(argv, folder=path, env=env, limits=limits, running=self._running)
        self._gone = completed.limit is not None
        return completed

    def write(self, path: str, data: bytes) -> None:
        write_bytes(Path(path), data)

    def read(self, path: str) -> bytes | None:
        with suppress(FileNotFoundError, NotADirectoryError):
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode) and status.st_size <= self._limits.output:
                return Path(path).read_bytes()
        return None

    def outlet(self, name: str) -> None:
        """Trusted code does not need one."""

    def peak(self) -> int:
        return 0

    def fetch(self, folder: str, target: Path) -> None:
        remaining = self._limits.output
        for parent, _, names in os.walk(folder):
            for path in (Path(parent, name) for name in sorted(names)):
                data = self.read(str(path))
                if data is None or len(data) > remaining:
                    continue
                remaining -= len(data)
                write_bytes(target / path.relative_to(folder), data)


def environ(tools: Path, home: Path) -> dict[str, str]:
    """The variables of commands: of the host's environment, only its PATH."""
    return {**COMMON, "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', os.defpath)}", "HOME": str(home)}


@contextmanager
def slot(root: Path) -> Iterator[Path]:
    """The first free folder of 0, 1, … in `root`, emptied. Paths are reused, since runners' caches depend on them."""
    for number in itertools.count():
        slot_lock = lock(root / f"{number}.lock")
        with suppress(filelock.Timeout), slot_lock.acquire(timeout=0):
            yield from _emptied(root / str(number))
            return


def _emptied(folder: Path) -> Iterator[Path]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def copy(source: Path, target: Path) -> None:
    """Copy a folder's content into another one, with links as links; the files belong to the caller."""
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True)


def link_modules(tree: Path, repo: Path) -> None:
    """Link the modules of every top-most node_modules folder in `tree` into `repo`, at the same paths."""
    for folder, names, _ in os.walk(tree):
        if "node_modules" in names:
            names.remove("node_modules")
            _link(Path(folder, "node_modules"), repo / Path(folder).relative_to(tree) / "node_modules")


def _link(source: Path, target: Path) -> None:
    """Link each module. Relative links (the repository's own packages) are copied, so they point into `repo`."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.name.startswith("@") and not entry.is_symlink():
            _link(entry, target / entry.name)
        else:
            (target / entry.name).symlink_to(entry.readlink() if entry.is_symlink() else entry)
