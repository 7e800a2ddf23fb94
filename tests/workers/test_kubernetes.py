"""The manifest in docs/remote.md starts existing commands; `just bench kubernetes` checks the rest of it."""

from __future__ import annotations

from typing import Any

import click
import pytest
import yaml
from benchmarks.kubernetes import manifest

from pipeline.workers import scheduler, worker

COMMANDS: dict[str, click.Command] = {"scheduler": scheduler.command, "worker": worker.command}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_container_of_each_pod_runs_our_command(name: str) -> None:
    spec: dict[str, Any] = yaml.safe_load(manifest())["spec"][name]["spec"]
    program, command, *words = spec["containers"][0]["args"]
    assert (program, command) == ("a11y-bench", name)
    address = "tcp://a11y-bench-scheduler.default.svc.cluster.local:8786"
    COMMANDS[name].make_context(name, [word.replace("$(DASK_SCHEDULER_ADDRESS)", address) for word in words])
