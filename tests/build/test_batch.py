"""What candidates of a batch share, and what a failure in the background says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from histories import Content
from tiny_library import IMPATIENT, LIMITS, MANIFEST, Bench, Pull, make_library

from pipeline.build import qualify
from pipeline.build.batch import Batch
from pipeline.build.budget import Budget
from pipeline.build.learned import Memory
from pipeline.build.plan import planned
from pipeline.build.qualify import Hopeless, Settings
from pipeline.core.errors import InfrastructureError
from pipeline.core.git import open_clone
from pipeline.core.progress import Progress
from pipeline.core.work import Event, Settled
from pipeline.sandbox.scripted import ScriptedSandbox

ROOT = MANIFEST.format('"jest": "file:./jest"').replace(
    '"private"', '"workspaces": ["packages/*"], "packageManager": "npm@6.14.18", "private"'
)
BASE: dict[str, Content] = {"package.json": ROOT} | {
    f"packages/{name}/package.json": f'{{"name": "{name}", "version": "1.0.0"}}\n' for name in ("docs", "button")
}


def pull(*files: str) -> Pull:
    changed: dict[str, Content] = {f"{file}.test.js": f"works | {file}.js | new\n" for file in files}
    return Pull("qualified", None, None, others=changed | {f"{file}.js": "new\n" for file in files})


PULLS = {
    "menu": pull("packages/docs/src/a"),
    "badge": pull("packages/docs/src/b"),
    "toggle": pull("packages/button/src/a"),
    "tabs": pull("packages/docs/src/c", "packages/button/src/c"),
}


@pytest.fixture
def batch(tmp_path: Path) -> Batch:
    from tiny_library import PULLS as ALL

    assert list(ALL)[: len(PULLS)] == list(PULLS), "pull requests are named by their number"
    bench = Bench(tmp_path, make_library(tmp_path, PULLS, BASE).folder, tmp_path / "cache")
    bench.collect()
    clone, settings = open_clone(bench.library), Settings(bench.sandbox, repeats=1, limits=LIMITS)
    memory, budget = Memory(tmp_path / "learned.jsonl"), Budget(ScriptedSandbox(tmp_path), None, 0)
    made = Batch(bench.store, memory, budget, Progress("building", len(PULLS)), "threads")
    made.background = SimpleNamespace(submit=lambda work: None)
    for name in PULLS:
        unit = planned(bench.store, clone, settings, {}, IMPATIENT, bench.candidate(name))
        made.units[name] = unit
        made.units[unit.name] = unit
    return made


def test_a_hopeless_environment_is_so_for_tests_of_the_same_packages(batch: Batch) -> None:
    """What may be left out depends on the packages that the tests need: a dependency of the docs that is gone is no
    reason to reject a test of the button."""
    first = batch.units["menu"].request
    assert len({batch.units[name].request.environment for name in PULLS}) == 1
    batch._hear(Event(first.name, data=Hopeless(first.rejected("dependency_gone", "gone"))))
    settled = {name for name in PULLS if isinstance(batch._admit(batch.units[name].request), Settled)}
    assert settled == {"menu", "badge"}


@pytest.mark.parametrize("unprepared", [False, True])
def test_commands_that_fail_in_one_base_do_not_make_its_environment_hopeless(
    batch: Batch, monkeypatch: pytest.MonkeyPatch, unprepared: bool
) -> None:
    """They make files from the sources, which neighbors do not share."""
    wanted, told = batch.units["menu"].request, list[Event]()
    trial = SimpleNamespace(made=False, unprepared=unprepared, files={}, stored={}, say=print)
    outcome = wanted.rejected("environment_failed", "")
    monkeypatch.setattr(qualify, "Search", lambda *_: SimpleNamespace(trial=trial, outcome=lambda: outcome))
    assert wanted.perform(told.append).outcome == outcome
    assert [type(event.data) for event in told] == ([] if unprepared else [Hopeless])


def test_a_disk_that_cannot_be_measured_is_reported_once(capsys: pytest.CaptureFixture[str], batch: Batch) -> None:
    """It was hidden in the log, and the disk filled up."""

    def fail() -> str:
        raise InfrastructureError("no answer", cause="engine")

    batch.budget.keep = fail
    batch.background = SimpleNamespace(submit=lambda work: work())
    for _ in range(2):
        batch._in_background(batch._keep_disk)
    assert capsys.readouterr().err.count("the disk space of the layers is not limited: no answer") == 1
