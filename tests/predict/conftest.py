"""The tiny library with a dataset, and an agent whose behavior the test chooses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import factories
import pytest
from tiny_library import Bench

from pipeline.core.git import open_clone
from pipeline.core.records import Instance
from pipeline.core.store import Unit
from pipeline.core.work import silent
from pipeline.llm.experiment import Experiment
from pipeline.predict import host
from pipeline.predict.agents import Agent, Call
from pipeline.predict.request import Ask
from pipeline.predict.run import Run, open_run
from pipeline.predict.runtime import save
from pipeline.sandbox.local.process import Running

KEY = "sk-canary-of-an-instance"
#: the beginning of every fake agent: its arguments, and a function for its answer
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


@dataclass
class Job:
    """A request, and where its result is written."""

    ask: Ask
    run: Run
    instance: Instance

    def done(self) -> Unit:
        """The unit of the instance, after the agent worked on it."""
        save(self.run, self.instance, self.ask.perform(silent))
        return self.run.unit(self.instance)

    @property
    def is_answered(self) -> bool:
        return self.instance not in self.run.missing()


@pytest.fixture
def job(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Job]:
    """`job(code)`: the task `menu` for an agent that runs this code; the run is the same each time."""
    monkeypatch.setenv("A11Y_BENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(host, "RUNNING", Running())  # one that was ended once runs nothing more
    folder = tmp_path / "agent"
    folder.mkdir()
    settings = folder / "settings.toml"
    settings.write_text("")

    def make(code: str) -> Job:
        (folder / "agent.py").write_text(PRELUDE + code)
        command = ("{python}", str(folder / "agent.py"), "{task}", "{checkout}", "{out}", "{model}")
        run = open_run(bench.store, Experiment(str(factories.REPO), "model-a", "fake", "settings"))
        agent, instance = Agent("fake", folder, settings, Call(command=command)), bench.instance("menu")
        place, url = str(open_clone(bench.library).place), "http://127.0.0.1:9/v1"
        ask = Ask(
            agent, "model-a", instance.task(), instance.base.sha, place, url, KEY, str(run.cache(bench.store, ""))
        )
        return Job(ask, run, instance)

    return make
