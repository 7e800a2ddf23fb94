"""What a coordinator must reach: the scheduler's port, and nothing else. Here, it is on a host of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dask_double import TESTS, Dask
from histories import History
from lacking import lack
from layer_registry import Gate
from namespaces import Network, lacking, until

from pipeline.core import slot
from pipeline.core.cluster import ADDRESS

#: performs a unit with a clone that the worker lacks, and one with a large result
COORDINATOR = """\
import sys
from pathlib import Path
from pipeline.core import cluster
from pipeline.core.work import each
from work_requests import Read, Slow
clone, commit, begun, size = sys.argv[1:]
requests = [Read(f"{clone}/.git", commit, "file.txt"), Slow(1, begun, size=int(size))]
cluster.Path = lambda _: Path(clone, "hidden")  # the worker shares this machine's files
read, large = (result for _, result in sorted(each(requests, jobs=1, engine="dask"), key=lambda done: done[0].name))
print(read[0], "/objects/" in read[2], len(large))
"""


@pytest.mark.engine("git")
def test_a_coordinator_needs_to_reach_only_the_scheduler(tmp_path: Path) -> None:
    if reason := lacking():
        lack(reason)
    history = History(tmp_path / "clone")
    commit = history.commit("first", {"file.txt": "content"})
    (history.folder / ".git").rename(history.folder / "hidden")
    for name in ("begun", "hosts"):
        (tmp_path / name).mkdir()
    with Dask(tmp_path, workers=1) as dask, Network(tmp_path / "hosts", "far") as network:
        (host,) = network.hosts
        host.start(["sleep", "600"], {})
        with Gate(scheduler_of(dask), until(host.processes)[0]):
            environment = {ADDRESS: dask.address, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
            script = [sys.executable, "-c", COORDINATOR, str(history.folder), commit, str(tmp_path / "begun")]
            coordinator = host.start([*script, str(2 * slot.MOST)], environment, tmp_path / "output")
            assert coordinator.wait(60) == 0, (tmp_path / "output").read_text()
    assert (tmp_path / "output").read_text().splitlines()[-1] == f"content True {2 * slot.MOST}"


def scheduler_of(dask: Dask) -> Any:
    """An object with a port for a gate to lead to."""
    return SimpleNamespace(port=dask.port)
