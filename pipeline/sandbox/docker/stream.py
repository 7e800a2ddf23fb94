"""The standard streams of one command in a container.

The SDK reads past a buffer of its own, and so loses what arrives together with the head of the engine's answer: on a
busy machine that is the whole output of a short command. So a command here must wait for what is sent to it first.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from docker import DockerClient
from docker.models.containers import Container
from docker.utils.socket import STDOUT, frames_iter

#: both streams of a command in their order, which the engine would read apart, once it is told to go; its own words
#: are passed as they are
GATE = ("sh", "-c", 'read -r go && exec "$@" 2>&1 < /dev/null', "sh")
GO = b"go\n"


def client_of(container: Container) -> DockerClient:
    """The engine of a container that the SDK gave. Raises ValueError for one that was made by hand."""
    if container.client is None:
        raise ValueError(f"{container.id} belongs to no engine")
    return container.client


class Attached:
    """A command that was started, as `id` for the engine. Iterating gives what it prints on standard output."""

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
        """Whoever reads comes to the end."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


def start_command(container: Container, argv: Sequence[str], **options: Any) -> Attached:
    """Start a command of which nothing is lost. One that the engine could not start has printed that, and has ended."""
    command = Attached(container, [*GATE, *argv], **options)
    with suppress(OSError):
        command.send(GO)
    return command
