"""What every test can use: a library that is built once, and what happens where a machine lacks an engine."""

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
#: a file system in memory, and the bytes that it must have left
MEMORY, ENOUGH = Path("/dev/shm"), 8 << 30


def _root() -> str | None:
    return None if os.geteuid() else "root"


#: the parts of `doctor`, and what only tests need
PARTS = (*CHECKS, Check("root", "mounts, namespaces and services of tests", False, _root, "run the tests as root"))


@cache
def missing(part: str) -> str:
    """What to do about a part that this machine lacks; empty if it has it. The embedded gateway is made first."""
    if part == "LLM gateway" and not os.environ.get(PROXY_URL):
        with suppress(InfrastructureError):
            vendor_python("litellm", print)
    check = next(check for check in PARTS if check.name == part)
    return "" if check.find() else f"this machine has no {part}: {check.remedy}"


def pytest_configure() -> None:
    """Keep temporary files in memory where there is room: tests write and remove many thousands of small ones."""
    if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ENOUGH:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(MEMORY))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--parts", help="of the tests marked `engine`, run those that need only these parts: browser,git")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Select by --parts. The longest file goes first: begun last, it would run alone on one processor."""
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
    """Skip loudly what needs an engine, or the parts that the marker names, and fail in CI.

    The tests of docker/ make the base image themselves.
    """
    marker = item.get_closest_marker("engine")
    if marker is None:
        return
    parts = ["container engine"] if item.path.is_relative_to(TESTS / "docker") else ["container engine", "base image"]
    lacking = next(filter(None, map(missing, marker.args or parts)), "")
    if lacking:
        lack(lacking)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A real browser, for the tests of one file."""
    from chromium import launched

    with launched() as program:
        yield program


@pytest.fixture(scope="session", autouse=True)
def _own_configuration(tmp_path_factory: pytest.TempPathFactory):
    """What is noted of this machine (where clones lie) is not noted by tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("configuration")))
        yield


@pytest.fixture(scope="session")
def own_engine():
    """A second engine, to be stopped, filled and cut off; skipped loudly, and never in CI, where it cannot be made."""
    if os.geteuid() or not shutil.which("dockerd"):
        lack("needs root and dockerd")
    from own_engine import OwnEngine

    with OwnEngine() as engine:
        yield engine


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory):
    """The tiny library, collected and built: to be read, or copied."""
    from tiny_library import Bench, make_library

    folder = tmp_path_factory.mktemp("tiny")
    bench = Bench(folder, make_library(folder).folder, folder / "cache")
    bench.collect()
    bench.build()
    return bench


@pytest.fixture(scope="session")
def harbor(tmp_path_factory: pytest.TempPathFactory):
    """One pull request of the demo in the container engine: to be read, or predicted and evaluated."""
    from demo_bench import make

    return make(tmp_path_factory.mktemp("harbor"))
