"""A batch whose engine stops, is full, or is on another machine; a second engine is made to do all that.

Each instance is tried again, or is "not evaluated" with the cause, and the next build finishes the rest.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from docker_scripts import need
from faulty_batch import PAIR, Batch, breaking
from own_engine import OwnEngine, Way
from ssh_double import Server
from tiny_library import NAMED, Pull

from pipeline.core.errors import InfrastructureError
from pipeline.core.retry import Patience

pytestmark = pytest.mark.engine


# -- the engine, and its disk ----------------------------------------------------------------------------------------
@pytest.fixture
def pair(own_engine: OwnEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Batch:
    """Two sound pull requests, and an engine to disturb."""
    monkeypatch.setenv("DOCKER_HOST", own_engine.host)
    return Batch(tmp_path, PAIR)


@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
def test_an_engine_that_restarts_is_waited_for(pair: Batch, own_engine: OwnEngine) -> None:
    """It is stopped and started again during the first instance: all outcomes equal those of an undisturbed batch."""
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
def test_a_dead_engine_is_reported_and_a_later_build_finishes(pair: Batch, own_engine: OwnEngine) -> None:
    own_engine.stop()
    try:
        with pytest.raises(InfrastructureError, match="the Docker engine failed"):
            pair.build()
    finally:
        own_engine.start()
    assert pair.build() == {"menu": "qualified", "tabs": "qualified"}


@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
def test_a_full_disk_is_reported_and_a_later_build_finishes(pair: Batch, own_engine: OwnEngine) -> None:
    with own_engine.filled(), pytest.raises(InfrastructureError) as full:
        pair.build()
    assert full.value.cause == "disk"
    assert pair.build() == {"menu": "qualified", "tabs": "qualified"}


@pytest.mark.invariant(4)
def test_a_disk_that_fills_up_during_a_test_is_a_machine_fault(
    own_engine: OwnEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With enough room, the same test ends by its own limit."""
    monkeypatch.setenv("DOCKER_HOST", own_engine.host)
    batch = Batch(tmp_path, {"menu": Pull("qualified", NAMED), "file": breaking("writes", "disk_limit")})
    batch.make_images()
    with own_engine.filled(leave=40 * 2**20):
        full = batch.build(jobs=1)
    assert (full["menu"], full["file"]) == ("qualified", "not_evaluated: disk: the engine's disk is full")
    assert batch.build()["file"].startswith("disk_limit")


# -- an engine elsewhere ---------------------------------------------------------------------------------------------
@pytest.fixture
def elsewhere(own_engine: OwnEngine, monkeypatch: pytest.MonkeyPatch) -> Iterator[Way]:
    """A TCP connection to an engine that shares no folder and no network with this host."""
    with Way(own_engine) as way:
        monkeypatch.setenv("DOCKER_HOST", way.host)
        yield way


@pytest.mark.parametrize("buildkit", ["0", "1"])
def test_a_remote_engine_builds_with_and_without_buildkit(
    elsewhere: Way, buildkit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Images are built without asking any builder."""
    monkeypatch.setenv("DOCKER_BUILDKIT", buildkit)
    batch = Batch(tmp_path, {"menu": Pull("qualified", NAMED)}, {".npmrc": f"# {tmp_path}\n"})
    assert batch.build() == {"menu": "qualified"}
    batch.forget()


@pytest.mark.invariant(4)
def test_a_connection_that_is_cut_during_a_command_is_noticed(elsewhere: Way, tmp_path: Path) -> None:
    """The connection itself reports nothing: a mere reader would wait until the time limit, or for ever."""
    batch = Batch(tmp_path, PAIR)
    batch.make_images()
    with pytest.raises(InfrastructureError) as caught, batch.sandbox.open(batch.recipes()[0].image) as workspace:
        threading.Timer(1, elsewhere.cut).start()
        workspace.run(["sleep", "600"])
    assert caught.value.cause == "engine"


def test_an_engine_over_ssh_builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("sshd")
    with Server(tmp_path) as server:
        monkeypatch.setenv("PATH", f"{server.folder}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("DOCKER_HOST", server.address)
        assert Batch(tmp_path, PAIR).build() == {"menu": "qualified", "tabs": "qualified"}
