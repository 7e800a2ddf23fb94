"""A machine behind OpenSSH: commands there, and rsync to and from it.

The name is one that `ssh` knows: `user@host`, or an entry of `~/.ssh/config`, which may set port, key and jump host.
Network failures are retried, and transfers resume. Writes no files of its own.
"""

from __future__ import annotations

import re
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
#: exit codes: of the shell for a program that is missing; of our program for input that it cannot use
MISSING, REFUSED = 127, 2
#: ssh's messages when another attempt cannot help (rsync's own errors have numbers in parentheses), and what can help
FINAL = (
    ("Name or service not known", "check the name, or describe the server in ~/.ssh/config"),
    (r"Permission denied \([a-z]", "no password is asked for: give the server your key (ssh-copy-id {name})"),
    ("Too many authentication failures", "name its key in ~/.ssh/config (IdentityFile, IdentitiesOnly yes)"),
    ("Host key verification failed", "connect yourself once, and compare the server's key: ssh {name}"),
    ("Bad configuration option", "correct ~/.ssh/config"),
)
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
        if not self.name or self.name.startswith("-") or any(letter.isspace() for letter in self.name):
            raise UserError(
                f"'{self.name}' is not a host", hint="name one as for ssh: user@host, or one of ~/.ssh/config"
            )
        if not self.folder or self.folder.startswith("-"):
            raise UserError(f"'{self.folder}' is not a folder", hint="name one with --folder")

    def run(self, script: str, stdin: bytes = b"") -> str:
        """Run a shell script there with `stdin` as input; returns its output. Raises UserError, A11yBenchError,
        InfrastructureError."""
        return self._with_retries(lambda: self._run(script, stdin))

    def in_project(self, *command: str) -> str:
        """The shell script that runs a command in the project's folder there."""
        return f"{PATHS}; cd {shlex.quote(self.folder)} 2>/dev/null {or_exit(self.absent)}; {shlex.join(command)}"

    @property
    def absent(self) -> str:
        """The message if the project is not there."""
        return f"the project is not in {self.folder} there: just remote-push {self.name} (or name another --folder)"

    def bench(self, *arguments: str) -> str:
        """Run `a11y-bench` there; returns its output. Raises UserError if it refuses its input, else as `run`."""
        script = self.in_project("uv", "run", "--quiet", "--all-extras", "a11y-bench", *arguments)
        return self._with_retries(lambda: self._run(script, b"", refuses=REFUSED))

    def follow(self, script: str) -> int:
        """Show a script's output while it runs; returns the exit code."""
        return subprocess.run([*SSH, self.name, script]).returncode

    def send(self, source: Path, target: str, *options: str) -> None:
        """Copy a file, or a folder's contents, to a place below the project's folder; only differences are sent."""
        self._rsync(*options, _rsync_source(source), f"{self.name}:{self._remote_path(target)}")

    def fetch(self, source: str, target: Path, *options: str) -> None:
        """Copy in the other direction."""
        target.parent.mkdir(parents=True, exist_ok=True)
        self._rsync(*options, f"{self.name}:{self._remote_path(source)}", str(target))

    def _remote_path(self, path: str) -> str:
        return f"{self.folder}/{path}"

    def _rsync(self, *arguments: str) -> None:
        options = ("--recursive", "--links", "--times", "--perms", "--secluded-args", "--partial-dir=.rsync-partial")
        command = ["rsync", *options, "--timeout=120", f"--rsh={shlex.join(SSH)}", *arguments]
        self._with_retries(lambda: self._transfer(command))

    def _transfer(self, command: Sequence[str]) -> None:
        result = _execute(command, b"")
        if result.returncode in (*PASSING, MISSING):
            if b"(0 bytes received so far)" in result.stderr:
                self._run(f"{PATHS}; command -v rsync || exit {MISSING}", b"")
            raise self._lost(result)
        if result.returncode:
            raise A11yBenchError(f"rsync with {self.name} ended with {result.returncode}: {_last_output(result)}")

    def _run(self, script: str, stdin: bytes, refuses: int = 0) -> str:
        """The output. `refuses` is the exit code by which the script says that its input cannot be used."""
        result = _execute([*SSH, self.name, script], stdin)
        if result.returncode == 255:
            raise self._lost(result)
        if result.returncode == MISSING:
            what = _last_output(result) or "rsync"
            raise UserError(f"a program is missing on {self.name}: {what}", hint=f"just remote-setup {self.name}")
        if result.returncode and result.returncode == refuses:
            raise UserError(f"on {self.name}: {_last_output(result)}")
        if result.returncode:
            raise A11yBenchError(f"on {self.name} (exit code {result.returncode}): {_last_output(result)}")
        return result.stdout.decode(errors="replace")

    def _lost(self, result: subprocess.CompletedProcess[bytes]) -> A11yBenchError:
        """The error of a connection that failed: one that a person must solve, or one that may go away with another
        attempt."""
        message = f"no connection to {self.name}: {_last_output(result)}"
        for pattern, hint in FINAL:
            if re.search(pattern, message):
                return UserError(message, hint=hint.format(name=self.name))
        return InfrastructureError(message, cause="network")

    def _with_retries(self, work: Callable[[], str | None]) -> str:
        return patiently(work, say, self.patience) or ""


def or_exit(message: str) -> str:
    """The end of a shell command that ends the script with this message if it fails."""
    return f"|| {{ printf '%s\\n' {shlex.quote(message)} >&2; exit 1; }}"


def _rsync_source(source: Path) -> str:
    """A path for rsync: a folder gets a slash, which means its contents."""
    return f"{source}/" if source.is_dir() else str(source)


def _execute(command: Sequence[str], stdin: bytes) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, input=stdin, capture_output=True)
    except FileNotFoundError:
        raise UserError(f"{command[0]} is not installed", hint="apt-get install openssh-client rsync") from None


def _last_output(result: subprocess.CompletedProcess[bytes]) -> str:
    """The last lines of the output."""
    return (result.stderr or result.stdout).decode(errors="replace").strip()[-2000:]
