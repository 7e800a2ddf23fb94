"""The batch script of docs/remote.md, submitted to a real Slurm: controller, daemon and munge on this machine.

The node claims more processors and memory than the machine has, so that several jobs fit. The project's folder there
contains only what the script calls: an engine's start script that does nothing, and a `uv run` that starts this Python.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from dask_double import PROGRAM, Dask
from lacking import lack
from namespaces import until
from work_requests import Slow

from pipeline.core import cluster
from pipeline.core.work import each

DOCS = Path(__file__).parents[2] / "docs" / "remote.md"
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol")
PACKAGES = "apt-get install munge slurmctld slurmd slurm-client"
#: a requeued job waits until its credential has expired, by default for two minutes
CONFIGURATION = """\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
SlurmUser=root
AuthInfo=socket={folder}/munge.socket,cred_expire=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MpiDefault=none
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs=64 RealMemory=640000
PartitionName=all Nodes=ALL Default=YES State=UP
"""
UV = """\
#!/bin/sh
until [ "$1" = a11y-bench ]; do shift; done
shift
exec {python} -c '{program}' "$@"
"""


class Slurm:
    """A cluster of one node, this machine. As a context manager: its programs run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        (folder / "state").mkdir()
        (folder / "key").write_bytes(os.urandom(128))
        (folder / "key").chmod(0o600)
        host, ports = socket.gethostname().partition(".")[0], [free_port(), free_port()]
        (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, host=host, ports=ports))
        self.environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
        self.programs: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Slurm:
        munge = {"key-file": "key", "socket": "munge.socket", "pid-file": "munge.pid", "log-file": "munge.log"}
        files = [f"--{option}={self.folder / name}" for option, name in {**munge, "seed-file": "munge.seed"}.items()]
        try:
            self._start("munged", "--foreground", "--force", *files)
            until((self.folder / "munge.socket").exists)
            self._start("slurmctld", "-D")
            self._start("slurmd", "-D")
            until(lambda: "State=IDLE" in self.ask("scontrol", "show", "node"))
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.ask("scancel", "--user=root")
        with suppress(AssertionError):
            until(lambda: not self.ask("squeue", "--noheader"), 20)
        for program in reversed(self.programs):
            program.terminate()
            program.wait()

    def _start(self, *command: str) -> None:
        with (self.folder / "log").open("ab") as log:
            self.programs.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=log))

    def ask(self, *command: str, **given: str) -> str:
        return subprocess.run(command, env=self.environment | given, capture_output=True, text=True).stdout


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


@pytest.fixture
def slurm(tmp_path: Path) -> Iterator[Slurm]:
    if missing := [program for program in PROGRAMS if not shutil.which(program)]:
        lack(f"needs {', '.join(missing)}: {PACKAGES}")
    with Slurm(tmp_path / "slurm") as slurm:
        yield slurm


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home folder with the programs that the script calls."""
    engine, uv = tmp_path / "home/a11y-bench/docker/engine/start.sh", tmp_path / "home/bin/uv"
    for path, text in ((engine, "#!/bin/sh\ntouch started\n"), (uv, UV.format(python=sys.executable, program=PROGRAM))):
        path.parent.mkdir(parents=True)
        path.write_text(text)
        path.chmod(0o755)
    return tmp_path / "home"


def script() -> str:
    """The only batch script in the docs."""
    (text,) = [block for block in re.findall(r"```sh\n(.*?)```", DOCS.read_text(), re.DOTALL) if "#SBATCH" in block]
    return text


@pytest.mark.engine("git", "root")
def test_workers_of_a_batch_script_join_and_join_again_when_it_is_requeued(
    slurm: Slurm, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "batch.sh").write_text(script())
    begun = tmp_path / "begun"
    begun.mkdir()
    with Dask(tmp_path, workers=0) as dask:
        paths = {"PATH": f"{home}/bin:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(sys.path), "HOME": str(home)}
        output = f"--output={tmp_path}/job-%a"
        export = f"--export=ALL,{cluster.ADDRESS}={dask.address}"
        submit = ["sbatch", "--parsable", "--array=1-2", output, export, str(home / "batch.sh")]
        job = slurm.ask(*submit, **paths).strip()
        monkeypatch.setenv(cluster.ADDRESS, dask.address)
        until(lambda: all(joined(tmp_path, task) for task in (1, 2)))
        assert (home / "a11y-bench/started").exists()

        requests = [Slow(number, str(begun), seconds=1) for number in range(12)]
        for request, result in each(requests, jobs=4, engine="dask"):
            assert request.number == result
            if len(list(begun.iterdir())) == 4:
                slurm.ask("scontrol", "requeue", f"{job}_1")
        assert len({path.read_text() for path in begun.iterdir()}) >= 2
        until(lambda: joined(tmp_path, 1) == 2, 120)


def joined(folder: Path, task: int) -> int:
    """How often the worker of a task has joined the scheduler."""
    output = folder / f"job-{task}"
    return output.read_text().count("working for") if output.exists() else 0
