"""The tiny library with a dataset, and an agent that does what its test says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import factories
import pytest
from tiny_library import Bench

from pipeline.core.git import open_clone
from pipeline.llm.experiment import Experiment
from pipeline.predict.agents import Agent, Call
from pipeline.predict.job import Job
from pipeline.predict.run import open_run
from pipeline.sandbox.local.process import Running

KEY = "sk-canary-of-an-instance"
#: what every fake agent starts with: its arguments, and how it answers
PRELUDE = """\
import json, os, pathlib, subprocess, sys
task, checkout, out, model = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), sys.argv[4]
def answer(patch="", outcome="DONE"):
    (out / "patch.diff").write_text(patch)
    (out / "metadata.json").write_text(json.dumps({"outcome": outcome}))
"""


@pytest.fixture
def bench(tiny: Bench, tmp_path: Path) -> Bench:
    return tiny.copy(tmp_path)


@pytest.fixture
def job(bench: Bench, tmp_path: Path) -> Callable[[str], Job]:
    """`job(code)`: the task `menu` for an agent that runs this code; the run is the same each time."""
    folder = tmp_path / "agent"
    folder.mkdir()
    settings = folder / "settings.toml"
    settings.write_text("")

    def make(code: str) -> Job:
        (folder / "agent.py").write_text(PRELUDE + code)
        command = ("{python}", str(folder / "agent.py"), "{task}", "{checkout}", "{out}", "{model}")
        run = open_run(bench.store, Experiment(str(factories.REPO), "model-a", "fake", "settings"))
        agent = Agent("fake", folder, settings, Call(command=command))
        return Job(
            agent, run, bench.instance("menu"), open_clone(bench.library), "http://127.0.0.1:9/v1", KEY, Running()
        )

    return make
