"""The package manager, its version, and an install command that follows the lock file."""

from __future__ import annotations

import pytest
from trees import BERRY, YARN_1, of, package, read, tree

from pipeline.build.infer import Unsupported

JEST = {"package.json": package(devDependencies={"jest": "^29"})}
RELEASE = ".yarn/releases/yarn-3.0.1.cjs"


@pytest.mark.rule("environment-follows-the-commit")
@pytest.mark.parametrize(
    ("files", "manager", "version"),
    [
        ({"yarn.lock": YARN_1}, "yarn", "1.22.22"),
        ({"yarn.lock": BERRY.format(8, "10c0")}, "yarn", "4.5.3"),
        ({"yarn.lock": BERRY.format(6, 8)}, "yarn", "3.8.7"),
        ({"yarn.lock": BERRY.format(5, 8)}, "yarn", "3.1.1"),
        ({"yarn.lock": BERRY.format(4, 8)}, "yarn", "3.0.2"),
        ({"yarn.lock": BERRY.format(4, 5)}, "yarn", "2.4.2"),
        ({"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, "pnpm", "9.15.9"),
        ({"pnpm-lock.yaml": "lockfileVersion: '6.0'\n"}, "pnpm", "8.15.9"),
        ({"pnpm-lock.yaml": "lockfileVersion: 5.4\n"}, "pnpm", "7.33.7"),
        ({"pnpm-lock.yaml": "lockfileVersion: 5.3\n"}, "pnpm", "6.35.1"),
        ({"pnpm-lock.yaml": "dependencies:\n" + "  a: 1.0.0\n" * 300 + "lockfileVersion: 5.1\n"}, "pnpm", "5.18.11"),
        ({"package-lock.json": "{}"}, "npm", ""),
        ({"package-lock.json": '{\n  "lockfileVersion": 1\n}'}, "npm", "6"),
        ({"package-lock.json": '{\n  "lockfileVersion": 2\n}'}, "npm", "8"),
        ({"package-lock.json": '{\n  "lockfileVersion": 3\n}'}, "npm", "10"),
        ({"package-lock.json": '{\n  "lockfileVersion": 3\n}', ".nvmrc": "16"}, "npm", ""),
        ({"npm-shrinkwrap.json": "{}"}, "npm", ""),
        ({"package-lock.json": "{}", "yarn.lock": YARN_1}, "yarn", "1.22.22"),
        ({}, "npm", ""),
    ],
)  # fmt: skip
def test_the_lock_file_decides_the_manager(files: dict[str, str], manager: str, version: str) -> None:
    """A manager that rewrites the lock file fails such an install; npm must not be newer than Node supports."""
    found = read(of(JEST | files))
    assert (found.manager, found.manager_version) == (manager, version)


@pytest.mark.parametrize(
    ("command", "manager"),
    [
        ("npm ci", "npm"),
        ("npm install --legacy-peer-deps", "npm"),
        ("yarn --frozen-lockfile", "yarn"),
        ("pnpm i", "pnpm"),
        ("npm install -g yarn", "pnpm"),
        ("npm install left-pad", "pnpm"),
        ("cd site && npm ci", "pnpm"),
    ],
)
def test_of_several_lock_files_the_one_of_continuous_integration_is_used(command: str, manager: str) -> None:
    """A lock file that nobody had used for a year was installed from, since its manager came first in our list."""
    locks = {"yarn.lock": YARN_1, "pnpm-lock.yaml": "lockfileVersion: '9.0'\n", "package-lock.json": "{}"}
    steps = f"- run: npm i\n  working-directory: docs\n- run: {command}\n- run: npm test\n".replace("\n", "\n      ")
    workflow = {".github/workflows/test.yml": f"jobs:\n  test:\n    steps:\n      {steps}"}
    found = read(of(JEST | locks | workflow))
    assert found.manager == manager
    assert (command in found.evidence["manager"]) == (manager != "pnpm" or command == "pnpm i")


@pytest.mark.parametrize(
    ("named", "manager", "version"),
    [
        ("yarn@4.3.1", "yarn", "4.3.1"),
        ("yarn@4.3.1+sha256.abcdef", "yarn", "4.3.1"),
        ("pnpm@8.6.0", "pnpm", "8.6.0"),
        ("npm@10.2.0", "npm", "10.2.0"),
        ("cnpm@9.0.0", "pnpm", "9.15.9"),
    ],
)
def test_a_named_manager_takes_precedence_over_lock_files(named: str, manager: str, version: str) -> None:
    locks = {"yarn.lock": BERRY.format(8, 8), "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}
    found = read(tree(locks, packageManager=named))
    assert (found.manager, found.manager_version) == (manager, version)


@pytest.mark.parametrize(
    ("named", "locks", "manager", "version"),
    [
        ("yarn@4.10.3", {"package-lock.json": '{\n  "lockfileVersion": 3\n}'}, "npm", "10"),
        ("npm@10.2.0", {"yarn.lock": YARN_1, "package-lock.json": ""}, "npm", "10.2.0"),
        ("npm@10.2.0", {"yarn.lock": YARN_1}, "yarn", "1.22.22"),
        ("npm@10.2.0", {"yarn.lock": YARN_1, "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, "npm", "10.2.0"),
    ],
)
def test_the_only_lock_file_takes_precedence_over_a_named_manager_without_one(
    named: str, locks: dict[str, str], manager: str, version: str
) -> None:
    """Corepack adds the name of the manager that someone happened to use; candidates were rejected as unpinned."""
    found = read(of({"package.json": package(packageManager=named, devDependencies={"jest": "^29"}), **locks}))
    assert (found.manager, found.manager_version) == (manager, version)


@pytest.mark.parametrize(
    ("fields", "version", "evidence"),
    [
        ({"volta": {"yarn": "1.19.0"}}, "1.19.0", "package.json: volta.yarn"),
        ({"engines": {"yarn": "1.17.3"}}, "1.17.3", "package.json: engines.yarn"),
        ({"engines": {"yarn": ">=1"}}, "1.22.22", "yarn.lock: its format"),
        ({"engines": {"yarn": ">=2"}}, "1.22.22", "yarn.lock: its format"),
    ],
)
def test_other_fields_name_the_managers_version(fields: dict, version: str, evidence: str) -> None:
    """A range is no version: the lock file's format takes precedence."""
    found = read(tree({"yarn.lock": YARN_1}, **fields))
    assert (found.manager_version, found.evidence["manager_version"]) == (version, evidence)


def test_dev_engines_names_a_manager() -> None:
    locks = {"yarn.lock": YARN_1, "pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}
    assert read(tree(locks, devEngines={"packageManager": {"name": "yarn"}})).manager == "yarn"


def test_a_yarn_release_in_the_repository_is_run() -> None:
    """The repository's plug-ins fit only that release, and the registry does not have every release."""
    files = {"yarn.lock": BERRY.format(4, 8), ".yarnrc.yml": f"yarnPath: {RELEASE}\n", RELEASE: "#!/usr/bin/env node\n"}
    found = read(tree(files))
    assert found.manager_version == "3.0.1"
    assert found.install == ("node", RELEASE, "install", "--immutable")
    del files[RELEASE]
    assert read(tree(files)).install == ("yarn", "install", "--immutable")


@pytest.mark.parametrize(("engine", "version"), [("5.6.0", "6"), ("5.7.1", "5.7.1"), ("6.4.1", "6.4.1")])
def test_a_version_without_an_exact_install_is_replaced(engine: str, version: str) -> None:
    """npm 5.6 has no `npm ci`, and printed its usage."""
    made = {"package-lock.json": '{"lockfileVersion": 1}', ".nvmrc": "8.9.4"}
    found = read(tree(made, engines={"node": "8.9.4", "npm": engine}))
    assert (found.manager_version, found.install[:2]) == (version, ("npm", "ci"))


@pytest.mark.trap("install-failure-hidden")
@pytest.mark.parametrize(
    ("files", "install"),
    [
        ({"package-lock.json": "{}"}, "npm ci --ignore-scripts --no-audit --no-fund"),
        ({}, "npm install --before=2024-05-08 --ignore-scripts --no-audit --no-fund"),
        ({"yarn.lock": YARN_1}, "yarn install --frozen-lockfile --ignore-scripts --ignore-engines --non-interactive"),
        ({"yarn.lock": BERRY.format(8, 8)}, "yarn install --immutable"),
        ({"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, "pnpm install --frozen-lockfile --ignore-scripts"),
    ],
)
def test_installs_are_exact_and_no_failure_is_hidden(files: dict[str, str], install: str) -> None:
    """`yarn install || true` hides a failed install; an ignored lock file gives a different environment.

    Without a lock file, the versions are those in the registry on the day of the commit.
    """
    assert " ".join(read(of(JEST | files)).install) == install


def test_newer_yarn_runs_no_scripts_and_links_modules() -> None:
    """It has settings for both, but no options; with Plug'n'Play, there would be nothing to run."""
    berry = read(tree({"yarn.lock": BERRY.format(8, 8)})).install_env
    assert berry["YARN_ENABLE_SCRIPTS"] == "0"
    assert berry["YARN_NODE_LINKER"] == "node-modules"
    assert read(tree({"yarn.lock": YARN_1})).install_env == {}


@pytest.mark.invariant(7)
@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"package.json": package(packageManager="yarn@4", devDependencies={"jest": "1"})}, "without its lock file"),
        (JEST | {"yarn.lock": "neither of them"}, "unknown format of yarn's lock file"),
        (JEST | {"pnpm-lock.yaml": "lockfileVersion: '12.0'\n"}, "unknown format of pnpm's lock file"),
    ],
)  # fmt: skip
def test_an_install_that_is_not_supported_is_refused_with_the_reason(files: dict[str, str], message: str) -> None:
    with pytest.raises(Unsupported, match=message) as error:
        read(of(files))
    assert error.value.reason == "environment_failed"


@pytest.mark.trap("lock-file-of-another")
@pytest.mark.parametrize(
    "path",
    ["bun.lockb", "deno.lock", "vlt-lock.json", "common/config/rush/pnpm-lock.yaml", "common/config/rush/yarn.lock"],
)
@pytest.mark.parametrize("named", [{}, {"packageManager": "npm@10.2.0"}])
def test_an_unsupported_lock_file_is_not_ignored(path: str, named: dict[str, str]) -> None:
    """It was silently treated as npm without a lock file, which gives a different environment."""
    files = {"package.json": package(devDependencies={"jest": "^29"}, **named), path: "{}"}
    with pytest.raises(Unsupported, match=f"^{path}: a lock file that no known package manager reads") as error:
        read(of(files))
    assert error.value.reason == "environment_failed"
    assert read(of(files | {"package-lock.json": "{}"})).evidence["install"] == "package-lock.json"


@pytest.mark.parametrize(
    ("asked", "version"),
    [
        ({"name": "npm", "version": "11.4.2"}, "11.4.2"),
        ([{"name": "npm", "version": "11.4.2"}, {"name": "yarn"}], "11.4.2"),
        ({"name": "npm", "version": "^11.4.2"}, "10"),
        ([], "10"),
    ],
)
def test_dev_engines_names_the_managers_version(asked: object, version: str) -> None:
    """A range is left to the manager, which reports what it needs."""
    made = tree({"package-lock.json": '{"lockfileVersion": 3}'}, devEngines={"packageManager": asked})
    assert read(made).manager_version == version
