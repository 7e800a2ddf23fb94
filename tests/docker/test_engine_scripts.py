"""start.sh and stop.sh with real engines: the running one, and one of our own beside it.

Not covered: install.sh on a machine without an engine, which is CI's first step.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from docker_scripts import START, STOP, need, run
from namespaces import until

pytestmark = pytest.mark.engine


def engine_in_use() -> str:
    """The engine that answers, by its id, version and data root."""
    return run("docker", "info", "--format", "{{.ID}} {{.ServerVersion}} {{.DockerRootDir}}").stdout


def test_start_leaves_a_running_engine_alone(tmp_path: Path) -> None:
    before = engine_in_use()
    started = run(START, A11Y_BENCH_DOCKER_RUN=str(tmp_path / "run"), A11Y_BENCH_DOCKER_ROOT=str(tmp_path / "root"))
    assert started.returncode == 0
    assert "left alone" in started.stderr
    assert list(tmp_path.iterdir()) == []
    assert engine_in_use() == before


@pytest.fixture
def own_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment for an engine beside the running one; whatever a test started there is stopped."""
    folder = tmp_path_factory.mktemp("e")  # short: a socket's path has at most 107 characters
    env = {
        "DOCKER_HOST": f"unix://{folder}/sock",
        "A11Y_BENCH_DOCKER_ROOT": f"{folder}/root",
        "A11Y_BENCH_DOCKER_RUN": f"{folder}/run",
    }
    yield env
    run(STOP, **env)


def test_an_engine_of_our_own_starts_once_and_stops(own_engine: dict[str, str]) -> None:
    """In a network namespace of its own, since two engines would compete for the bridge docker0."""
    need("dockerd", root=True)
    other = engine_in_use()
    first, second = (run("unshare", "--net", START, **own_engine) for _ in range(2))
    assert "engine up" in first.stderr
    assert "left alone" in second.stderr
    assert "stopped" in run(STOP, **own_engine).stderr
    assert run("docker", "version", **own_engine).returncode != 0
    assert "nothing to stop" in run(STOP, **own_engine).stderr
    assert engine_in_use() == other


def test_an_engine_on_a_disk_of_its_own_keeps_its_data_and_gives_space_back(own_engine: dict[str, str]) -> None:
    need("dockerd", "mkfs.ext4", root=True)
    root, disk = Path(own_engine["A11Y_BENCH_DOCKER_ROOT"]), own_engine | {"A11Y_BENCH_DOCKER_DISK": "400M"}
    for kept in ([], ["volume"]):
        assert "engine up" in run("unshare", "--net", START, **disk).stderr
        assert run("findmnt", "--noheadings", "--output", "FSTYPE", str(root)).stdout == "ext4\n"
        assert run("docker", "volume", "ls", "--quiet", **own_engine).stdout.split() == kept
        run("docker", "volume", "create", "volume", **own_engine)
        if kept:
            assert_gives_space_back(root, Path(f"{root}.disk"))
        assert "stopped" in run(STOP, **own_engine).stderr
        assert list(root.iterdir()) == [] and not root.is_mount()


def assert_gives_space_back(root: Path, disk: Path, size: int = 50_000_000) -> None:
    """The disk's file grows with a new file on it, and shrinks when that is removed."""
    (root / "large").write_bytes(os.urandom(size))
    os.sync()
    most = disk.stat().st_blocks * 512
    assert most > size
    (root / "large").unlink()
    os.sync()
    until(lambda: disk.stat().st_blocks * 512 < most - size / 2)


def test_a_disk_is_not_mounted_over_existing_data(own_engine: dict[str, str]) -> None:
    need("dockerd", root=True)
    folder = Path(own_engine["A11Y_BENCH_DOCKER_ROOT"])
    folder.mkdir()
    (folder / "mine").touch()
    failed = run(START, **own_engine, A11Y_BENCH_DOCKER_DISK="400M")
    assert failed.returncode == 1 and "is not empty" in failed.stderr
    (folder / "mine").unlink()
    failed = run(START, **own_engine, A11Y_BENCH_DOCKER_DISK="nothing")
    assert failed.returncode == 1 and ".disk of nothing" in failed.stderr
    assert not list(folder.parent.glob("*.disk*"))


def test_start_shows_the_log_when_the_engine_does_not_come_up(own_engine: dict[str, str]) -> None:
    need("dockerd", root=True)
    failed = run("unshare", "--net", START, **own_engine, A11Y_BENCH_DOCKER_ARGS="--nonsense")
    assert failed.returncode == 1
    assert "unknown flag: --nonsense" in failed.stderr
