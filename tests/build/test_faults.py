"""What tests, a registry and a killed process can do to a batch, in a real engine, through the real stage 02.

Each instance ends with its own result (a limit, or "not evaluated" with the cause), the others are unaffected, and the
next build finishes the rest.
"""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from faulty_batch import PAIR, REPO, Batch, breaking
from namespaces import until
from registry_double import Registry
from tiny_library import JEST, MANIFEST, NAMED, Pull

from pipeline.core.retry import Patience
from pipeline.sandbox.docker.containers import LABEL, OWNER

pytestmark = pytest.mark.engine


#: name -> what the test does, and how its run ends
LIMITED = {
    "menu": Pull("qualified", NAMED),
    "hang": breaking("hang", "timeout: timeout in test"),
    "fork": breaking("forks", "process_limit: process_limit in test"),
    "file": breaking("writes", "disk_limit: disk_limit in test"),
    "flood": breaking("flood", "output_limit: output_limit in test"),
    "hoard": breaking("hoards", "not_evaluated: out_of_memory in test"),
    "tabs": Pull("qualified", NAMED),
}


# -- tests that break their bounds -----------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return Batch(tmp_path_factory.mktemp("limited"), LIMITED).build()


@pytest.mark.trap("no-limits-around-tests")
@pytest.mark.rule("limits-are-ends")
@pytest.mark.invariant(7)
@pytest.mark.parametrize("name", LIMITED)
def test_an_endless_test_ends_by_its_limit_and_affects_no_other(limited: dict[str, str], name: str) -> None:
    """One hang stopped another system's batch at 270 of 296; a full disk or process table stops all others, too."""
    assert limited[name].startswith(LIMITED[name].ends)


# -- a registry ------------------------------------------------------------------------------------------------------
@pytest.fixture
def depending(tmp_path: Path) -> Iterator[Batch]:
    """The second pull request needs a package from the registry, and its environment does not exist yet."""
    package = MANIFEST.format(f'{JEST}, "dep": "1.0.0"')
    pulls = {"menu": Pull("qualified", NAMED), "tabs": Pull("qualified", NAMED, others={"package.json": package})}
    batch = Batch(tmp_path, pulls, {".npmrc": f"fetch-retries=0\n# {tmp_path}\n"})
    yield batch
    batch.forget()


@pytest.mark.invariant(4)
@pytest.mark.trap("infrastructure-is-not-failure")
def test_a_registry_that_refuses_briefly_is_waited_for(depending: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    with Registry(503, 429) as registry:
        monkeypatch.setenv("npm_config_registry", registry.address)
        assert depending.build(Patience(tries=3, seconds=0.1)) == {"menu": "qualified", "tabs": "qualified"}
    assert depending.said().count("trying again in") == 2


@pytest.mark.invariant(4)
@pytest.mark.invariant(7)
@pytest.mark.rule("not-evaluated-is-retried")
def test_a_refusing_registry_is_reported_and_a_later_build_finishes(
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
    """A build in a process of its own, one instance at a time, whose container is working."""
    batch = Batch(tmp_path, PAIR)
    words = ("build", str(REPO), "--repeats", "1", "--jobs", "1", "--data", str(batch.store.root))
    program = [sys.executable, "-c", "from pipeline.cli import main; main()", *words]
    with subprocess.Popen(program, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as process:
        while not left_by(process, f"{LABEL}=workspace"):
            time.sleep(0.02)
        yield batch, process


def left_by(process: subprocess.Popen[bytes], *labels: str) -> list[str]:
    """The containers that a process created and did not remove."""
    owner = f"{OWNER}={socket.gethostname()}/{process.pid}"
    found = docker.from_env().api.containers(all=True, filters={"label": [owner, *labels]})
    return [container["Id"] for container in found]


@pytest.mark.rule("manifest-last")
def test_the_next_build_cleans_up_after_a_killed_one(started) -> None:
    batch, process = started
    process.kill()
    process.wait()
    assert left_by(process)
    # the engine may finish making a container only after its client was killed
    until(lambda: batch.sandbox.check() or not left_by(process))
    assert batch.build() == {"menu": "qualified", "tabs": "qualified"}


def test_ctrl_c_finishes_work_in_progress_and_starts_nothing(started) -> None:
    batch, process = started
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert not left_by(process)
    assert batch.said().count("adding the sources") <= 1 and "(1 of 2)" in batch.said()
    assert "(2 of 2)" not in batch.said()
