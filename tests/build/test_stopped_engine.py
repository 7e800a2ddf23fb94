"""A build that is stopped in the middle of installs: a real process, real signals, a real engine.

Two Ctrl-C, or one SIGTERM, end it within seconds. None of its containers is left, and nothing under way is decided.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, NamedTuple

import docker
import pytest
from faulty_batch import REPO, Batch
from registry_double import gateway
from tiny_library import JEST, MANIFEST, NAMED, Pull

from pipeline.sandbox.docker.containers import LABEL, OWNER

pytestmark = pytest.mark.engine

#: seconds within which the process must be gone; callers typically kill what is left after ten
SOON = 10
#: a git that takes as long to write sources as a large repository on a slow disk
SLOW_GIT = """#!/bin/sh
case "$*" in *checkout-index*) sleep 30;; esac
exec {} "$@"
"""


class Installing(NamedTuple):
    """A build of two environments that are both being installed, while sources are written."""

    batch: Batch
    process: subprocess.Popen[bytes]
    said: Path
    pids: list[int]

    def end_by(self, *signals: signal.Signals) -> int:
        """Send the signals, a moment apart, and return the exit code."""
        for one in signals:
            self.process.send_signal(one)
            time.sleep(0.5)
        return self.process.wait(SOON)


def family(pid: int) -> list[int]:
    """A process and its workers."""
    found = subprocess.run(["pgrep", "--parent", str(pid)], capture_output=True, text=True)
    return [pid, *map(int, found.stdout.split())]


def left(pids: list[int], *purposes: str) -> list[str]:
    """The containers that these processes created and did not remove."""
    labels = [f"{LABEL}={purpose}" for purpose in purposes]
    api, host = docker.from_env().api, socket.gethostname()
    filters = [{"label": [f"{OWNER}={host}/{pid}", *labels]} for pid in pids]
    return [container["Id"] for filter_ in filters for container in api.containers(all=True, filters=filter_)]


@pytest.fixture(params=["threads", "processes"])
def installing(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Installing]:
    """The installs wait for packages from a server that accepts every connection and never answers."""
    with socket.create_server((gateway(), 0)) as silent:
        host, port = silent.getsockname()
        first, second = (
            {"package.json": MANIFEST.format(f'{JEST}, "dep": "http://{host}:{port}/{n}.tgz"')} for n in "12"
        )
        pulls = {"menu": Pull("qualified", NAMED), "tabs": Pull("qualified", NAMED, others=second)}
        batch = Batch(tmp_path, pulls, first)
        with (tmp_path / "said").open("wb") as log, _started(batch, tmp_path, log, request.param) as process:
            try:
                while batch.said().count("installing: npm") < 2 or len(left(family(process.pid), "build")) < 2:
                    assert process.poll() is None, (tmp_path / "said").read_text()
                    time.sleep(0.05)
                yield Installing(batch, process, tmp_path / "said", family(process.pid))
            finally:
                process.kill()


def _started(batch: Batch, folder: Path, log: IO[bytes], engine: str) -> subprocess.Popen[bytes]:
    slow = folder / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text(SLOW_GIT.format(shutil.which("git")))
    slow.chmod(0o755)
    env = os.environ | {"PATH": f"{slow.parent}{os.pathsep}{os.environ['PATH']}"}
    words = ("build", str(REPO), "--repeats", "1", "--jobs", "2", "--engine", engine, "--data", str(batch.store.root))
    program = [sys.executable, "-c", "from pipeline.cli import main; main()", *words]
    return subprocess.Popen(program, stderr=log, stdout=log, env=env)


@pytest.mark.trap("stopped-runs-on")
@pytest.mark.parametrize(
    "signals", [(signal.SIGINT, signal.SIGINT), (signal.SIGTERM,)], ids=["Ctrl-C twice", "SIGTERM"]
)
def test_a_stopped_build_ends_at_once_and_leaves_no_container(
    installing: Installing, signals: tuple[signal.Signals, ...]
) -> None:
    """It used to print `cannot schedule new futures` half a minute later and leave two containers."""
    assert installing.end_by(*signals) == 130
    assert left(installing.pids) == []
    output = installing.said.read_text()
    assert "Traceback" not in output and "cannot schedule" not in output
    assert output.rstrip().endswith("interrupted; the same command resumes")
    units = installing.batch.store.qualification(REPO) / "units"
    assert list(units.glob("*/manifest.json")) == []
