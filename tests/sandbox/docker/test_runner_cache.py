"""The runner's cache in volumes: shared among an environment's instances, and for a candidate only its own
instance's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from docker.types import Mount
from sandbox.conftest import Bench, prepared

from pipeline.sandbox.base import Cache, Limits
from pipeline.sandbox.docker.engine import Engine
from pipeline.sandbox.docker.names import cache_volume

pytestmark = pytest.mark.engine


@pytest.fixture
def bench(cache: Path, spec, manifests: Path, checkout: Path) -> Iterator[Bench]:
    with prepared("docker", cache, spec, manifests, checkout) as bench:
        bench.sandbox.images.instance(bench.environment, neighbor(bench), checkout)
        yield bench
        bench.sandbox.images.remove(
            next(layer for layer in bench.sandbox.images.kept() if layer.digest == neighbor(bench))
        )


def neighbor(bench: Bench) -> str:
    """Another instance of the environment."""
    return f"{bench.environment}-neighbour"


def run(bench: Bench, instance: str, script: str, cache: Cache, **limits: float) -> list[str]:
    """Run a script in the runner's cache; returns the files in it at the end."""
    with bench.sandbox.open(instance, cache=cache, limits=Limits(**limits)) as workspace:
        done = workspace.run(["sh", "-c", f"cd {workspace.cache}; {script}; find . -type f | sort"])
        return done.output.decode().split()


def test_instances_of_one_environment_share_a_cache(bench: Bench) -> None:
    """Runners transform mostly the same files: without this, the first run of every instance took twice as long."""
    run(bench, neighbor(bench), "mkdir a && echo same > a/entry", "fill")
    assert run(bench, bench.instance, "true", "fill") == ["./a/entry"]


def test_later_runs_of_an_instance_start_with_its_own_entries(bench: Bench) -> None:
    """A copy of the environment's cache grows with the number of instances, and few entries serve this one."""
    run(bench, neighbor(bench), "touch entry other", "fill")
    run(bench, bench.instance, "cat entry > mine", "fill")
    assert run(bench, bench.instance, "true", "fill") == ["./entry", "./mine"]


@pytest.mark.trap("fix-in-the-cache")
def test_a_candidate_gets_only_entries_that_its_own_instance_used(bench: Bench) -> None:
    """The transformed sources of another instance can contain the fix, since its commit may be later."""
    run(bench, neighbor(bench), "mkdir a && echo same > a/entry && echo fixed > a/later", "fill")
    run(bench, bench.instance, "sort a/entry > a/mine", "fill")
    assert run(bench, bench.instance, "true", "use") == ["./a/entry", "./a/mine"]


def test_rewritten_entries_replace_old_ones(bench: Bench) -> None:
    run(bench, neighbor(bench), "echo old > map", "fill")
    run(bench, neighbor(bench), "sleep 0.01; echo new > map", "fill")
    with bench.sandbox.open(bench.instance, cache="fill") as workspace:
        assert workspace.read(f"{workspace.cache}/map") == b"new\n"


def test_a_run_that_exceeds_a_limit_leaves_no_entries(bench: Bench) -> None:
    run(bench, bench.instance, "echo half > entry; sleep 60", "fill", seconds=1)
    assert run(bench, bench.instance, "true", "fill") == []


def test_entries_that_an_earlier_version_kept_are_removed(bench: Bench) -> None:
    """They were single files, which nothing reads any more."""
    run(bench, bench.instance, "true", "fill")
    assert in_volume(bench, "mkdir old && echo text > old/entry && ls") == ["entries.tgz", "old"]
    run(bench, bench.instance, "echo text > new", "fill")
    assert in_volume(bench, "ls") == ["entries.tgz"]
    assert run(bench, bench.instance, "true", "use") == ["./new"]


def in_volume(bench: Bench, script: str) -> list[str]:
    """Run a script in the volume of the instance's cache; returns the words that it prints."""
    mounts = [Mount("/volume", cache_volume(bench.instance), type="volume")]
    return Engine().probe("sh", "-c", f"cd /volume; {script}", mounts=mounts).split()
