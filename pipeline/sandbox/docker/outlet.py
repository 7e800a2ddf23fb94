"""A pipe out of a container: commands can write to it but not read it, and a reader outside gets everything.

The pipe is in a folder of root's, so no command can replace it. Root's `cat` reads it, which no command can end, and
forwards every byte at once: nothing in the container can change or withdraw what was written. A second report does not
replace the first.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from threading import Condition, Thread

from docker.models.containers import Container

from pipeline.core.errors import InfrastructureError
from pipeline.sandbox.base import Limits
from pipeline.sandbox.docker import tar
from pipeline.sandbox.docker.commands import execute
from pipeline.sandbox.docker.engine import put
from pipeline.sandbox.docker.stream import start_command

#: root's folder in a container, and the command that reads a pipe there until the container ends
PARENT, FOLDER = "/opt", "reports"
_READ = ("sh", "-c", 'exec cat <> "$0"')
_END = ("sh", "-c", 'printf %s "$1" > "$0"')
#: seconds to wait for the last bytes
PATIENCE = 30


class DockerOutlet:
    """A pipe in a running container. Reading begins at once."""

    def __init__(self, container: Container, name: str, limits: Limits) -> None:
        self.path = f"{PARENT}/{FOLDER}/{name}"
        self._container, self._limits = container, limits
        self._end, self._kept, self._ended = secrets.token_hex(16).encode(), bytearray(), False
        self._changed = Condition()
        put(container, PARENT, tar.of_pipe(FOLDER, name))
        self._reader = start_command(container, [*_READ, self.path], user="root")
        Thread(target=self._collect, daemon=True).start()

    def drain(self) -> bytes | None:
        with self._changed:
            ended = self._ended
        if not ended:
            command = [*_END, self.path, self._end.decode()]
            with suppress(InfrastructureError):  # everything that was written before the container ended has arrived
                execute(self._container, command, folder="/", env={}, limits=self._limits, user="root")
        with self._changed:
            self._changed.wait_for(lambda: self._ended, PATIENCE)
        self._reader.close()
        data = bytes(self._kept.partition(self._end)[0])
        return data if data and len(data) <= self._limits.output else None

    def _collect(self) -> None:
        """Read until the end is signalled or the container ends; bytes beyond the limit are dropped."""
        for chunk in self._reader:
            with self._changed:
                if len(self._kept) <= self._limits.output:
                    self._kept += chunk
                else:  # the end must still be read
                    self._kept[-len(self._end) :] = (self._kept[-len(self._end) :] + chunk)[-len(self._end) :]
                if self._end in self._kept[-len(chunk) - len(self._end) :]:
                    break
        with self._changed:
            self._ended = True
            self._changed.notify_all()
