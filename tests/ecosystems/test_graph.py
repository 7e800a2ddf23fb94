"""Which package depends on which: real lock files of every manager, and entries that are no plain versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.ecosystems import locks
from pipeline.ecosystems.graph import Ask, Graph

LOCKS = sorted(path for path in Path(__file__).parent.glob("managers/*/*/*") if locks.is_lock(path.name))
PROJECT = json.loads((Path(__file__).parent / "managers/project/package.json").read_text())
ROOT = {"dependencies": {"a": "^1.0.0"}, "devDependencies": {"tool": "^2.0.0"}}


def graph(path: str, text: str, *manifests: dict, **inside: dict) -> Graph:
    return locks.graph(path, text, {"": manifests[0] if manifests else ROOT} | inside)


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: f"{path.parent.parent.name}-{path.parent.name}")
def test_the_dependency_graph_is_read_from_every_lock_file(path: Path) -> None:
    """The same project in every format: one package depends on another version of one of the root's dependencies."""
    made = graph(path.name, path.read_text(), PROJECT)
    assert made.chains("is-number", "6.0.0") == {Ask("", "devDependencies", "is-odd"): ("is-odd", "is-number")}
    assert made.chains("is-number", "7.0.0") == {Ask("", "dependencies", "is-number"): ("is-number",)}
    fetched = {(package.name, package.version) for package in made.reached(made.requested)}
    assert fetched == {("is-number", "6.0.0"), ("is-number", "7.0.0"), ("is-odd", "3.0.1"), ("@types/estree", "1.0.5")}


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: f"{path.parent.parent.name}-{path.parent.name}")
def test_packages_that_no_manifest_requires_are_not_fetched(path: Path) -> None:
    made = graph(path.name, path.read_text(), {"dependencies": {"is-number": "^7.0.0"}})
    assert [(package.name, package.version) for package in made.reached(made.requested)] == [("is-number", "7.0.0")]


@pytest.mark.parametrize("path", ["yarn.lock", "package-lock.json", "pnpm-lock.yaml", "bun.lock", "README.md"])
@pytest.mark.parametrize("text", ["", "[]", "{", "a: [", "packages: 3"])
def test_an_unreadable_lock_file_gives_an_empty_graph(path: str, text: str) -> None:
    made = graph(path, text)
    assert (list(made.packages), made.chains("a"), made.reached(made.requested)) == ([], {}, [])


YARN = """\
# yarn lockfile v1


a@^1.0.0:
  version "1.2.0"
  resolved "https://registry.yarnpkg.com/a/-/a-1.2.0.tgz#aa"
  dependencies:
    "@x/b" "^1.0.0"
    other "npm:real@^3.0.0"
  optionalDependencies:
    maybe "^1.0.0"

"@x/b@^1.0.0":
  version "1.0.0"
  resolved "https://github.com/x/b/tarball/stable#cc"

maybe@^1.0.0:
  version "1.0.0"
  resolved "https://registry.yarnpkg.com/maybe/-/maybe-1.0.0.tgz#aa"

"other@npm:real@^3.0.0":
  version "3.1.0"
  resolved "https://registry.yarnpkg.com/real/-/real-3.1.0.tgz#aa"
"""
BERRY = """\
__metadata:
  version: 8

"a@npm:^1.0.0":
  version: 1.2.0
  resolution: "a@npm:1.2.0"
  dependencies:
    "@x/b": "github:x/b"
    maybe: "npm:^1.0.0"
    other: "npm:real@^3.0.0"
  dependenciesMeta:
    maybe:
      optional: true
  checksum: 10c0/aa
  languageName: node
  linkType: hard

"@x/b@github:x/b":
  version: 1.0.0
  resolution: "@x/b@https://github.com/x/b.git#commit=cc"
  languageName: node
  linkType: hard

"maybe@npm:^1.0.0":
  version: 1.0.0
  resolution: "maybe@npm:1.0.0"
  languageName: node
  linkType: hard

"other@npm:real@^3.0.0":
  version: 3.1.0
  resolution: "real@npm:3.1.0"
  languageName: node
  linkType: hard
"""
NPM = json.dumps({
    "packages": {
        "": {"dependencies": {"a": "^1.0.0"}},
        "node_modules/a": {
            "version": "1.2.0",
            "dependencies": {"@x/b": "github:x/b", "other": "npm:real@^3.0.0"},
            "optionalDependencies": {"maybe": "^1.0.0"},
            "peerDependencies": {"peer": "*"},
            "peerDependenciesMeta": {"peer": {"optional": True}},
        },
        "node_modules/@x/b": {"version": "1.0.0", "resolved": "git+ssh://git@github.com/x/b.git#cc"},
        "node_modules/maybe": {"version": "1.0.0"},
        "node_modules/peer": {"version": "1.0.0"},
        "node_modules/a/node_modules/other": {"name": "real", "version": "3.1.0"},
    }
})  # fmt: skip


