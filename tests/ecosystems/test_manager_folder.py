"""What the tables of package managers say about real versions and lock files."""

from __future__ import annotations

import pytest

from pipeline.core.errors import UserError
from pipeline.ecosystems.manager_folder import all_managers, manager, with_node, without_lock

#: the first lines of lock files, as their managers write them
YARN_1 = "# yarn lockfile v1\n\n\n"
YARN_2 = "__metadata:\n  version: 4\n"
YARN_4 = "__metadata:\n  version: 8\n  cacheKey: 10\n"
PNPM_5, PNPM_6, PNPM_9 = (f"lockfileVersion: {version}\n" for version in ("5.3", "'6.0'", "'9.0'"))


def test_lock_files_take_precedence_in_a_fixed_order() -> None:
    """If the root has several, the one that is least likely to be a leftover decides."""
    assert list(all_managers()) == ["pnpm", "yarn", "npm", "bun"]


def test_no_two_managers_share_a_lock_file() -> None:
    locks = [lock for found in all_managers().values() for lock in found.locks]
    assert len(set(locks)) == len(locks)


@pytest.mark.parametrize(
    ("name", "paths", "lock"),
    [
        ("npm", ["package.json", "package-lock.json"], "package-lock.json"),
        ("npm", ["npm-shrinkwrap.json", "package-lock.json"], "package-lock.json"),
        ("npm", ["npm-shrinkwrap.json"], "npm-shrinkwrap.json"),
        ("npm", ["packages/a/package-lock.json"], ""),
        ("yarn", ["yarn.lock.bak"], ""),
        ("pnpm", ["pnpm-lock.yaml"], "pnpm-lock.yaml"),
        ("bun", ["bun.lockb"], ""),
    ],
)
def test_the_lock_file_at_the_root_is_found(name: str, paths: list[str], lock: str) -> None:
    assert manager(name).lock_of(paths) == lock


@pytest.mark.parametrize(
    ("node", "version"),
    [
        ("4.9.1", "4"),
        ("6.17.1", "6"),
        ("14.21.3", "6"),
        ("15.0.0", "7"),
        ("16.20.2", "8"),
        ("19.9.0", "9"),
        ("20.0.0", "10"),
        ("24.0.0", "11"),
    ],
)
def test_each_node_comes_with_its_npm(node: str, version: str) -> None:
    assert with_node().name == "npm" and with_node().with_node(node) == version


def test_only_npm_comes_with_node() -> None:
    assert [name for name, found in all_managers().items() if found.with_node("20.0.0")] == ["npm"]


@pytest.mark.parametrize(
    ("name", "version", "architecture", "package"),
    [
        ("yarn", "1.22.22", "x64", "yarn"),
        ("yarn", "2.4.2", "arm64", "@yarnpkg/cli-dist"),
        ("npm", "10.8.2", "x64", "npm"),
        ("bun", "1.1.0", "x64", "@oven/bun-linux-x64-baseline"),
        ("bun", "1.1.0", "arm64", "@oven/bun-linux-aarch64"),
    ],
)
def test_the_package_that_contains_a_manager_is_known(name: str, version: str, architecture: str, package: str) -> None:
    found = manager(name).package_for(version, architecture)
    assert found is not None and found.name == package


def test_an_unsupported_architecture_has_no_package() -> None:
    assert manager("bun").package_for("1.1.0", "riscv64") is None


@pytest.mark.parametrize(
    ("name", "version", "options", "words"),
    [
        ("npm", "10.8.2", {"lock": True, "release": False}, ("npm", "ci")),
        ("npm", "10.8.2", {"lock": False, "release": False}, ("npm", "install")),
        ("yarn", "1.22.22", {"lock": True, "release": False}, ("yarn", "install")),
        ("yarn", "1.22.22", {"lock": True, "release": True}, ("yarn", "install")),
        ("yarn", "4.5.3", {"lock": True, "release": False}, ("yarn", "install")),
        ("yarn", "4.5.3", {"lock": True, "release": True}, ("node", "{release}")),
        ("pnpm", "9.15.9", {"lock": True, "release": False}, ("pnpm", "install")),
    ],
)
def test_each_manager_has_an_exact_install(
    name: str, version: str, options: dict[str, bool], words: tuple[str, ...]
) -> None:
    found = manager(name).install_for(version, **options)
    assert found is not None and found.words[: len(words)] == words


