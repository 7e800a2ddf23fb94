"""The standard streams of one command in a container.

The SDK reads ahead into a buffer of its own and loses what arrives together with the head of the engine's answer; on a
busy machine, that is the whole output of a short command. Every command therefore waits until it is sent something.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from docker import DockerClient
from docker.models.containers import Container
from docker.utils.socket import STDOUT, frames_iter

#: waits for a line, then runs the command with both output streams merged in order; the arguments are passed unchanged
GATE = ("sh", "-c", 'read -r go && exec "$@" 2>&1 < /dev/null', "sh")
GO = b"go\n"


def client_of(container: Container) -> DockerClient:
    """The client of a container from the SDK. Raises ValueError for a container object without one."""
    if container.client is None:
        raise ValueError(f"{container.id} belongs to no engine")
    return container.client


class Attached:
    """A running command, with the engine's `id` of it. Iterating gives its standard output."""

    def __init__(self, container: Container, argv: Sequence[str], **options: Any) -> None:
        api = client_of(container).api
        self.id = api.exec_create(container.id, list(argv), stdin=True, **options)["Id"]
        self._stream = api.exec_start(self.id, socket=True)
        self._socket: Any = getattr(self._stream, "_sock", self._stream)

    def __iter__(self) -> Iterator[bytes]:
        return (data for kind, data in frames_iter(self._stream, tty=False) if kind == STDOUT)

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def close(self) -> None:
        """Close the stream: readers get its end."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


def start_command(container: Container, argv: Sequence[str], **options: Any) -> Attached:
    """Start a command without losing output. If the engine cannot start it, the output is the engine's error."""
    command = Attached(container, [*GATE, *argv], **options)
    with suppress(OSError):
        command.send(GO)
    return command
