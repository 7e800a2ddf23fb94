"""What only LocalSandbox does: folders that are made once, links to modules, and a registry that a double can
replace."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from sandbox.conftest import Bench

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.ecosystems.installation import installation
from pipeline.sandbox import node
from pipeline.sandbox.installation import Package
from pipeline.sandbox.local.sandbox import LocalSandbox


class Unavailable(BaseHTTPRequestHandler):
    """A registry that is out of order."""

    def do_GET(self) -> None:
        self.send_error(503)

    def log_message(self, format: str, *values: object) -> None:
        """Log nothing."""


@pytest.fixture
def broken_registry() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Unavailable)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()


FLAKY = {"npm_config_fetch_retries": "0", "YARN_HTTP_RETRY": "0"}
MANAGERS = [
    ("npm", "", ("npm", "install")),
    ("yarn", "4.3.1", ("yarn", "install", "--no-immutable")),
    ("pnpm", "9.15.9", ("pnpm", "install", "--no-frozen-lockfile")),
]


@pytest.mark.invariant(4)
@pytest.mark.trap("infrastructure-is-not-failure")
@pytest.mark.parametrize(("manager", "release", "install"), MANAGERS, ids=[f"{row[0]} {row[1]}" for row in MANAGERS])
def test_broken_registry_is_not_the_repositorys_fault(
    manager, release, install, broken_registry: str, local: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other systems score a registry's 503 as a failed build of the repository, or as a model's failure."""
    changes = {"manager": manager, "manager_version": release, "install": install}
    variables = {**FLAKY, "YARN_UNSAFE_HTTP_WHITELIST": "127.0.0.1", "YARN_NPM_REGISTRY_SERVER": broken_registry}
    spec = local.spec.model_copy(update=changes | {"install_env": variables})
    tools = installation(spec).tools(node.version(), node.architecture())
    node.prefix(local.sandbox.cache, *(node.exact(local.sandbox.cache, package) for package in tools))
    monkeypatch.setenv("npm_config_registry", broken_registry)
    with pytest.raises(InfrastructureError) as caught:
        local.sandbox.images.environment(installation(spec), uuid.uuid4().hex, local.manifests, print)
    assert caught.value.cause == "registry"


@pytest.mark.invariant(4)
def test_registry_that_is_away_is_not_the_repositorys_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    with pytest.raises(InfrastructureError) as caught:
        node.exact(tmp_path, Package("yarn", "1"))
    assert caught.value.cause == "registry"


def test_layers_are_made_once_by_many(local: Bench) -> None:
    digest, messages = uuid.uuid4().hex, []
    more = (installation(local.spec), digest, local.manifests, messages.append)
    with ThreadPoolExecutor(4) as pool:
        made = [pool.submit(local.sandbox.images.environment, *more) for _ in "1234"]
        assert [future.result().deviations for future in made] == [()] * 4
    assert len([line for line in messages if line.startswith("installing") and "done" in line]) == 1


def test_another_node_is_a_deviation(local: Bench) -> None:
    digest, spec = uuid.uuid4().hex, local.spec.model_copy(update={"node": "14.21.3", "install": ("true",)})
    for _ in range(2):
        made = local.sandbox.images.environment(installation(spec), digest, local.manifests, print)
        assert made.deviations == (f"Node {node.version()} of this machine in place of 14.21.3",)
        assert made.node == node.version()


def test_packages_of_the_repository_lead_into_the_workspace(local: Bench, tmp_path: Path) -> None:
    """In a repository with several packages, node_modules links to them: their sources are those of the workspace."""
    manifests, checkout = tmp_path / "manifests", tmp_path / "checkout"
    for folder in (manifests, checkout):
        (folder / "packages" / "menu").mkdir(parents=True)
        (folder / "package.json").write_text(json.dumps({"name": "all", "workspaces": ["packages/*"]}))
        own = {"name": "@all/menu", "version": "1.0.0", "dependencies": {"is-number": "7.0.0"}}
        (folder / "packages" / "menu" / "package.json").write_text(json.dumps(own))
    (checkout / "packages" / "menu" / "index.js").write_text("module.exports = __filename")
    bench = Bench(local.sandbox, local.spec, manifests, checkout)
    bench.make()
    with bench.sandbox.open(bench.instance) as workspace:
        where = workspace.run(["node", "-p", "require('@all/menu')"]).output.decode().strip()
        assert where == f"{workspace.root}/packages/menu/index.js"


def test_interrupted_folder_is_made_anew(local: Bench) -> None:
    bench = Bench(local.sandbox, local.spec, local.manifests, local.checkout)
    left = local.sandbox.cache / "instances" / bench.instance / "repo"
    left.mkdir(parents=True)
    (left / "half").touch()
    bench.make()
    with bench.sandbox.open(bench.instance) as workspace:
        assert workspace.read(f"{workspace.root}/half") is None
        assert workspace.read(f"{workspace.root}/package.json")


def test_workspace_of_a_dead_process_is_emptied(local: Bench) -> None:
    left = local.sandbox.cache / "workspaces" / "0" / "repo" / "left"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.touch()
    with local.sandbox.open(local.instance) as workspace:
        assert workspace.read(f"{workspace.root}/left") is None


def test_machine_without_node_is_told_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match="node, npm, git"):
        LocalSandbox(tmp_path).check()
