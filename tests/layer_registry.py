"""Debian's image registry on loopback, and gates that lead to it and count the transferred bytes."""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import socket
import struct
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

PROGRAM = "docker-registry"
CONFIGURATION = """\
version: 0.1
log: {{level: error, accesslog: {{disabled: true}}}}
storage: {{filesystem: {{rootdirectory: {folder}/images}}}}
http:
  addr: {host}
"""
#: admits only a user whose password nobody knows
CLOSED = "auth: {{htpasswd: {{realm: test, path: {folder}/users}}}}\n"
#: a certificate that nobody trusts
CERTIFIED = "  tls: {{certificate: {folder}/certificate, key: {folder}/key}}\n"
CLONE_NEWNET, SIOCSIFFLAGS, IFF_UP = 0x40000000, 0x8914, 1


def require() -> None:
    """Skip if the registry is not installed, and fail in CI."""
    if not shutil.which(PROGRAM):
        refuse = pytest.fail if os.environ.get("CI") else pytest.skip
        refuse("needs Debian's docker-registry: apt-get install docker-registry")


class LayerRegistry:
    """As a context manager: a registry with an empty store below a folder, and settings in addition to those above."""

    def __init__(self, folder: Path, settings: str = "", address: str = "127.0.0.1") -> None:
        self.folder, self._settings, self._address = folder, settings, address
        with socket.create_server((address, 0)) as free:
            self.port = free.getsockname()[1]
        self.host = f"{address}:{self.port}"

    def __enter__(self) -> LayerRegistry:
        text = CONFIGURATION + self._settings
        (self.folder / "registry.yml").write_text(text.format(folder=self.folder, host=self.host))
        command = [PROGRAM, "serve", str(self.folder / "registry.yml")]
        with (self.folder / "registry.log").open("w") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until = time.monotonic() + 30
        while not _answers(self._address, self.port):
            assert time.monotonic() < until, (self.folder / "registry.log").read_text()
            time.sleep(0.05)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


class Gate:
    """A loopback port that leads to a registry; `passed` counts the bytes in both directions.

    With the id of a process it listens on the loopback of that process's network, on the registry's own port.
    """

    def __init__(self, registry: LayerRegistry, process: int | None = None) -> None:
        self._target, self.passed = registry.port, 0
        self._server = _listening(process, registry.port) if process else socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._server.getsockname()[1]}"

    def __enter__(self) -> Gate:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                ours = self._server.accept()[0]
                theirs = socket.create_connection(("127.0.0.1", self._target))
                for pair in ((ours, theirs), (theirs, ours)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(2**16):
                self.passed += len(data)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


def _answers(address: str, port: int) -> bool:
    with socket.socket() as client:
        return not client.connect_ex((address, port))


def _listening(process: int, port: int) -> socket.socket:
    """A server socket on the loopback of another network: a separate thread enters that network to make it."""
    made: list[socket.socket] = []

    def make() -> None:
        library = ctypes.CDLL(None, use_errno=True)
        with Path(f"/proc/{process}/ns/net").open() as network:
            if library.setns(network.fileno(), CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), "setns")
        with socket.socket() as any_socket:
            fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP))
        made.append(socket.create_server(("127.0.0.1", port)))

    thread = threading.Thread(target=make)
    thread.start()
    thread.join()
    return made[0]
