"""Where a worker can be reached: whoever reaches it can run code on its machine."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from dask_double import Dask
from namespaces import until

from pipeline.workers.worker import command

#: the state of a listening socket in /proc/net/tcp
LISTENS = "0A"
LOOPBACK = {"0100007F"}


def listening(process: subprocess.Popen[bytes]) -> set[str]:
    """The local addresses on which a process listens, as the kernel writes them."""
    sockets = {link.readlink().name for link in Path(f"/proc/{process.pid}/fd").iterdir() if link.is_symlink()}
    tables = [Path(f"/proc/{process.pid}/net/{name}").read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    rows = [line.split() for table in tables for line in table]
    return {row[1].partition(":")[0] for row in rows if row[3] == LISTENS and f"socket:[{row[9]}]" in sockets}


@pytest.mark.engine("git")
def test_scheduler_and_worker_listen_on_the_loopback_unless_told(tmp_path: Path) -> None:
    with Dask(tmp_path, workers=1) as dask:
        until(lambda: "working for" in (tmp_path / "dask.log").read_text())
        assert listening(dask.scheduler) == LOOPBACK
        assert listening(dask.workers[0]) == LOOPBACK


@pytest.mark.parametrize("address", ["server", "server:8786", "tcp://server", "tcp://server:port", "tcp://:8786"])
def test_an_address_without_host_or_port_is_refused(address: str) -> None:
    result = CliRunner().invoke(command, [address])
    assert (result.exit_code, "such as tcp://server:8786" in result.output) == (2, True)
