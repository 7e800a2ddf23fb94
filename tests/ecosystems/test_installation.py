"""From an environment to what a sandbox installs: which npm package provides which tool, with which variables."""

from __future__ import annotations

import json

import pytest
from factories import make_environment

from pipeline.core.errors import UserError
from pipeline.core.records import Nested
from pipeline.ecosystems.installation import installation, manifests, thawed, tools, variables


@pytest.mark.parametrize(
    ("name", "release", "packages"),
    [
        ("npm", "", ["npm@10"]),
        ("npm", "9.8.1", ["npm@9.8.1"]),
        ("yarn", "1.22.22", ["npm@10", "yarn@1.22.22"]),
        ("yarn", "4.3.1", ["npm@10", "@yarnpkg/cli-dist@4.3.1"]),
        ("pnpm", "9", ["npm@10", "pnpm@9"]),
    ],
)
def test_the_package_of_each_manager_is_known(name: str, release: str, packages: list[str]) -> None:
    """Yarn 2 and later are another package than yarn 1; npm is always there, for scripts of single packages."""
    spec = make_environment(manager=name, manager_version=release)
    assert [str(tool) for tool in tools(spec, "20.19.5", "x64")] == packages
    assert installation(spec).tools("20.19.5", "arm64") == tools(spec, "20.19.5", "arm64")


@pytest.mark.parametrize(
    ("node", "npm"), [("14.21.3", "6"), ("16.20.2", "8"), ("18", "9"), ("22.1", "10"), ("25.0.0", "11")]
)
def test_each_node_gets_an_npm_that_it_supports(node: str, npm: str) -> None:
    assert [str(tool) for tool in tools(make_environment(manager="npm", manager_version=""), node, "x64")] == [
        f"npm@{npm}"
    ]


def test_nested_folders_are_installed_by_their_own_managers() -> None:
    """The root's manager comes last, since it is the recorded one."""
    folders = {"app": ("yarn", "1.22.22", ("yarn", "install")), "docs": ("npm", "9", ("npm", "ci"))}
    nested = tuple(
        Nested(folder=folder, manager=name, manager_version=version, install=words)
        for folder, (name, version, words) in folders.items()
    )
    spec = make_environment(manager="npm", manager_version="10", install=("npm", "ci"), nested=nested)
    assert [str(tool) for tool in tools(spec, "20.19.5", "x64")] == ["yarn@1.22.22", "npm@10"]
    assert [command[3:] or command for command in installation(spec).commands] == [
        ("npm", "ci"),
        ("app", "yarn", "install"),
        ("docs", "npm", "ci"),
    ]
    assert {"npm_config_cache", "YARN_CACHE_FOLDER"} <= variables(spec).keys()


def test_a_root_without_a_manifest_is_not_installed() -> None:
    nested = Nested(folder="app", manager="npm", manager_version="10", install=("npm", "ci"))
    spec = make_environment(manager="npm", manager_version="10", install=(), nested=(nested,))
    assert [command[3:] for command in installation(spec).commands] == [("app", "npm", "ci")]


def test_nested_installs_may_change_their_lock_files_with_the_root() -> None:
    app = Nested(folder="app", manager="yarn", manager_version="4.3.1", install=("yarn", "install", "--immutable"))
    spec = thawed(make_environment(manager="npm", install=("npm", "ci"), nested=(app,)), "2024-05-06")
    assert spec.install == ("npm", "install", "--before=2024-05-08")
    assert spec.nested[0].install == ("yarn", "install", "--no-immutable")


def test_an_unknown_manager_is_refused() -> None:
    """A record may have any name; the error lists the known ones."""
    with pytest.raises(UserError, match=r"unknown manager 'cnpm'\n  available: .*npm, pnpm, yarn"):
        installation(make_environment(manager="cnpm"))


def test_an_install_gets_its_managers_variables() -> None:
    """Every release of yarn refuses variables that it does not know, so only those that its major version's first
    release knows are set."""
    old, new = (
        variables(make_environment(manager="yarn", manager_version=version, install_env={"A": "b"}))
        for version in ("1.22.22", "4.3.1")
    )
    assert old["YARN_REGISTRY"] == new["YARN_NPM_REGISTRY_SERVER"] == "{registry}"
    assert "YARN_NPM_REGISTRY_SERVER" not in old and "YARN_REGISTRY" not in new
    assert {"npm_config_cache", "YARN_CACHE_FOLDER", "A"} <= old.keys() & new.keys()
    assert "npm_config_store_dir" not in old


