"""What `doctor` reports about an engine: each property, and whether it is sufficient. The engine is a double."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.sandbox.docker import facts, names
from pipeline.sandbox.docker.engine import OPEN_FILES
from pipeline.sandbox.docker.facts import ROOM, Fact

INFO = {
    "ServerVersion": "20.10.24",
    "NCPU": 2,
    "MemTotal": 8 * 2**30,
    "Driver": "overlay2",
    "DockerRootDir": "/var/lib/docker",
}


def engine(**properties: Any) -> Any:
    return SimpleNamespace(info=INFO | properties.pop("info", {}), **properties)


def test_the_version_is_shown_with_the_size_of_the_machine() -> None:
    assert facts.version(engine()) == Fact("engine 20.10.24: 2 CPUs, 8 GB of memory")


@pytest.mark.parametrize(("driver", "enough"), [("overlay2", True), ("btrfs", True), ("vfs", False)])
def test_a_driver_that_copies_every_layer_is_not_enough(driver: str, enough: bool) -> None:
    assert facts.storage(engine(info={"Driver": driver})) == Fact(driver, enough)


@pytest.mark.parametrize(("free", "enough"), [(ROOM, True), (ROOM - 1, False), (0, False), (100 * 2**30, True)])
def test_a_disk_needs_room_for_a_few_environments(free: int, enough: bool) -> None:
    found = facts.disk(engine(machine=lambda: SimpleNamespace(free=free)))
    assert found.enough is enough and found.text.endswith("free in /var/lib/docker")


@pytest.mark.parametrize(("limit", "enough"), [(OPEN_FILES, True), (2 * OPEN_FILES, True), (1024, False)])
def test_browsers_need_many_open_files(limit: int, enough: bool) -> None:
    assert facts.open_files(engine(open_files=limit)) == Fact(f"{limit} for a process", enough)


@pytest.mark.parametrize("builder", ["BuildKit", "the classic builder"])
def test_any_builder_will_do(builder: str) -> None:
    found = facts.builder(engine(builder=builder))
    assert found.enough and found.text.startswith(f"{builder}; not used")


def test_the_base_image_with_its_size() -> None:
    sizes = {names.base_image(): 231_400_000}
    assert facts.base(engine(size=sizes.get)) == Fact(f"{names.base_image()} (231 MB)")
    assert facts.base(engine(size=lambda _: 0)) is None


# -- names -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("function", "variable"),
    [(names.base_image, "A11Y_BENCH_BASE_IMAGE"), (names.browser_image, "A11Y_BENCH_BROWSER_IMAGE")],
)
def test_an_image_can_be_named_by_a_variable(function: Any, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(variable, raising=False)
    shipped = function()
    monkeypatch.setenv(variable, "")
    assert function() == shipped and shipped.startswith(names.IMAGES)
    monkeypatch.setenv(variable, "registry.example/base:1")
    assert function() == "registry.example/base:1"


def test_images_and_volumes_of_different_kinds_never_share_a_name() -> None:
    made = [function("d" * 32) for function in (names.environment_image, names.instance_image, names.cache_volume)]
    assert len(set(made)) == 3 and all(name.startswith(names.IMAGES) for name in made[:2])
    assert names.instance_image("a") != names.instance_image("b")


@pytest.mark.parametrize("folder", [names.REPO, names.SCRATCH, names.RUNNER_CACHE, names.TOOLS])
def test_folders_of_a_container_are_apart(folder: str) -> None:
    others = {names.REPO, names.SCRATCH, names.RUNNER_CACHE, names.TOOLS} - {folder}
    assert folder.startswith("/") and not any(other.startswith(f"{folder}/") for other in others)
