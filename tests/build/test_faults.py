"""What a test, a registry, an engine and a disk can do to a batch, in real engines, through the real stage 02.

In each case the instance ends as what it is (a limit of its own, or not evaluated with the cause), the others are not
touched by it, and the next build finishes what is missing.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import docker
import docker.errors
import factories
import pytest
from docker_scripts import needs
from own_engine import OwnEngine, Way
from registry_double import Registry
from ssh_double import Server
from tiny_library import JEST, MANIFEST, NAMED, Pull, make_library

from pipeline.build.qualify import Settings, recipe
from pipeline.build.stage import Outcome, build
from pipeline.collect.stage import collect
from pipeline.core import images
from pipeline.core.cache import cache_root
from pipeline.core.errors import InfrastructureError
from pipeline.core.git import open_clone
from pipeline.core.records import Candidate, Instance
from pipeline.core.retry import Patience
from pipeline.core.sandbox.base import Limits
from pipeline.core.sandbox.docker import DockerSandbox
from pipeline.core.sandbox.docker_engine import LABEL, OWNER
from pipeline.core.sandbox.docker_names import environment_image, instance_image
from pipeline.core.store import Store, read_records

pytestmark = pytest.mark.engine
REPO = factories.REPO
LIMITS = Limits(seconds=15, memory=256 * 2**20, processes=100, output=200_000, disk=60 * 2**20)
IMPATIENT = Patience(tries=2, seconds=0.1)


def breaking(way: str, ends: str) -> Pull:
    """A pull request whose test does this without end."""
    return Pull(ends, f"{NAMED}breaks {way}\n", "works | {src} | old\n")


#: name -> what it does, and how it ends
LIMITED = {
    "menu": Pull("qualified", NAMED),
    "hang": breaking("hang", "timeout: timeout in test"),
    "fork": breaking("forks", "process_limit: process_limit in test"),
    "file": breaking("writes", "disk_limit: disk_limit in test"),
    "flood": breaking("flood", "output_limit: output_limit in test"),
    "hoard": breaking("hoards", "not_evaluated: out_of_memory in test"),
    "tabs": Pull("qualified", NAMED),
}
PAIR = {"menu": Pull("qualified", NAMED), "tabs": Pull("qualified", NAMED)}


class Batch:
    """A library with these pull requests, collected; `build` builds it and says how each ended, by name."""

    def __init__(self, folder: Path, pulls: dict[str, Pull], base: dict[str, str] | None = None) -> None:
        self.pulls, self.store = pulls, Store(folder / "data")
        self.library = make_library(folder, pulls, base).folder
        collect(self.store, REPO, self.library)
        self.sandbox = DockerSandbox(cache_root())
        self.sandbox.check()

    def build(self, patience: Patience = IMPATIENT, jobs: int = 2) -> dict[str, str]:
        settings = Settings(self.sandbox, repeats=1, limits=LIMITS)
        outcomes = build(self.store, REPO, settings, jobs=jobs, patience=patience)
        return dict(zip(self.pulls, map(ending, outcomes), strict=True))

    def recipes(self) -> list[images.Recipe]:
        candidates = read_records(self.store.raw(REPO) / "candidates.jsonl", Candidate)
        return [recipe(open_clone(self.library), one) for one in candidates]

    def forget(self) -> None:
        """Remove the images that nobody can use again."""
        remove = docker.from_env().images.remove
        for one in self.recipes():
            for name in (instance_image(one.image), environment_image(one.environment_digest)):
                with suppress(docker.errors.ImageNotFound):
                    remove(name, force=True)

    def said(self) -> str:
        path = self.store.qualification(REPO) / "build.log"
        return path.read_text() if path.exists() else ""

    def wait_for(self, text: str) -> None:
        while text not in self.said():
            time.sleep(0.05)


def ending(outcome: Outcome) -> str:
    return "qualified" if isinstance(outcome, Instance) else f"{outcome.reason}: {outcome.detail}"


# -- tests that break their bounds -----------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return Batch(tmp_path_factory.mktemp("limited"), LIMITED).build()


@pytest.mark.trap("no-limits-around-tests")
@pytest.mark.invariant(7)
@pytest.mark.parametrize("name", LIMITED)
def test_a_test_without_bounds_ends_by_its_limit_and_alone(limited: dict[str, str], name: str) -> None:
    """One hang stopped a night's batch at 270 of 296; a full disk or no process left stops everybody else, too."""
    assert limited[name].startswith(LIMITED[name].ends)


# -- a registry ------------------------------------------------------------------------------------------------------
@pytest.fixture
def depending(tmp_path: Path) -> Iterator[Batch]:
    """The second pull request takes a package from the registry, and nobody has made its environment yet."""
    package = MANIFEST.format(f'{JEST}, "dep": "1.0.0"')
    pulls = {"menu": Pull("qualified", NAMED), "tabs": Pull("qualified", NAMED, others={"package.json": package})}
    batch = Batch(tmp_path, pulls, {".npmrc": f"fetch-retries=0\n# {tmp_path}\n"})
    yield batch
    batch.forget()


