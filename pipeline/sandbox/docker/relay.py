"""The host's end of a relay: connections of a container without network, forwarded to a few addresses and no others.

The other end, relay.js in the container, communicates over the standard streams of one command, and so through the
engine's own API: without network, mounts or ports on the host, and with engines on other machines. Only this end
decides where a connection goes, by its index among the addresses. Made for HTTP: the client speaks first, and does not
half-close a connection while it still reads.
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

#: the script of the container's end, for Node
SCRIPT = Path(__file__).with_name("relay.js")
#: header of a frame: the number of a connection, and the number of bytes that follow
HEAD = struct.Struct(">II")
#: the length that marks the end of a connection
OVER = b""
#: the number of a frame that only greets: bytes before it may be lost in the engine's answer
GREETING = 0
#: precedes the first bytes of a connection: the index of its address
INDEX = struct.Struct(">H")
#: seconds for the other end to open its port, and for the address to take a connection
PATIENCE = 30

Address = tuple[str, int]
#: connects to an address; raises OSError
Connect = Callable[[Address], socket.socket]


def connect(address: Address) -> socket.socket:
    return socket.create_connection(address, timeout=PATIENCE)


class Relay(threading.Thread):
    """`send` and `chunks` are the streams to and from the other end; the relay ends with them. `addresses` are in the
    order in which the other end got its own.

    This thread never waits for a connection. Each connection has two threads of its own; otherwise the two ends could
    wait for each other.
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
        """Start, and wait for the port in the container. Raises InfrastructureError if it does not open."""
        self.start()
        if not self._open.wait(PATIENCE):
            raise InfrastructureError("the relay of a container did not open", cause="engine")

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
        """Dispatch frames. Frames of ended connections are dropped; numbers are never reused."""
        if number > self._last:
            self._last = number
            outgoing = self._outgoing[number] = SimpleQueue()
            (index,) = INDEX.unpack_from(data)
            data = data[INDEX.size :]
            address = self._addresses[index]
            threading.Thread(target=self._carry, args=(number, outgoing, address), daemon=True).start()
        if queue := self._outgoing.get(number):
            queue.put(data)

    def _carry(self, number: int, outgoing: SimpleQueue[bytes], address: Address) -> None:
        """Open one connection and forward what the container sends."""
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
        """Forward everything that returns on one connection, and its end."""
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
    """The frames of a stream that arrives in arbitrary chunks."""
    buffer = bytearray()
    for chunk in chunks:
        buffer += chunk
        while len(buffer) >= HEAD.size:
            number, size = HEAD.unpack_from(buffer)
            if len(buffer) < HEAD.size + size:
                break
            yield number, bytes(buffer[HEAD.size : HEAD.size + size])
            del buffer[: HEAD.size + size]
