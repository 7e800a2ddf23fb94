"""The protocol of all sandboxes: open a workspace from an image, run commands in it, read and write files.

A failed command is a returned result; a broken sandbox raises InfrastructureError, with the cause `engine`, `registry`,
`disk` or `workspace_gone`. A failed install raises InstallFailed with the end of its log, since that is the
repository's fault and not the machine's.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from pipeline.core.errors import A11yBenchError, InfrastructureError, UserError
from pipeline.sandbox.images import Images

#: `none`: the runner starts cold; `use`: a private copy of the instance's cache, which is empty at first; `fill`: the
#: run adds to that cache. Only code of the repository's own history may do so (a patch could poison it), and such a run
#: may start with entries of the environment's other instances.
Cache = Literal["none", "use", "fill"]

#: what a command can exceed: wall-clock time, memory, output, written files, simultaneous processes
Limit = Literal["time", "memory", "output", "disk", "processes"]

#: abilities of a sandbox -> their description: what a sandbox lacks is refused, never done in part
Ability = Literal["contain", "reach", "browse", "share"]
ABILITIES: dict[Ability, str] = {
    "contain": "contain untrusted code",
    "reach": "give agents a single way out, and tools of their own",
    "browse": "give tests a browser",
    "share": "send images to a registry or fetch them",
}

#: the variables of every command besides its own PATH, HOME and TMPDIR: nothing of the host's environment. The yarn
#: that a repository names is installed, so its own copy of it is not started
COMMON = {"CI": "1", "LANG": "C.UTF-8", "TZ": "UTC", "YARN_IGNORE_PATH": "1"}


@dataclass(frozen=True)
class Limits:
    """Limits of a workspace: wall-clock seconds per command, bytes of memory, output and disk, CPUs, processes."""

    seconds: float = 1800
    memory: int = 4 * 2**30
    cpus: float = 2
    processes: int = 1024
    output: int = 64 * 2**20
    disk: int = 8 * 2**30


DEFAULT = Limits()


@dataclass(frozen=True)
class Completed:
    """A command that ended: exit code (negative: killed by a signal), merged output up to the limit, seconds.

    `limit` is the limit that ended it or made it fail.
    """

    code: int
    output: bytes
    seconds: float
    limit: Limit | None = None


def exit_code(code: int) -> int:
    """One form for all sandboxes: death by signal n is -n, even if a shell or an engine reports it as 128 + n."""
    return 128 - code if 128 < code < 192 else code


class InstallFailed(A11yBenchError):
    """The dependencies of an environment could not be installed; `log` is the end of the manager's output."""

    def __init__(self, message: str, log: str) -> None:
        self.log = log
        super().__init__(message)


def workspace_gone() -> InfrastructureError:
    """The error of a command in a workspace that a limit has ended."""
    return InfrastructureError("a limit has ended this workspace: open another", cause="workspace_gone")


def stopped() -> InfrastructureError:
    """The error of every call to a sandbox after `abort`. It is not retried, and decides nothing."""
    return InfrastructureError("stopped at once, as requested", cause="stopped")


class Outlet(Protocol):
    """A pipe out of a workspace: what is written to `path` leaves at once and cannot be withdrawn from inside."""

    path: str

    def drain(self) -> bytes | None:
        """Everything that was written, in order; None if that is nothing or exceeds the output limit. Call it once."""


class Workspace(Protocol):
    """A fresh copy of an instance's image. Nothing in it outlives it, except a filled cache.

    A command that reaches a limit ends the workspace: its files can still be read, but the next command raises
    InfrastructureError(cause="workspace_gone").
    """

    root: str
    """The repository's root, as commands see it."""
    scratch: str
    """A writable folder outside the repository, for patches and reports."""
    cache: str
    """The runner's transform cache, as commands see it."""
    tools: str
    """The folder of the tools that it was opened with, as commands see it; read-only for them."""
    url: str
    """The URL at which commands reach the address that it was opened with; empty without one."""

    def run(
        self,
        argv: Sequence[str],
        *,
        env: dict[str, str] | None = None,
        seconds: float | None = None,
        folder: str = "",
        ours: bool = False,
    ) -> Completed:
        """Run one command in the repository's root or a folder below it, without a shell, within the limits.

        `ours` promises that it is a command of this project's that starts no code of the repository: a sandbox may then
        start it in a faster way.
        """

    def write(self, path: str, data: bytes) -> None:
        """Write a file; `path` is absolute, as commands see it."""

    def read(self, path: str) -> bytes | None:
        """A file's bytes; None if it is missing, not a regular file, or larger than the output limit."""

    def outlet(self, name: str) -> Outlet | None:
        """A pipe out of the workspace by this name, which is not secret; None if the sandbox has none."""

    def peak(self) -> int:
        """The peak memory so far, in bytes, as counted by the kernel; 0 if nothing counts it or the workspace has
        ended."""

    def fetch(self, folder: str, target: Path) -> None:
        """Copy the regular files of a folder to the host, up to the limit on output, without links."""


class Sandbox(Protocol):
    """Runs code of repositories: it opens workspaces from the images that it keeps.

    `name` is its row in the table of `sandbox/__init__.py`, `images` makes and keeps its images (images.py), and `can`
    lists its abilities.
    """

    @property
    def name(self) -> str: ...

    @property
    def can(self) -> frozenset[Ability]: ...

    @property
    def images(self) -> Images: ...

    def check(self) -> None:
        """Raise UserError, with what to do, if this sandbox cannot work here."""

    def open(
        self, digest: str, *, cache: Cache = "use", limits: Limits = DEFAULT, tools: Path | None = None, reach: str = ""
    ) -> AbstractContextManager[Workspace]:
        """A fresh workspace of an instance's image: unprivileged, limited, and removed when it is closed.

        It reaches only the address `reach` (a URL), or nothing without one. `tools` is the result of `images.tools`.
        Raises UserError for a request that needs an ability which the sandbox lacks.
        """

    def abort(self) -> None:
        """End every command at once. Every later call to this sandbox raises `stopped`."""


def serves(sandbox: Sandbox, image: str, limits: Limits) -> bool:
    """Whether a command runs in a fresh workspace. It fails on purpose, since the sandbox then checks its disk and its
    counters."""
    try:
        with sandbox.open(image, cache="none", limits=limits) as workspace:
            completed = workspace.run(["false"])
            return completed.code == 1 and completed.limit is None
    except InfrastructureError:
        return False


def refused(sandbox: str, ability: Ability) -> UserError:
    """The error of a sandbox for an ability that it lacks."""
    return UserError(f"the sandbox '{sandbox}' cannot {ABILITIES[ability]}", hint="use another one: --sandbox docker")
