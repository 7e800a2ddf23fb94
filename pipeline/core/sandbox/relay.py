"""The host's end of an agent's way out: connections of a container without network, carried to one address.

The other end, relay.js in the container, speaks over the standard streams of one command, and so through the engine's
own API: no network, no mount, no port on the host, and an engine that may be elsewhere. Where a connection goes is
decided here alone. Does not cover clients that half close a connection and go on reading; HTTP has none.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from pipeline.core.errors import InfrastructureError

#: the container's end, for Node
SCRIPT = Path(__file__).with_name("relay.js")
#: the number of a connection, and the bytes that follow; none: it is over
HEAD = struct.Struct(">II")
#: the number that only greets: what arrives before it may be lost in the engine's answer
GREETING = 0
#: seconds for the other end to open its port, and for the address to take a connection
PATIENCE = 30

Address = tuple[str, int]


class Relay(threading.Thread):
    """`send` and `chunks` are what goes to the other end and what comes from it; it ends when they do."""

    def __init__(self, send: Callable[[bytes], None], chunks: Iterator[bytes], address: Address) -> None:
        super().__init__(daemon=True)
        self._send_bytes, self._chunks, self._address = send, chunks, address
        self._connections: dict[int, socket.socket] = {}
        self._last, self._lock, self._open = GREETING, threading.Lock(), threading.Event()

    def open(self) -> None:
        """Start, and wait for the port in the container. Raises InfrastructureError when it does not open."""
        self.start()
        if not self._open.wait(PATIENCE):
            raise InfrastructureError("the way from a container to the gateway did not open", cause="engine")

    def run(self) -> None:
        with suppress(OSError):  # the container is gone
            self._send(GREETING)
            for number, data in frames(self._chunks):
                if number == GREETING:
                    self._open.set()
                else:
                    self._receive(number, data)
        for connection in list(self._connections.values()):
            _hang_up(connection)

    def _receive(self, number: int, data: bytes) -> None:
        if number > self._last:
            self._last = number
            self._connect(number)
        connection = self._connections.get(number)
        if connection and data:
            with suppress(OSError):
                connection.sendall(data)
        elif connection:
            _hang_up(connection)

    def _connect(self, number: int) -> None:
        try:
            connection = socket.create_connection(self._address, timeout=PATIENCE)
        except OSError:
            self._send(number)
            return
        connection.settimeout(None)
        self._connections[number] = connection
        threading.Thread(target=self._bring_back, args=(number, connection), daemon=True).start()

    def _bring_back(self, number: int, connection: socket.socket) -> None:
        """All that the address answers on one connection, and its end."""
        with suppress(OSError), connection:
            while data := connection.recv(2**16):
                self._send(number, data)
        self._connections.pop(number, None)
        with suppress(OSError):
            self._send(number)

    def _send(self, number: int, data: bytes = b"") -> None:
        with self._lock:
            self._send_bytes(HEAD.pack(number, len(data)) + data)


def frames(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The frames in a stream that was cut anywhere."""
    rest = bytearray()
    for chunk in chunks:
        rest += chunk
        while len(rest) >= HEAD.size:
            number, size = HEAD.unpack_from(rest)
            if len(rest) < HEAD.size + size:
                break
            yield number, bytes(rest[HEAD.size : HEAD.size + size])
            del rest[: HEAD.size + size]


def _hang_up(connection: socket.socket) -> None:
    """Whoever reads from it sees its end, and closes it."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
