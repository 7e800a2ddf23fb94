"""A checkout with one commit, a specification that installs one tiny package, and each sandbox with both layers made.

Docker images and volumes get digests of their own in each session, and are removed after it.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from factories import make_environment
from histories import History

from pipeline.core.git import checkout as check_out
from pipeline.core.git import open_clone
from pipeline.core.records import Environment
from pipeline.ecosystems.installation import installation
from pipeline.sandbox import open_sandbox
from pipeline.sandbox.docker.sandbox import DockerSandbox
from pipeline.sandbox.images import Installed
from pipeline.sandbox.local.sandbox import LocalSandbox

PACKAGE = {"name": "tiny", "version": "1.0.0", "private": True, "dependencies": {"is-number": "7.0.0"}}


@dataclass
class Bench:
    """A sandbox with an environment and an instance, and the inputs and messages of making them."""

    sandbox: DockerSandbox | LocalSandbox
    spec: Environment
    manifests: Path
    checkout: Path
    environment: str = field(default_factory=lambda: uuid.uuid4().hex)
    instance: str = field(default_factory=lambda: uuid.uuid4().hex)
    said: list[str] = field(default_factory=list)

    def make(self) -> Installed:
        """Make both layers; returns what the first one was made with."""
        installed = self.sandbox.images.environment(
            installation(self.spec), self.environment, self.manifests, self.said.append
        )
        self.sandbox.images.instance(self.environment, self.instance, self.checkout)
        return installed


@pytest.fixture(scope="session")
def spec() -> Environment:
    return make_environment(node="20", manager_version="", install=("npm", "install", "--no-audit", "--no-fund"))


@pytest.fixture(scope="session")
def manifests(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _package(tmp_path_factory.mktemp("manifests"))


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in the form that images get."""
    folder = tmp_path_factory.mktemp("sources")
    history = History(folder / "clone")
    head = history.commit("base", {"package.json": json.dumps(PACKAGE), ".gitignore": "node_modules\n"})
    check_out(open_clone(history.folder), head, folder / "checkout")
    return folder / "checkout"


def _package(folder: Path) -> Path:
    (folder / "package.json").write_text(json.dumps(PACKAGE))
    return folder


@contextmanager
def prepared(name: str, cache: Path, spec: Environment, manifests: Path, checkout: Path) -> Iterator[Bench]:
    bench = Bench(open_sandbox(name, cache), spec, manifests, checkout)
    bench.make()
    try:
        yield bench
    finally:
        if name == "docker":
            bench.sandbox.images.kept()  # waits for the removal of containers, which hold volumes
            _remove(bench.environment, bench.instance)


def _remove(environment: str, instance: str) -> None:
    import docker

    client = docker.from_env()
    for tag in [tag for image in client.images.list("a11y-bench/instance") for tag in image.tags]:
        if tag.startswith(f"a11y-bench/instance:{instance}"):  # tests name further instances after the first one
            client.images.remove(tag, force=True)
    client.images.remove(f"a11y-bench/env:{environment}", force=True)
    for volume in client.volumes.list(filters={"name": f"a11y-bench-cache-{environment}"}):
        volume.remove()


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def local(cache: Path, spec: Environment, manifests: Path, checkout: Path) -> Iterator[Bench]:
    with prepared("local", cache, spec, manifests, checkout) as bench:
        yield bench


@pytest.fixture(scope="session")
def docker_bench(cache: Path, spec: Environment, manifests: Path, checkout: Path) -> Iterator[Bench]:
    with prepared("docker", cache, spec, manifests, checkout) as bench:
        yield bench
