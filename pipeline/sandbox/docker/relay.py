"""The host's end of a way out: connections of a container without network, carried to a few addresses and no other.

The other end, relay.js in the container, speaks over the standard streams of one command, and so through the engine's
own API: no network, no mount, no port on the host, and an engine that may be elsewhere. Where a connection goes is
decided here alone, by its place among the addresses. Made for HTTP: the client speaks first, and does not half close a
connection to go on reading.
"""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue

from pipeline.core.errors import InfrastructureError

#: the container's end, for Node
SCRIPT = Path(__file__).with_name("relay.js")
#: the number of a connection, and how many bytes follow
HEAD = struct.Struct(">II")
#: what says that a connection is over
OVER = b""
#: the number that only greets: what arrives before it may be lost in the engine's answer
GREETING = 0
#: before the first bytes of a connection: the place of its address
PLACE = struct.Struct(">H")
#: seconds for the other end to open its port, and for the address to take a connection
PATIENCE = 30

Address = tuple[str, int]
#: how a connection to an address is made; raises OSError
Connect = Callable[[Address], socket.socket]


def connect(address: Address) -> socket.socket:
    return socket.create_connection(address, timeout=PATIENCE)


class Relay(threading.Thread):
    """`send` and `chunks` are what goes to the other end and what comes from it; it ends when they do. `addresses` are
    in the order in which the other end was told of its own.

    This thread never waits for a connection: each has two of its own, or the two ends could wait for each other.
    """

    def __init__(
        self,
        send: Callable[[bytes], None],
        chunks: Iterator[bytes],
        addresses: Sequence[Address],
        connect: Connect = connect,
    ) -> None:
        super().__init__(daemon=True)
        self._send_bytes, self._chunks, self._addresses, self._connect = send, chunks, addresses, connect
        self._outgoing: dict[int, SimpleQueue[bytes]] = {}
        self._last, self._lock, self._open = GREETING, threading.Lock(), threading.Event()

    def open(self) -> None:
        """Start, and wait for the port in the container. Raises InfrastructureError when it does not open."""
        self.start()
        if not self._open.wait(PATIENCE):
            raise InfrastructureError("the way out of a container did not open", cause="engine")

    def run(self) -> None:
        with suppress(OSError):  # the container is gone
            self._send(GREETING)
            for number, data in frames(self._chunks):
                if number == GREETING:
                    self._open.set()
                else:
                    self._receive(number, data)
        for outgoing in list(self._outgoing.values()):
            outgoing.put(OVER)

    def _receive(self, number: int, data: bytes) -> None:
        """What belongs to a connection that has ended is dropped: numbers only grow."""
        if number > self._last:
            self._last = number
            outgoing = self._outgoing[number] = SimpleQueue()
            (place,) = PLACE.unpack_from(data)
            data = data[PLACE.size :]
            address = self._addresses[place]
            threading.Thread(target=self._carry, args=(number, outgoing, address), daemon=True).start()
        if waiting := self._outgoing.get(number):
            waiting.put(data)

    def _carry(self, number: int, outgoing: SimpleQueue[bytes], address: Address) -> None:
        """One connection, and all that goes out on it."""
        try:
            connection = self._connect(address)
        except OSError:
            self._end(number)
            return
        connection.settimeout(None)
        threading.Thread(target=self._bring_back, args=(number, connection), daemon=True).start()
        with suppress(OSError):
            while (data := outgoing.get()) != OVER:
                connection.sendall(data)
            connection.shutdown(socket.SHUT_RDWR)

    def _bring_back(self, number: int, connection: socket.socket) -> None:
        """All that comes back on one connection, and its end."""
        with suppress(OSError), connection:
            while data := connection.recv(2**16):
                self._send(number, data)
        self._end(number)

    def _end(self, number: int) -> None:
        if outgoing := self._outgoing.pop(number, None):
            outgoing.put(OVER)
        with suppress(OSError):
            self._send(number)

    def _send(self, number: int, data: bytes = OVER) -> None:
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
