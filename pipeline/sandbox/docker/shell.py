"""A shell in a container that runs our own commands, one after the other.

The engine takes a tenth of a second or more to start a command, and the shell milliseconds. It runs as the same user as
the repository's code, which could read and forge what it says. It must therefore have ended before such code starts.
"""

from __future__ import annotations

import base64
import os
import posixpath
import re
import secrets
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

from docker.models.containers import Container

from pipeline.sandbox.base import Completed, Limits
from pipeline.sandbox.docker.commands import completed
from pipeline.sandbox.docker.engine import USER
from pipeline.sandbox.docker.faults import faults
from pipeline.sandbox.docker.limits import watched
from pipeline.sandbox.docker.stream import Attached


class Shell:
    """A running shell. A command that it does not survive, such as one that reaches a limit, ends it."""

    @faults()
    def __init__(self, container: Container, env: dict[str, str]) -> None:
        self._container, self._mark = container, secrets.token_hex(16)
        self._end = re.compile(rb"\n%b (\d+)\n\Z" % self._mark.encode())
        self._attached = Attached(container, ("sh",), environment=env, workdir="/", user=USER)
        self._chunks: Iterator[bytes] = iter(self._attached)
        self.has_ended = False

    def run(self, argv: Sequence[str], folder: str, limits: Limits) -> Completed:
        """Run a command in a folder, as `commands.execute` does."""
        return self._run(f"(cd {shlex.quote(folder)} && exec {shlex.join(argv)}) < /dev/null 2>&1", limits)

    def write(self, path: str, data: bytes, limits: Limits) -> Completed:
        """Write a file in place of what has its name, and its folder if it is missing."""
        folder, file = shlex.quote(posixpath.dirname(path)), shlex.quote(path)
        make = f"mkdir -p {folder} && rm -f {file} && base64 -d > {file}"
        text = base64.encodebytes(data).decode()
        return self._run(f"{{ {make}; }} 2>&1 << '{self._mark}'\n{text}{self._mark}", limits)

    @faults()
    def _run(self, script: str, limits: Limits) -> Completed:
        started, output, code = time.monotonic(), bytearray(), None
        with watched(self._container, limits, self._attached) as watch:
            with suppress(OSError):  # it has ended, which its output shows
                self._attached.send(os.fsencode(f"{script}\nprintf '\\n{self._mark} %d\\n' $?\n"))
            for chunk in self._chunks:
                output += chunk
                if end := self._end.search(output, max(0, len(output) - 64)):
                    code = int(end[1])
                    del output[end.start() :]
                if code is not None or len(output) > limits.output:
                    break
        self.has_ended = code is None
        seconds = time.monotonic() - started
        return completed(self._container, self._attached, limits, bytes(output), seconds, watch.limit, code)

    @faults()
    def close(self) -> None:
        """Return when it has ended."""
        if not self.has_ended:
            self.has_ended = True
            with suppress(OSError):
                self._attached.send(b"exit\n")
            for _ in self._chunks:
                pass
