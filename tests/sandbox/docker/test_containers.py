"""Which containers are ours, and that none is left when a process is told to end: in a real engine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import docker
import pytest
from docker.errors import NotFound
from docker.models.containers import Container
from sandbox.conftest import Bench

from pipeline.core.errors import InfrastructureError
from pipeline.sandbox.base import Limits, stopped
from pipeline.sandbox.docker.containers import LABEL, NAME, OWNER, owner
from pipeline.sandbox.docker.engine import Engine
from pipeline.sandbox.docker.names import DIGEST, LAYER, base_image, instance_image
from pipeline.sandbox.docker.sandbox import DockerSandbox

pytestmark = pytest.mark.engine


@pytest.fixture
def bench(docker_bench: Bench) -> Bench:
    return docker_bench


@pytest.fixture(scope="module")
def dead() -> str:
    """A process of this host that has ended, as an owner."""
    killed = subprocess.Popen(["true"])
    killed.wait()
    return f"{socket.gethostname()}/{killed.pid}"


@pytest.fixture
def heir(bench: Bench, dead: str) -> Iterator[Container]:
    """A container started from an image that somebody made from one of our containers, which inherits its labels."""
    inherited = {LABEL: "workspace", OWNER: dead, NAME: "a11y-bench-0123456789abcdef", LAYER: "instance", DIGEST: "x"}
    container = docker.from_env().containers.create(
        instance_image(bench.instance), ["sleep", "60"], labels=inherited, name=f"somebody-{uuid.uuid4().hex}"
    )
    yield container
    with suppress(NotFound):
        container.remove(force=True)


def is_there(container: Container) -> bool:
    with suppress(NotFound):
        container.reload()
        return True
    return False


# -- whose it is -----------------------------------------------------------------------------------------------------
@pytest.mark.trap("inherited-label")
def test_a_foreign_container_is_neither_removed_nor_listed(bench: Bench, heir: Container) -> None:
    """A container's labels are copied into an image made from it, and on to every container started from that."""
    bench.sandbox.check()
    assert is_there(heir)
    assert heir.id not in {layer.name for layer in bench.sandbox.images.kept()}


@pytest.mark.trap("inherited-label")
def test_an_abort_leaves_containers_of_others_alone(bench: Bench, heir: Container) -> None:
    mine = docker.from_env().containers.create(
        base_image(), ["sleep", "60"], labels={OWNER: owner()}, name=f"somebody-{uuid.uuid4().hex}"
    )
    try:
        sandbox = DockerSandbox(bench.sandbox.cache)
        with pytest.raises(InfrastructureError), sandbox.open(bench.instance) as workspace:
            sandbox.abort()
            workspace.run(["true"])
        assert is_there(heir) and is_there(mine)
    finally:
        mine.remove(force=True)


@pytest.mark.trap("inherited-label")
def test_an_image_that_others_made_from_ours_is_not_removed(bench: Bench, heir: Container) -> None:
    """With and without a name: we remove neither, and our own image is removed by the name that we gave it."""
    tagged, bare = heir.commit("somebody/image", bench.instance[:12]), heir.commit()
    ours = docker.from_env().images.get(instance_image(bench.instance))
    ours.tag("aaa/first", bench.instance[:12])
    try:
        listed = {layer.name: layer for layer in bench.sandbox.images.kept()}
        assert not listed.keys() & {tagged.id, bare.id, *tagged.tags, f"aaa/first:{bench.instance[:12]}"}
        assert instance_image(bench.instance) in listed
    finally:
        heir.remove(force=True)
        for name in (*tagged.tags, bare.id, f"aaa/first:{bench.instance[:12]}"):
            docker.from_env().images.remove(name)


@pytest.mark.invariant(6)
def test_an_image_does_not_name_its_host(bench: Bench) -> None:
    image = docker.from_env().images.get(instance_image(bench.instance))
    assert socket.gethostname() not in str(image.attrs["Config"])


def test_leftovers_of_a_killed_process_are_removed(bench: Bench, dead: str) -> None:
    """A killed process removes nothing; the next one does, and leaves containers of running processes alone."""
    made = {}
    for name, who in {"dead": dead, "living": owner()}.items():
        own = f"a11y-bench-{uuid.uuid4().hex[:16]}"
        labels = {OWNER: who, NAME: own}
        made[name] = docker.from_env().containers.create(base_image(), ["sleep", "60"], labels=labels, name=own)
    try:
        bench.sandbox.check()
        assert [name for name, container in made.items() if is_there(container)] == ["living"]
    finally:
        made["living"].remove(force=True)


# -- the end ---------------------------------------------------------------------------------------------------------
def made_by(process: int) -> set[str]:
    who = f"{OWNER}={socket.gethostname()}/{process}"
    return {row["Id"] for row in docker.from_env().api.containers(all=True, filters={"label": who})}


def test_after_an_abort_no_container_is_left_and_none_is_started() -> None:
    """Threads that continued would try again, and leave new containers behind."""
    engine, before, outcomes = Engine(), made_by(os.getpid()), []
    assert engine.open_files, "asked of a container, too, which the end would remove"

    def make() -> None:
        try:
            while True:
                with engine.container(base_image(), "build", Limits()):
                    time.sleep(0.3)
        except InfrastructureError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=make) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    engine.containers.end()
    assert made_by(os.getpid()) <= before
    for thread in threads:
        thread.join()
    assert outcomes == [str(stopped())] * 3
    assert made_by(os.getpid()) <= before


SCRIPT = """
import sys, threading
from pipeline.sandbox.base import Limits
from pipeline.sandbox.docker.engine import Engine
from pipeline.sandbox.docker.names import base_image
def work():
    with engine.container(base_image(), "build", Limits()):
        made.set()
        threading.Event().wait()
engine, made = Engine(), threading.Event()
threading.Thread(target=work, daemon=True).start()
made.wait()
"""


def test_an_ended_process_leaves_no_containers_of_its_threads() -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stderr=subprocess.PIPE) as process:
        output = process.communicate(timeout=60)[1]
    assert (process.returncode, output) == (0, b"")
    assert not made_by(process.pid)


INTERRUPTED = """
def interrupted():
    raise KeyboardInterrupt
engine.containers.settle = interrupted
"""


def test_ctrl_c_at_the_end_shows_no_traceback(bench: Bench) -> None:
    """The next process removes what is left."""
    with subprocess.Popen([sys.executable, "-c", SCRIPT + INTERRUPTED], stderr=subprocess.PIPE) as process:
        output = process.communicate(timeout=60)[1]
    assert (process.returncode, output) == (0, b"")
    bench.sandbox.check()
    assert not made_by(process.pid)


COMMAND = """
import click, time
from pipeline.sandbox.base import Limits
from pipeline.sandbox.docker.engine import Engine
from pipeline.sandbox.docker.names import base_image
@click.command()
def command():
    with Engine().container(base_image(), "build", Limits()):
        print("made", flush=True)
        time.sleep(60)
"""
PROGRAM = "from pipeline import cli; cli.COMMANDS['hold'] = ('holding', ''); cli.main()"


@pytest.mark.trap("stopped-runs-on")
def test_a_request_to_end_works_outside_a_batch(tmp_path: Path) -> None:
    """An agent's tools are installed before a batch begins: their container kept running after the process was gone."""
    (tmp_path / "holding.py").write_text(COMMAND)
    env = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{Path.cwd()}"}
    with subprocess.Popen([sys.executable, "-c", PROGRAM, "hold"], env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"made\n"
        process.terminate()
        assert process.wait(20) == 130
    assert not made_by(process.pid)