FOCUS = ("packages/a", "packages/b")
NAMES = ("@x/a", "root")
ALL_BUT = "--include-workspace-root --workspace=packages/a --workspace=packages/b"


@pytest.mark.parametrize(
    ("manager", "version", "install", "focus", "words"),
    [
        ("npm", "10", ("npm", "ci"), FOCUS, f"npm ci {ALL_BUT}"),
        ("pnpm", "9.15.9", ("pnpm", "i"), FOCUS, "pnpm i --filter=. --filter=./packages/a --filter=./packages/b"),
        ("yarn", "4.5.3", ("yarn", "install", "--immutable"), NAMES, "yarn workspaces focus @x/a root"),
        ("yarn", "4.5.3", ("node", "y.cjs", "install", "--x"), NAMES, "node y.cjs workspaces focus @x/a root"),
        ("yarn", "1.22.22", ("yarn", "install"), FOCUS, "yarn install"),
        ("npm", "6", ("npm", "ci"), FOCUS, "npm ci"),
        ("npm", "10", ("npm", "ci"), (), "npm ci"),
    ],
)
def test_an_install_is_limited_to_the_packages_in_focus(
    manager: str, version: str, install: tuple[str, ...], focus: tuple[str, ...], words: str
) -> None:
    spec = make_environment(manager=manager, manager_version=version, install=install, focus=focus)
    assert installation(spec).commands[0] == tuple(words.split())


@pytest.mark.parametrize(
    ("version", "install", "focus", "runs"),
    [
        ("4.5.3", ("yarn", "install", "--immutable", "--mode=skip-build"), NAMES, False),
        ("4.5.3", ("yarn", "install", "--immutable"), NAMES, True),
        ("4.5.3", ("yarn", "install", "--immutable", "--mode=skip-build"), (), True),
        ("1.22.22", ("yarn", "install"), FOCUS, True),
    ],
)
def test_packages_in_focus_run_no_scripts_if_the_install_runs_none(
    version: str, install: tuple[str, ...], focus: tuple[str, ...], runs: bool
) -> None:
    """`yarn workspaces focus` has no such option, so that the repair of a failed script changed nothing."""
    text = json.dumps({"name": "root", "scripts": {"postinstall": "node icons.js", "test": "jest"}}).encode()
    files = {"package.json": text, "packages/a/package.json": text, "packages/b/package.json": b"{}"}
    spec = make_environment(manager="yarn", manager_version=version, install=install, focus=focus)
    found = manifests(spec, files, str)
    for path in ("package.json", "packages/a/package.json"):
        assert ("postinstall" in json.loads(found[path])["scripts"]) is runs
        assert json.loads(found[path])["scripts"]["test"] == "jest"
    assert found["packages/b/package.json"] == b"{}"


@pytest.mark.parametrize(("manager", "runs"), [("npm", False), ("pnpm", True), ("yarn", True)])
def test_npm_runs_no_prepare_script_of_a_linked_package(manager: str, runs: bool) -> None:
    """npm 7 and later do so in spite of `--ignore-scripts`; a webpack build failed, since there are no sources."""
    text = json.dumps({"scripts": {"prepare": "webpack", "test": "jest"}}).encode()
    files = {"package.json": text, "libs/date/package.json": text, "libs/date/package-lock.json": b"{}"}
    found = manifests(make_environment(manager=manager), files, str)
    assert json.loads(found["libs/date/package.json"])["scripts"].keys() == ({"prepare", "test"} if runs else {"test"})
    assert {**found, "libs/date/package.json": text} == files


@pytest.mark.parametrize("named", [["packages/*", "site"], {"packages": ["*"], "nohoist": ["x"]}])
def test_yarn_1_gets_only_the_packages_in_focus(named: object) -> None:
    """It installs whatever the root names."""
    files = {"package.json": json.dumps({"name": "root", "workspaces": named}).encode(), "site/package.json": b"{}"}
    spec = make_environment(manager="yarn", manager_version="1.22.22", focus=FOCUS)
    root = json.loads(manifests(spec, files, str)["package.json"])
    wanted = list(FOCUS) if isinstance(named, list) else {**named, "packages": list(FOCUS)}
    assert (root["workspaces"], root["private"]) == (wanted, True)
    assert manifests(make_environment(manager="npm", focus=FOCUS), files, str) == files
