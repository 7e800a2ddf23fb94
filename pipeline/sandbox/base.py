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
#: run adds to it. Only code of the repository's own history may (a patch could poison it), and such a run may start
#: with what other instances of the environment left.
Cache = Literal["none", "use", "fill"]

#: what a command can have too much of: wall-clock time, memory, output, written files, processes at a time
Limit = Literal["time", "memory", "output", "disk", "processes"]

#: what a sandbox may be able to do, and how that is said: what it lacks is refused, never done in part
Ability = Literal["contain", "reach", "browse"]
ABILITIES: dict[Ability, str] = {
    "contain": "contain untrusted code",
    "reach": "give agents a single way out, and tools of their own",
    "browse": "give tests a browser",
}

#: what every command sees beside its own PATH, HOME and TMPDIR: nothing of the host's environment
COMMON = {"CI": "1", "LANG": "C.UTF-8", "TZ": "UTC"}


@dataclass(frozen=True)
class Limits:
    """What a workspace may use: wall-clock seconds per command, bytes of memory, output and disk, CPUs, processes."""

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

    `limit` is the one that ended it, or that made it fail.
    """

    code: int
    output: bytes
    seconds: float
    limit: Limit | None = None


def exit_code(code: int) -> int:
    """One form for all sandboxes: a death by signal n is -n, also where a shell or an engine reports it as 128 + n."""
    return 128 - code if 128 < code < 192 else code


class InstallFailed(A11yBenchError):
    """The dependencies of an environment could not be installed; `log` is the end of what the manager said."""

    def __init__(self, message: str, log: str) -> None:
        self.log = log
        super().__init__(message)


def gone() -> InfrastructureError:
    """The error of a command in a workspace that a limit has ended."""
    return InfrastructureError("a limit has ended this workspace: open another", cause="workspace_gone")


def stopped() -> InfrastructureError:
    """The error of whatever is asked of a sandbox after `abort`: nothing is tried again for it, and nothing decided."""
    return InfrastructureError("stopped at once, as it was asked for", cause="stopped")


class Outlet(Protocol):
    """A way out of a workspace: what is written to `path` leaves at once, and nobody in there can take it back."""

    path: str

    def taken(self) -> bytes | None:
        """All that was written, in its order; None for nothing, and for more than the limit on output. Once."""


class Workspace(Protocol):
    """A fresh copy of an instance's image. Nothing in it outlives it, the filled cache excepted.

    A command that reaches a limit ends the workspace: what it left can still be read, but the next command raises
    InfrastructureError(cause="workspace_gone").
    """

    root: str
    """The repository's root, as commands see it."""
    scratch: str
    """A writable folder outside the repository, for patches and reports."""
    cache: str
    """The runner's transform cache, as commands see it."""
    tools: str
    """The folder of the tools that it was opened with, as commands see it; they may read them and no more."""
    url: str
    """Where commands reach the address that it was opened with, empty without one."""

    def run(
        self, argv: Sequence[str], *, env: dict[str, str] | None = None, seconds: float | None = None, folder: str = ""
    ) -> Completed:
        """Run one command in the repository's root, or a folder below it, without a shell, within the limits."""

    def write(self, path: str, data: bytes) -> None:
        """Write a file; `path` is absolute, as commands see it."""

    def read(self, path: str) -> bytes | None:
        """A file's bytes, None where there is none (or no regular file, or one above the output limit)."""

    def outlet(self, name: str) -> Outlet | None:
        """A way out by this name, which is no secret; None where there is none."""

    def peak(self) -> int:
        """The most memory that it has held so far, in bytes, as the kernel counted; 0 where nobody counts, or it is
        gone."""

    def fetch(self, folder: str, target: Path) -> None:
        """Copy the regular files of a folder to the host, up to the limit on output; links stay behind."""


class Sandbox(Protocol):
    """A place where code of repositories runs: it opens workspaces of the images that it keeps.

    `name` is its row in the table of `sandbox/__init__.py`, `images` are made and kept apart (images.py), and `can`
    says what code it may be trusted with.
    """

    name: str
    can: frozenset[Ability]
    images: Images

    def check(self) -> None:
        """Raise UserError, with what to do, when this sandbox cannot work here."""

    def open(
        self, digest: str, *, cache: Cache = "use", limits: Limits = DEFAULT, tools: Path | None = None, reach: str = ""
    ) -> AbstractContextManager[Workspace]:
        """A fresh workspace of an instance's image: unprivileged, limited, gone when it is closed.

        It reaches the address `reach` (a URL) and nothing else, nothing at all without one. `tools` are what
        `images.tools` made. Raises UserError where the sandbox does not say that it can do that.
        """

    def abort(self) -> None:
        """End every command, for an end at once. What is asked of this sandbox from then on raises `stopped`."""


def refused(sandbox: str, ability: Ability) -> UserError:
    """The error of a sandbox for what it does not say that it can."""
    return UserError(f"the sandbox '{sandbox}' cannot {ABILITIES[ability]}", hint="use another one: --sandbox docker")