@pytest.mark.parametrize(("path", "text"), [("yarn.lock", YARN), ("yarn.lock", BERRY), ("package-lock.json", NPM)])
def test_only_packages_of_the_registry_are_looked_up(path: str, text: str) -> None:
    """Otherwise an alias, or an archive from elsewhere, would be taken for a package that is gone."""
    made = graph(path, text)
    assert {(package.name, package.version) for package in made.reached(made.requested)} == {
        ("a", "1.2.0"),
        ("@x/b", ""),
        ("real", "3.1.0"),
    }
    assert made.chains("maybe") == {}


WORKSPACE = json.dumps({
    "packages": {
        "": {"workspaces": ["packages/*"]},
        "packages/ui": {"name": "ui", "dependencies": {"a": "^1.0.0"}},
        "packages/site": {"name": "site", "dependencies": {"ui": "*", "press": "^1.0.0"}},
        "node_modules/ui": {"resolved": "packages/ui", "link": True},
        "node_modules/site": {"resolved": "packages/site", "link": True},
        "node_modules/a": {"version": "1.0.0"},
        "packages/site/node_modules/press": {"version": "1.0.0", "dependencies": {"a": "^2.0.0"}},
        "packages/site/node_modules/a": {"version": "2.0.0"},
    }
})  # fmt: skip


def test_each_workspace_package_gets_its_own_version() -> None:
    site = {"dependencies": {"ui": "*", "press": "^1.0.0"}}
    inside = {"packages/ui": {"dependencies": {"a": "^1.0.0"}}, "packages/site": site}
    made = locks.graph("package-lock.json", WORKSPACE, {"": {}, **inside})
    assert made.chains("a", "2.0.0") == {Ask("packages/site", "dependencies", "press"): ("press", "a")}
    assert made.chains("a", "1.0.0") == {Ask("packages/ui", "dependencies", "a"): ("a",)}


PNPM = """\
lockfileVersion: '9.0'
importers:
  .:
    devDependencies:
      tool:
        specifier: ^2.0.0
        version: 2.0.0(peer@1.0.0)
  packages/ui:
    dependencies:
      other:
        specifier: npm:real@^3
        version: real@3.1.0
packages:
  tool@2.0.0:
    resolution: {integrity: x}
snapshots:
  tool@2.0.0(peer@1.0.0):
    dependencies:
      peer: 1.0.0
    optionalDependencies:
      maybe: 1.0.0
  peer@1.0.0: {}
  maybe@1.0.0: {}
  real@3.1.0: {}
"""


def test_peer_suffixes_of_pnpm_entries_are_understood() -> None:
    made = graph(
        "pnpm-lock.yaml",
        PNPM,
        {"devDependencies": {"tool": "^2.0.0"}},
        **{"packages/ui": {"dependencies": {"other": "npm:real@^3"}}},
    )
    fetched = {(package.name, package.version) for package in made.reached(made.requested)}
    assert fetched == {("tool", "2.0.0"), ("peer", "1.0.0"), ("real", "3.1.0")}


def test_peer_suffixes_of_old_lock_files_are_no_version() -> None:
    assert [
        tuple(package[:2]) for package in locks.locked("pnpm-lock.yaml", "packages:\n\n  /a/1.0.0_react@18.0.0:\n")
    ] == [("a", "1.0.0")]
