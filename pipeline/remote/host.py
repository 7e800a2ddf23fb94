"""A machine behind OpenSSH: commands there, and rsync to and from it.

The name is one that `ssh` knows: `user@host`, or an entry of the user's own `~/.ssh/config`, where port, key and jump
host stand. What the network fails at is tried again; a transfer resumes. Writes nothing of its own.
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

#: no questions; a connection that died is seen within a minute
SSH = ("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=20", "-o", "ServerAliveInterval=15")
#: exit codes of rsync after which the same transfer may go on: sockets, streams, time limits, files that vanished
PASSING = (10, 12, 24, 30, 35, 255)
#: where programs are that a shell without a login would not find
PATHS = 'export PATH="$HOME/.local/bin:/usr/local/bin:$PATH"'
#: seconds before the second try
WAIT = 5.0


@dataclass(frozen=True)
class Host:
    """A server and the project's folder there, from the user's home where it is relative."""

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
        """What a shell script prints there, with `given` as its input. Raises A11yBenchError, InfrastructureError."""
        return self._again(lambda: self._run(script, given))

    def here(self, *command: str) -> str:
        """The script of a command in the project's folder there."""
        return f"{PATHS}; cd {shlex.quote(self.folder)} && {shlex.join(command)}"

    def bench(self, *arguments: str) -> str:
        """What the console program there prints."""
        return self.run(self.here("uv", "run", "--quiet", "--all-extras", "a11y-bench", *arguments))

    def follow(self, script: str) -> int:
        """Show what a script prints, as it does; the exit code."""
        return subprocess.run([*SSH, self.name, script]).returncode

    def send(self, source: Path, target: str, *options: str) -> None:
        """Copy a file, or what is in a folder, to a place below the project's folder; only what differs travels."""
        self._rsync(*options, _place(source), f"{self.name}:{self._there(target)}")

    def fetch(self, source: str, target: Path, *options: str) -> None:
        """The other way."""
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
    """As rsync means it: a folder with a slash is what is in it."""
    return f"{source}/" if source.is_dir() else str(source)


def _called(command: Sequence[str], given: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, input=given, capture_output=True)
    except FileNotFoundError:
        raise UserError(f"{command[0]} is not installed", hint="apt-get install openssh-client rsync") from None


def _last(done: subprocess.CompletedProcess[bytes]) -> str:
    """The end of what it said."""
    return (done.stderr or done.stdout).decode(errors="replace").strip()[-2000:]
