"""A second Docker engine for tests that stop it, fill its disk or cut the connection to it. Never the engine in use.

Its data are on a small file system of its own, it has its own network, and it sees none of the host's folders in which
a checkout, a cache or a temporary file could be: for its clients, it is an engine on another machine. Needs root. `Way`
leads to it by TCP, and can be cut.
"""

from __future__ import annotations

import shutil
import socket
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import docker
import docker.errors
from docker_scripts import START, STOP, run

from pipeline.sandbox.docker.names import base_image

SIZE = "1200m"
HIDDEN = ("/tmp", "/root", "/home", "/var/tmp")


class OwnEngine:
    """`host` is the value for DOCKER_HOST. The base image is loaded from the engine in use."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="a11y-", dir="/run"))  # short: sockets' names are
        self.host = f"unix://{self.folder}/sock"
        self._disk, self._balloon = self.folder / "disk", self.folder / "disk" / "balloon"
        self._env = {
            "DOCKER_HOST": self.host,
            "A11Y_BENCH_DOCKER_ROOT": f"{self._disk}/root",
            "A11Y_BENCH_DOCKER_RUN": f"{self.folder}/run",
        }

    def __enter__(self) -> OwnEngine:
        self._disk.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "a11y-bench", self._disk], check=True)
        try:
            self.start()
            base = docker.from_env().images.get(base_image())
            docker.DockerClient(self.host).images.load(base.save(named=True))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        subprocess.run(["umount", self._disk], check=True)
        shutil.rmtree(self.folder)

    def start(self) -> None:
        hide = "".join(f"mount -t tmpfs hidden {folder}; " for folder in HIDDEN if Path(folder).is_dir())
        for script in (START, START.with_name("common.sh")):  # its own place may be one of the hidden
            shutil.copy(script, self.folder)
        command = f"{hide} exec {self.folder / START.name}"
        done = run("unshare", "--net", "--mount", "sh", "-euc", command, **self._env)
        if done.returncode:
            raise RuntimeError(done.stderr)

    def stop(self) -> None:
        done = run(STOP, **self._env)
        if done.returncode:
            raise RuntimeError(done.stderr)

    @property
    def process(self) -> int:
        """The engine's process, in its own network."""
        return int((self.folder / "run" / "dockerd.pid").read_text())

    @contextmanager
    def filled(self, *, leave: int = 0) -> Iterator[None]:
        """Fill all of its disk except some bytes."""
        size = shutil.disk_usage(self._disk).free - leave
        subprocess.run(["fallocate", "--length", str(size), self._balloon], check=True)
        try:
            yield
        finally:
            self._balloon.unlink()


class Way:
    """Leads a loopback port to an engine's socket; `host` is the value for DOCKER_HOST."""

    def __init__(self, engine: OwnEngine) -> None:
        self._target = engine.host.removeprefix("unix://")
        self._server = socket.create_server(("127.0.0.1", 0))
        self.host = f"tcp://127.0.0.1:{self._server.getsockname()[1]}"
        self._open = True

    def __enter__(self) -> Way:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def cut(self) -> None:
        """New connections are refused, and existing ones receive nothing more."""
        self._open = False
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                ours = self._server.accept()[0]
                theirs = socket.socket(socket.AF_UNIX)
                theirs.connect(self._target)
                for pair in ((ours, theirs), (theirs, ours)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while (data := source.recv(2**16)) and self._open:
                target.sendall(data)
            if self._open:
                target.shutdown(socket.SHUT_WR)