@pytest.mark.parametrize("name", all_managers())
@pytest.mark.parametrize("version", ["1.22.22", "4.5.3", "8.0.0", "10.0.0"])
def test_an_exact_install_runs_no_script_of_a_package(name: str, version: str) -> None:
    """Packages' scripts are untrusted, and an install can reach the registry."""
    found = manager(name).install_for(version, lock=True, release=False)
    assert found is not None
    assert "--ignore-scripts" in found.words or found.env.get("YARN_ENABLE_SCRIPTS") == "0"


def test_only_npm_installs_without_a_lock_file() -> None:
    assert without_lock().name == "npm"
    assert [name for name in all_managers() if manager(name).install_for("4.5.3", lock=False, release=False)] == ["npm"]


@pytest.mark.parametrize(
    ("name", "version", "focus"),
    [
        ("npm", "6.14.18", False),
        ("npm", "8.19.4", True),
        ("npm", "10.8.2", True),
        ("pnpm", "7.33.7", True),
        ("pnpm", "8.15.9", False),
        ("pnpm", "9.15.9", True),
        ("yarn", "1.22.22", True),
        ("yarn", "2.4.2", True),
        ("yarn", "3.8.7", True),
        ("yarn", "4.5.3", True),
        ("bun", "1.1.0", False),
    ],
)
def test_certain_versions_install_parts_of_a_workspace(name: str, version: str, focus: bool) -> None:
    """docs/environments.md lists them."""
    assert (manager(name).focus_for(version, "20") is not None) is focus


@pytest.mark.parametrize(
    ("name", "version", "node", "text", "neighbors"),
    [
        ("pnpm", "8.15.9", "20", PNPM_6, ["9.15.9", "7.33.7"]),
        ("pnpm", "8.15.9", "16.20.2", PNPM_6, ["7.33.7"]),
        ("pnpm", "9.15.9", "20", PNPM_9, ["10.34.8"]),
        ("pnpm", "5.18.11", "14.21.3", PNPM_5, ["6.35.1"]),
        ("yarn", "3.8.7", "20", YARN_2, ["4.5.3", "2.4.2"]),
        ("yarn", "3.8.7", "16.20.2", YARN_2, ["2.4.2"]),
        ("yarn", "4.5.3", "20", YARN_4, ["3.8.7"]),
        ("yarn", "1.22.22", "20", YARN_1, []),
        ("npm", "10.8.2", "20", "{}", []),
    ],
)
def test_neighbouring_major_versions_are_known(
    name: str, version: str, node: str, text: str, neighbors: list[str]
) -> None:
    """A version that cannot read a lock file would write a new one; yarn 1 is another program than yarn 2."""
    assert manager(name).neighbors(version, node, text) == neighbors


@pytest.mark.parametrize("name", all_managers())
def test_every_manager_keeps_its_cache_out_of_the_home_folder(name: str) -> None:
    found = manager(name).variables_for("4.5.3")
    assert any("{scratch}" in value for value in found.values())


@pytest.mark.parametrize("name", all_managers())
def test_a_version_that_no_lock_file_has_is_empty(name: str) -> None:
    assert manager(name).lock.version("", "react", "^18") == ""


def test_an_unknown_manager_is_refused_with_a_list() -> None:
    with pytest.raises(UserError) as error:
        manager("cnpm")
    assert all(name in str(error.value.hint) for name in all_managers())
