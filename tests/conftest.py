"""Shared by all tests: a library that is built once, and what happens if a machine has no engine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lacking import lack

from pipeline.core.errors import InfrastructureError
from pipeline.core.vendors import vendor_python
from pipeline.doctor import CHECKS, Check
from pipeline.llm.models import PROXY_URL

TESTS = Path(__file__).parent
#: a file system in memory, and the bytes that must be free in it
MEMORY, ENOUGH = Path("/dev/shm"), 8 << 30


def _root() -> str | None:
    return None if os.geteuid() else "root"


#: the parts that `doctor` checks, and those that only tests need
PARTS = (*CHECKS, Check("root", "mounts, namespaces and services of tests", False, _root, "run the tests as root"))


@cache
def missing(part: str) -> str:
    """How to get a part that this machine lacks; empty if it has it. The embedded gateway is made first."""
    if part == "LLM gateway" and not os.environ.get(PROXY_URL):
        with suppress(InfrastructureError):
            vendor_python("litellm", print)
    check = next(check for check in PARTS if check.name == part)
    return "" if check.find() else f"this machine has no {part}: {check.remedy}"


def pytest_configure() -> None:
    """Keep temporary files in memory if there is room: tests write and remove many thousands of small ones."""
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ENOUGH:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--parts", help="of the tests marked `engine`, run those that need only these parts: browser,git")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select by --parts. The longest file goes first: started last, it would run alone on one processor. (xdist keeps
    the order only with --no-loadscope-reorder.)"""
    if (parts := config.getoption("--parts")) is not None:
        known = set(parts.split(","))
        config.hook.pytest_deselected(items=[item for item in items if not _needs_only(item, known)])
        items[:] = [item for item in items if _needs_only(item, known)]
    items.sort(key=lambda item: item.path.name != "test_pipeline.py")


def _needs_only(item: pytest.Item, parts: set[str]) -> bool:
    marker = item.get_closest_marker("engine")
    return marker is None or bool(marker.args) and parts.issuperset(marker.args)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Without an engine, or a part that the marker names, skip the test with a message, or fail it in CI.

    The tests of docker/ make the base image themselves.
    """
    marker = item.get_closest_marker("engine")
    if marker is None:
        return
    parts = ["container engine"] if item.path.is_relative_to(TESTS / "docker") else ["container engine", "base image"]
    lacking = next(filter(None, map(missing, marker.args or parts)), "")
    if lacking:
        lack(lacking)


@pytest.fixture(autouse=True)
def _quiet(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages need nothing of the machine, which other tests keep busy, except in the tests of that rule."""
    if not any(mark.args == ("busy-machine",) for mark in request.node.iter_markers("rule")):
        monkeypatch.setattr("pipeline.pages.others.NEEDED", -1000.0)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A real browser for the tests of one file."""
    from chromium import launched

    with launched() as program:
        yield program


@pytest.fixture(scope="session", autouse=True)
def _own_configuration(tmp_path_factory: pytest.TempPathFactory):
    """Tests do not write the machine's own records (the places of clones)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
        yield


@pytest.fixture(scope="session")
def own_engine():
    """A second engine that can be stopped, filled and cut off. Tests with it are skipped if it cannot be made, but
    never in CI."""
    if os.geteuid() or not shutil.which("dockerd"):
        lack("needs root and dockerd")
    from own_engine import OwnEngine

    with OwnEngine() as engine:
        yield engine


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory):
    """The tiny library, collected and built: for reading or copying."""
    from tiny_library import Bench, make_library

    folder = tmp_path_factory.mktemp("tiny")
    bench = Bench(folder, make_library(folder).folder, folder / "cache")
    bench.collect()
    bench.build()
    return bench


@pytest.fixture(scope="session")
def harbor(tmp_path_factory: pytest.TempPathFactory):
    """One pull request of the demo in the container engine: for reading, or for prediction and evaluation."""
    from demo_bench import make

    return make(tmp_path_factory.mktemp("harbor"))
