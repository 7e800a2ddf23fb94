"""Real managers against a registry on loopback: a package is gone that a documentation site needs, and a component does
not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from factories import make_environment
from registry_double import Registry

from pipeline.core.records import Environment
from pipeline.ecosystems.installation import installation, manifests
from pipeline.sandbox import node
from pipeline.sandbox.base import InstallFailed
from pipeline.sandbox.local.sandbox import LocalSandbox

NPM_LOCK = {
    "name": "root",
    "lockfileVersion": 3,
    "requires": True,
    "packages": {
        "": {"name": "root", "workspaces": ["packages/*", "site"]},
        "packages/ui": {"version": "1.0.0", "dependencies": {"kept": "1.0.0"}},
        "site": {"version": "1.0.0", "dependencies": {"gone": "2.0.0"}},
        "node_modules/ui": {"resolved": "packages/ui", "link": True},
        "node_modules/site": {"resolved": "site", "link": True},
        "node_modules/kept": {"version": "1.0.0", "resolved": "{registry}kept.tgz"},
        "node_modules/gone": {"version": "2.0.0", "resolved": "{registry}gone.tgz"},
    },
}
YARN_LOCK = '# yarn lockfile v1\n\n\ngone@2.0.0:\n  version "2.0.0"\n  resolved "{registry}gone.tgz"\n\nkept@1.0.0:\n  version "1.0.0"\n  resolved "{registry}kept.tgz"\n'  # noqa: E501
MANAGERS = [
    ("npm", "10.9.2", ("npm", "ci", "--ignore-scripts"), {"package-lock.json": json.dumps(NPM_LOCK)}),
    ("npm", "8.19.4", ("npm", "ci", "--ignore-scripts"), {"package-lock.json": json.dumps(NPM_LOCK)}),
    ("yarn", "1.22.22", ("yarn", "install", "--frozen-lockfile", "--non-interactive"), {"yarn.lock": YARN_LOCK}),
]


def files(lock: dict[str, str], registry: str) -> dict[str, bytes]:
    """A component whose dependency exists, and a site whose dependency is gone."""
    package = {"version": "1.0.0"}
    texts = {
        "package.json": json.dumps({"name": "root", "private": True, "workspaces": ["packages/*", "site"]}),
        "packages/ui/package.json": json.dumps(package | {"name": "ui", "dependencies": {"kept": "1.0.0"}}),
        "site/package.json": json.dumps(package | {"name": "site", "dependencies": {"gone": "2.0.0"}}),
    } | lock
    return {path: text.replace("{registry}", registry).encode() for path, text in texts.items()}


def install(folder: Path, environment: Environment, tree: dict[str, bytes]) -> Path:
    """Install into a layer below a folder. Raises InstallFailed."""
    name = f"layer{len(environment.focus)}"
    for path, content in manifests(environment, tree, node.registry).items():
        target = folder / "manifests" / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    sandbox = LocalSandbox(folder / "cache")
    sandbox.images.environment(installation(environment), name, folder / "manifests" / name, lambda text: None)
    return folder / "cache" / "environments" / name / "tree"


@pytest.mark.engine
@pytest.mark.trap("gone-below-a-tool")
@pytest.mark.parametrize(("manager", "version", "words", "lock"), MANAGERS, ids=lambda one: str(one)[:12])
def test_a_documentation_site_does_not_affect_a_component(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    manager: str,
    version: str,
    words: tuple[str, ...],
    lock: dict[str, str],
) -> None:
    """The whole install ends in a 404; an install for the component alone does not request the package."""
    whole = make_environment(manager=manager, manager_version=version, install=words, node=node.version())
    tools = installation(whole).tools(node.version(), node.architecture())
    node.prefix(tmp_path / "cache", *(node.exact(tmp_path / "cache", tool) for tool in tools))
    with Registry(host="127.0.0.1", packages={"kept": "1.0.0"}) as registry:
        monkeypatch.setenv("npm_config_registry", registry.address)
        monkeypatch.setenv("npm_config_fetch_retries", "0")
        there = files(lock, registry.address)
        tree = install(tmp_path, whole.model_copy(update={"focus": ("packages/ui",)}), there)
        assert (tree / "node_modules/kept/package.json").exists()
        assert not any("gone" in path for path in registry.asked)
        with pytest.raises(InstallFailed):
            install(tmp_path, whole, there)