@pytest.mark.invariant(4)
@pytest.mark.trap("infrastructure-is-not-failure")
def test_a_registry_that_refuses_for_a_while_costs_a_wait(depending: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    with Registry(503, 429) as registry:
        monkeypatch.setenv("npm_config_registry", registry.address)
        assert depending.build(Patience(tries=3, seconds=0.1)) == {"menu": "qualified", "tabs": "qualified"}
    assert depending.said().count("trying again in") == 2


@pytest.mark.invariant(4)
@pytest.mark.invariant(7)
@pytest.mark.rule("not-evaluated-is-retried")
def test_a_registry_that_refuses_is_said_and_a_later_build_finishes(
    depending: Batch, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Registry(429, for_ever=True) as registry:
        monkeypatch.setenv("npm_config_registry", registry.address)
        refused = depending.build()
        assert refused["menu"] == "qualified"
        assert refused["tabs"].startswith("not_evaluated: registry: npm install")
        registry.for_ever, registry.refusals = False, []
        assert depending.build() == {"menu": "qualified", "tabs": "qualified"}


# -- the process -----------------------------------------------------------------------------------------------------
@pytest.fixture
def started(tmp_path: Path) -> Iterator[tuple[Batch, subprocess.Popen[bytes]]]:
    """A build in a process of its own, one instance at a time, with a container at work."""
    batch = Batch(tmp_path, PAIR)
    words = ("build", str(REPO), "--repeats", "1", "--jobs", "1", "--data", str(batch.store.root))
    program = [sys.executable, "-c", "from pipeline.cli import main; main()", *words]
    with subprocess.Popen(program, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        while not left_by(process, f"{LABEL}=workspace"):
            time.sleep(0.02)
        yield batch, process


def left_by(process: subprocess.Popen[bytes], *labels: str) -> list[str]:
    """The containers that a process made and has not removed."""
    owner = f"{OWNER}={socket.gethostname()}/{process.pid}"
    found = docker.from_env().api.containers(all=True, filters={"label": [owner, *labels]})
    return [container["Id"] for container in found]


@pytest.mark.rule("manifest-last")
def test_a_killed_build_leaves_nothing_that_the_next_does_not_clean_up(started) -> None:
    batch, process = started
    process.kill()
    process.wait()
    assert left_by(process)
    batch.sandbox.check()
    assert not left_by(process)
    assert batch.build() == {"menu": "qualified", "tabs": "qualified"}


def test_ctrl_c_ends_what_is_under_way_and_begins_nothing(started) -> None:
    batch, process = started
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert not left_by(process)
    assert batch.said().count("adding the sources") <= 1 and "(1 of 2)" in batch.said()
    assert "(2 of 2)" not in batch.said()


# -- the engine, and its disk ----------------------------------------------------------------------------------------
@pytest.fixture
def pair(own_engine: OwnEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Batch:
    """Two sound pull requests and an engine to torment."""
    monkeypatch.setenv("DOCKER_HOST", own_engine.host)
    return Batch(tmp_path, PAIR)


@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
def test_an_engine_that_comes_back_costs_a_wait(pair: Batch, own_engine: OwnEngine) -> None:
    """Stopped and started again under the first instance: no outcome differs from that of an undisturbed batch."""
    found: dict[str, str] = {}
    patience = Patience(tries=6, seconds=1)
    batch = threading.Thread(target=lambda: found.update(pair.build(patience, jobs=1)), daemon=True)
    batch.start()
    pair.wait_for("run 1 of 1")
    own_engine.stop()
    own_engine.start()
    batch.join()
    assert found == {"menu": "qualified", "tabs": "qualified"}
    assert "trying again in" in pair.said()


@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
def test_an_engine_that_stays_away_is_said_and_a_later_build_finishes(pair: Batch, own_engine: OwnEngine) -> None:
    own_engine.stop()
    try:
        away = pair.build()
    finally:
        own_engine.start()
    assert all(end.startswith("not_evaluated: engine: the Docker engine failed") for end in away.values())
    assert pair.build() == {"menu": "qualified", "tabs": "qualified"}


@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
@pytest.mark.parametrize("leave", [0, 2**20])
def test_a_full_disk_is_said_and_a_later_build_finishes(pair: Batch, own_engine: OwnEngine, leave: int) -> None:
    """Nothing can be made, or it can and what runs has no room to write."""
    own_engine.fill(leave=leave)
    try:
        full = pair.build()
    finally:
        own_engine.release()
    assert all(end.startswith("not_evaluated: disk: ") for end in full.values())
    assert pair.build() == {"menu": "qualified", "tabs": "qualified"}


# -- an engine elsewhere ---------------------------------------------------------------------------------------------
@pytest.fixture
def elsewhere(own_engine: OwnEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Way]:
    """A way by TCP to an engine that shares no folder and no network with this host."""
    with Way(own_engine) as way:
        monkeypatch.setenv("DOCKER_HOST", way.host)
        yield way


@pytest.mark.parametrize("buildkit", ["0", "1"])
def test_an_engine_elsewhere_with_and_without_buildkit(
    elsewhere: Way, buildkit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No builder of any kind is asked for an image."""
    monkeypatch.setenv("DOCKER_BUILDKIT", buildkit)
    batch = Batch(tmp_path, {"menu": Pull("qualified", NAMED)}, {".npmrc": f"# {tmp_path}\n"})
    assert batch.build() == {"menu": "qualified"}
    batch.forget()


@pytest.mark.invariant(4)
def test_a_way_that_is_cut_under_a_command_is_seen(elsewhere: Way, tmp_path: Path) -> None:
    """Nothing says so on the connection itself: whoever only reads it waits until the time limit, or for ever."""
    batch = Batch(tmp_path, PAIR)
    made = batch.recipes()[0]
    images.ensure(batch.sandbox, open_clone(batch.library), made, print)
    with pytest.raises(InfrastructureError) as caught, batch.sandbox.open(made.image) as workspace:
        threading.Timer(1, elsewhere.cut).start()
        workspace.run(["sleep", "600"])
    assert caught.value.cause == "engine"


@needs("sshd")
def test_an_engine_behind_ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Server(tmp_path) as server:
        monkeypatch.setenv("PATH", f"{server.folder}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("DOCKER_HOST", server.address)
        assert Batch(tmp_path, PAIR).build() == {"menu": "qualified", "tabs": "qualified"}
