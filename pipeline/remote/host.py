"""A machine behind OpenSSH: commands there, and rsync to and from it.

The name is one that `ssh` knows: `user@host`, or an entry of `~/.ssh/config`, which may set port, key and jump host.
Network failures are retried, and transfers resume. Writes no files of its own.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.console import say
from pipeline.core.errors import A11yBenchError, InfrastructureError, UserError
from pipeline.core.retry import Patience, patiently

#: asks nothing; notices a dead connection within a minute
SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15")
#: exit codes of rsync after which the same transfer may resume: sockets, streams, time limits, vanished files
PASSING = (10, 12, 24, 30, 35, 255)
#: folders of programs that a non-login shell would not find
PATHS = 'export PATH="$HOME/.local/bin:/usr/local/bin:$PATH"'
#: seconds before the second attempt
WAIT = 5.0


@dataclass(frozen=True)
class Host:
    """A server, and the project's folder there, absolute or relative to the user's home."""

    name: str
    folder: str = "a11y-bench"
    patience: Patience = Patience(seconds=WAIT)

    def __post_init__(self) -> None:
        if not self.name or self.name.startswith("-") or any(one.isspace() for one in self.name):
            raise UserError(
                f"'{self.name}' is not a host", hint="name one as for ssh: user@host, or one of ~/.ssh/config"
            )
        if not self.folder or self.folder.startswith("-"):
            raise UserError(f"'{self.folder}' is not a folder", hint="name one with --folder")

    def run(self, script: str, given: bytes = b"") -> str:
        """Run a shell script there with `given` as input; returns its output. Raises A11yBenchError,
        InfrastructureError."""
        return self._again(lambda: self._run(script, given))

    def here(self, *command: str) -> str:
        """The shell script that runs a command in the project's folder there."""
        return f"{PATHS}; cd {shlex.quote(self.folder)} && {shlex.join(command)}"

    def bench(self, *arguments: str) -> str:
        """Run `a11y-bench` there; returns its output."""
        return self.run(self.here("uv", "run", "--quiet", "--all-extras", "a11y-bench", *arguments))

    def follow(self, script: str) -> int:
        """Show a script's output while it runs; returns the exit code."""
        return subprocess.run([*SSH, self.name, script]).returncode

    def send(self, source: Path, target: str, *options: str) -> None:
        """Copy a file, or a folder's contents, to a place below the project's folder; only differences are sent."""
        self._rsync(*options, _place(source), f"{self.name}:{self._there(target)}")

    def fetch(self, source: str, target: Path, *options: str) -> None:
        """Copy in the other direction."""
        target.parent.mkdir(parents=True, exist_ok=True)
        self._rsync(*options, f"{self.name}:{self._there(source)}", str(target))

    def _there(self, place: str) -> str:
        return f"{self.folder}/{place}"

    def _rsync(self, *arguments: str) -> None:
        own = ("--recursive", "--links", "--times", "--perms", "--secluded-args", "--partial-dir=.rsync-partial")
        command = ["rsync", *own, "--timeout=120", f"--rsh={shlex.join(SSH)}", *arguments]
        self._again(lambda: self._copied(command))

    def _copied(self, command: Sequence[str]) -> None:
        done = _called(command, b"")
        if done.returncode in PASSING:
            raise self._lost(done)
        if done.returncode:
            raise A11yBenchError(f"rsync with {self.name} ended with {done.returncode}: {_last(done)}")

    def _run(self, script: str, given: bytes) -> str:
        done = _called([*SSH, self.name, script], given)
        if done.returncode == 255:
            raise self._lost(done)
        if done.returncode:
            raise A11yBenchError(f"on {self.name} (exit code {done.returncode}): {_last(done)}")
        return done.stdout.decode(errors="replace")

    def _lost(self, done: subprocess.CompletedProcess[bytes]) -> InfrastructureError:
        return InfrastructureError(f"no connection to {self.name}: {_last(done)}", cause="network")

    def _again(self, work: Callable[[], str | None]) -> str:
        return patiently(work, say, self.patience) or ""


def _place(source: Path) -> str:
    """A path for rsync: a folder gets a slash, which means its contents."""
    return f"{source}/" if source.is_dir() else str(source)


def _called(command: Sequence[str], given: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, input=given, capture_output=True)
    except FileNotFoundError:
        raise UserError(f"{command[0]} is not installed", hint="apt-get install openssh-client rsync") from None


def _last(done: subprocess.CompletedProcess[bytes]) -> str:
    """The last lines of the output."""
    return (done.stderr or done.stdout).decode(errors="replace").strip()[-2000:]
