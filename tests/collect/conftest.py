"""A fake GitHub on loopback, a source that reads from it, and a place to collect into."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from collecting import PATIENCE, TOKEN
from factories import REPO
from github_double import GitHubDouble, World

from pipeline.collect.github.source import GitHubSource
from pipeline.collect.sources import Options
from pipeline.core.names import Repo
from pipeline.core.store import Store


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def github(world: World) -> Iterator[GitHubDouble]:
    with GitHubDouble(world) as double:
        yield double


@pytest.fixture
def source(github: GitHubDouble) -> Callable[..., GitHubSource]:
    """`source(path=None, tokens=(TOKEN,), repo=REPO)`: the source `github`, connected to the double."""

    def opened(path: Path | None = None, tokens: tuple[str, ...] = (TOKEN,), repo: Repo = REPO) -> GitHubSource:
        return GitHubSource(repo, Options(path), github.url, tokens, PATIENCE)

    return opened


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data")
