"""The way out of a container with both ends: the real script in Node, over pipes instead of an engine."""

from __future__ import annotations

import socket
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from subprocess import PIPE

import pytest

from pipeline.core.errors import InfrastructureError
from pipeline.sandbox.docker import relay
from pipeline.sandbox.docker.relay import HEAD, SCRIPT, Relay, frames

LONG = bytes(range(256)) * 4096


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@contextmanager
def opened(address: tuple[str, int]) -> Iterator[int]:
    """A relay to an address; gives the port of its other end."""
    port = free_port()
    with subprocess.Popen(["node", SCRIPT, f"127.0.0.1:{port}"], stdin=PIPE, stdout=PIPE, bufsize=0) as process:
        relay = Relay(process.stdin.write, iter(lambda: process.stdout.read(4096), b""), [address])
        relay.open()
        yield port
        process.stdin.close()
        relay.join()


class Echo(socketserver.BaseRequestHandler):
    """Returns what it gets, and closes a connection that says bye."""

    def handle(self) -> None:
        while (data := self.request.recv(2**16)) and data != b"bye":
            self.request.sendall(data)


@pytest.fixture(scope="module")
def echo() -> Iterator[int]:
    """The port of an echo server."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@pytest.fixture(scope="module")
def port(echo: int) -> Iterator[int]:
    with opened(("127.0.0.1", echo)) as port:
        yield port


def exchange(port: int, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        threading.Thread(target=connection.sendall, args=(data,)).start()
        got = b""
        while len(got) < len(data) and (more := connection.recv(2**16)):
            got += more
        return got


def test_data_are_passed_on_in_both_directions(port: int) -> None:
    assert exchange(port, LONG) == LONG


def test_connections_are_kept_apart(port: int) -> None:
    texts = [str(number).encode() * 50_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda text: exchange(port, text), texts)) == texts


def test_the_client_is_closed_when_the_server_closes(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"bye")
        assert connection.recv(1) == b""


def test_a_connection_without_a_listener_ends_at_once() -> None:
    with opened(("127.0.0.1", free_port())) as port, socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b"hello")
        assert connection.recv(1) == b""


@pytest.mark.invariant(4)
def test_a_missing_greeting_is_the_machines_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay, "PATIENCE", 0.01)
    with pytest.raises(InfrastructureError, match="did not open"):
        Relay(lambda _: None, iter(()), [("127.0.0.1", 1)]).open()


def test_frames_may_be_split_anywhere() -> None:
    sent = [(0, b""), (1, b"one"), (2, LONG), (1, b"")]
    stream = b"".join(HEAD.pack(number, len(data)) + data for number, data in sent)
    for size in (1000, 7, len(stream)):
        pieces = (stream[place : place + size] for place in range(0, len(stream), size))
        assert list(frames(pieces)) == sent
