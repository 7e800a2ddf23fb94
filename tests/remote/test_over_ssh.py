"""Scheduler and worker that `remote-run` started on a server, and a coordinator that reaches them only by ssh."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from namespaces import until
from remote.conftest import Laptop
from ssh_double import NAME
from work_requests import Slow, Square

from pipeline.core import cluster, slot
from pipeline.core.work import each
from pipeline.remote import jobs
from pipeline.remote import push as pushing


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@contextmanager
def tunnel(port: int, target: int) -> Iterator[None]:
    """Forward a port of this machine to one on the server's loopback."""
    process = subprocess.Popen(["ssh", "-N", "-L", f"{port}:127.0.0.1:{target}", NAME])
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@pytest.mark.engine("rsync")
def test_a_server_works_for_a_coordinator_over_ssh(
    laptop: Laptop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pushing.push_project(laptop.host)
    (laptop.there / pushing.SECRETS).write_text(f"PYTHONPATH='{laptop.there}/tests'\n")
    server_port, here = free_port(), free_port()
    started = [jobs.begin(laptop.host, f"scheduler --port {server_port}")]
    started.append(jobs.begin(laptop.host, f"worker tcp://127.0.0.1:{server_port} --slots 2"))
    monkeypatch.setenv(cluster.ADDRESS, f"tcp://127.0.0.1:{here}")
    begun = tmp_path / "begun"
    begun.mkdir()
    with tunnel(here, server_port):
        until(lambda: not socket.socket().connect_ex(("127.0.0.1", here)))
        log = laptop.there / jobs.FOLDER / started[1] / "log"
        until(lambda: "working for" in log.read_text())
        large = Slow(1, str(begun), size=2 * slot.MOST)
        found = dict(each([large, Square(3), Square(4)], jobs=2, engine="dask"))
        assert found == {large: b"x" * large.size, Square(3): 9, Square(4): 16}
    assert os.getpid() != int(next(begun.iterdir()).read_text())
    for name in reversed(started):
        jobs.stop(laptop.host, jobs.find(laptop.host, name))
        until(lambda name=name: jobs.find(laptop.host, name).state == "ended")
