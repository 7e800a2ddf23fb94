"""One generated world for all tests that only read it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from github_double import GitHubDouble, World


@pytest.fixture(scope="session")
def world() -> World:
    made = World()
    made.generate("acme/ui", pulls=400, seed=7, topics=["react"])
    return made


@pytest.fixture
def github(world: World) -> Iterator[GitHubDouble]:
    with GitHubDouble(world) as double:
        yield double
