"""Where scheduler and workers listen, and how they end: whoever reaches one can run code on its machine."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner
from dask_double import Dask
from namespaces import until

from pipeline.core.errors import UserError
from pipeline.workers import scheduler, worker

#: the state of a listening socket in /proc/net/tcp
LISTENS = "0A"
LOOPBACK = {"0100007F"}


def listening(process: subprocess.Popen[bytes]) -> set[str]:
    """The local addresses on which a process listens, in the kernel's notation."""
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
    result = CliRunner().invoke(worker.command, [address])
    assert (result.exit_code, "such as tcp://server:8786" in result.output) == (2, True)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("words", [[scheduler.command], [worker.command, "tcp://127.0.0.1:8786"]])
def test_an_address_of_another_machine_is_refused(words: list) -> None:
    """192.0.2.0/24 is reserved for documentation."""
    result = CliRunner().invoke(words[0], [*words[1:], "--host", "192.0.2.77"])
    assert result.exit_code == 2 and "'192.0.2.77' is not an address of this machine" in result.output


@pytest.mark.engine("git")
@pytest.mark.rule("bad-input")
def test_a_port_in_use_is_reported(tmp_path: Path) -> None:
    with Dask(tmp_path, workers=0) as dask:
        result = CliRunner().invoke(scheduler.command, ["--port", str(dask.port)])
    assert isinstance(result.exception, UserError)
    assert "already in use" in result.exception.message and "--port" in (result.exception.hint or "")


@pytest.mark.engine("git")
def test_a_termination_signal_ends_cleanly(tmp_path: Path) -> None:
    """Slurm and `remote-stop` send this signal; the output used to look like a fault."""
    with Dask(tmp_path, workers=1) as dask:
        log = tmp_path / "dask.log"
        until(lambda: "working for" in log.read_text())
        for process in (*dask.workers, dask.scheduler):
            process.terminate()
            assert process.wait(30) == 130
        assert not re.search("Traceback|never awaited|destroyed", log.read_text())
