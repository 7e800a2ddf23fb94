"""A scheduler and workers on loopback, each a process that can be killed, started as `a11y-bench` starts them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

PROGRAM = "from pipeline.cli import main; main()"
TESTS = Path(__file__).parent


class Dask:
    """As a context manager: a scheduler and `workers`; `address` is the value for A11Y_BENCH_SCHEDULER."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address, self.folder = f"tcp://127.0.0.1:{self.port}", folder
        self._wanted, self.workers = workers, list[subprocess.Popen[bytes]]()

    def __enter__(self) -> Dask:
        self.start_scheduler()
        for number in range(self._wanted):
            self.join(f"worker{number}")
        return self

    def start_scheduler(self) -> None:
        self.scheduler = self._begun("scheduler", "--port", str(self.port))
        until = time.monotonic() + 60
        while socket.socket().connect_ex(("127.0.0.1", self.port)):
            assert time.monotonic() < until
            time.sleep(0.1)

    def join(self, name: str, slots: int = 1, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        """One more worker, with a cache of its own."""
        own = {"A11Y_BENCH_CACHE": str(self.folder / name)} | dict(environment or {})
        worker = self._begun("worker", self.address, "--slots", str(slots), environment=own)
        self.workers.append(worker)
        return worker

    def _begun(self, *arguments: str, environment: Mapping[str, str] | None = None) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join([str(TESTS), str(TESTS.parent)])
        given = os.environ | {"PYTHONPATH": paths} | dict(environment or {})
        with (self.folder / "dask.log").open("ab") as log:
            return subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], env=given, stderr=log, stdout=log)

    def __exit__(self, *_: object) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()
