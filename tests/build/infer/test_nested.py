"""Folders with a lock file of their own: which are installed beside the root, by which manager, and where their tests
run."""

from __future__ import annotations

import pytest
from trees import YARN_1, of, package, read, tree

from pipeline.build.infer import Unsupported

MENU = "packages/menu/src/menu.test.js"
JEST = package(name="menu", devDependencies={"jest": "^29"})
OWN = {"packages/menu/package.json": JEST, "packages/menu/package-lock.json": '{"lockfileVersion": 3}'}
BARE = {"devDependencies": {"eslint": "9"}}
LERNA = {"lerna.json": package(packages=["packages/*"])}


def test_a_package_with_its_own_lock_file_is_installed_from_it() -> None:
    """Only the root was installed, and none of the package's tests ran."""
    found = read(tree(OWN, **BARE), MENU)
    assert [(nested.folder, nested.manager, nested.install[:2]) for nested in found.nested] == [
        ("packages/menu", "npm", ("npm", "ci"))
    ]
    assert (found.folder, found.runner, found.focus) == ("packages/menu", "jest", ())
    assert found.evidence["folder"] == "packages/menu/package-lock.json"
    assert found.evidence["nested"] == "their own lock files"
    assert "nested" not in read(tree(OWN), "src/root.test.js").evidence


@pytest.mark.parametrize(
    ("files", "manifest", "folders"),
    [
        (OWN, BARE, ["packages/menu"]),
        (OWN | LERNA, BARE, ["packages/menu"]),
        (OWN | LERNA, {"workspaces": ["packages/*"]}, []),
        (OWN, {"workspaces": {"packages": ["packages/*"]}}, []),
        (OWN | {"pnpm-workspace.yaml": "packages: [packages/*]"}, {}, []),
        ({"packages/menu/package.json": JEST}, {}, []),
        ({"packages/menu/package-lock.json": "{}"}, {}, []),
    ],
    ids=["alone", "Lerna", "Lerna in a workspace", "workspace", "pnpm's workspace", "no lock file", "no manifest"],
)
def test_the_lock_file_of_a_workspace_package_is_ignored(
    files: dict[str, str], manifest: dict[str, object], folders: list[str]
) -> None:
    assert [nested.folder for nested in read(tree(files, **manifest), MENU).nested] == folders


def test_the_nearest_lock_file_above_each_test_counts() -> None:
    """A folder in between has none, and the package's example has one that no changed test needs."""
    app = {f"app/{path}": text for path, text in OWN.items()}
    deep = {"app/package.json": package(), "app/package-lock.json": "{}", "app/docs/package.json": package()}
    found = read(tree(app | deep), f"app/{MENU}", "app/docs/site.test.js", "src/root.test.js")
    assert [nested.folder for nested in found.nested] == ["app", "app/packages/menu"]


def test_a_test_recognized_by_its_folder_counts() -> None:
    """Jest runs everything below `__tests__`. Such tests of a real package had no Jest, since only the root was
    installed."""
    assert [
        nested.folder for nested in read(tree(OWN, **BARE), "packages/menu/__tests__/src/menu/index.js").nested
    ] == ["packages/menu"]


@pytest.mark.parametrize("test", ["packages/menu/test/a11y/menu.e2e.ts", "packages/menu/test/a11y/keys.js"])
def test_a_test_deep_in_a_folder_of_tests_counts(test: str) -> None:
    """Nothing was installed for a test whose own name does not end in `test` or `spec`."""
    assert [nested.folder for nested in read(tree(OWN, **BARE), test).nested] == ["packages/menu"]


def test_tests_that_are_not_run_need_no_install() -> None:
    """Tests of another tool, tests of an excluded package, and files that are no tests."""
    others = {path.replace("menu", "tabs"): text for path, text in OWN.items()}
    made = tree(OWN | others | {"e2e/package.json": package(), "e2e/yarn.lock": YARN_1}, **BARE)
    tests = (MENU, "packages/menu/b.test.js", "packages/tabs/c.test.js", "e2e/cypress/e2e/menu.cy.ts")
    assert [nested.folder for nested in read(made, *tests).nested] == ["packages/menu"]
    assert read(tree(OWN), "packages/menu/app/page.js", "src/root.test.js").nested == ()


def test_a_nested_package_without_a_runner_is_tested_by_the_root() -> None:
    found = read(tree(OWN | {"packages/menu/package.json": package(name="menu")}), MENU)
    assert (found.folder, [nested.folder for nested in found.nested]) == ("", ["packages/menu"])


@pytest.mark.parametrize(
    ("own", "root", "manager", "version", "words"),
    [
        ({"yarn.lock": YARN_1}, {}, "yarn", "1.22.22", "yarn install --frozen-lockfile"),
        ({"package-lock.json": '{"lockfileVersion": 3}'}, {"packageManager": "npm@9.1.0"}, "npm", "9.1.0", "npm ci"),
        ({"package-lock.json": '{"lockfileVersion": 3}'}, {}, "npm", "", "npm ci"),
        ({"pnpm-lock.yaml": "lockfileVersion: '9.0'"}, {}, "pnpm", "9.15.9", "pnpm install --frozen-lockfile"),
    ],
)
def test_each_folder_is_installed_by_its_own_manager(
    own: dict[str, str], root: dict[str, object], manager: str, version: str, words: str
) -> None:
    """One manager has a fixed version: the root's."""
    files = {"packages/menu/package.json": JEST} | {f"packages/menu/{name}": text for name, text in own.items()}
    (found,) = read(of({"package.json": package(**BARE | root)} | files), MENU).nested
    assert (found.manager, found.manager_version) == (manager, version)
    assert " ".join(found.install).startswith(words)
    assert ("--ignore-workspace" in found.install) == (manager == "pnpm")


def test_a_front_end_beside_a_server_stands_for_the_root() -> None:
    """If only a subfolder has a manifest, nothing was installed. The folder's own files name its Node and manager, and
    so does the repository's continuous integration."""
    front = {
        "ui/package.json": package(name="ui", devDependencies={"jest": "^29"}, packageManager="npm@9.1.0"),
        "ui/package-lock.json": '{"lockfileVersion": 3}',
        "server/app.py": "",
    }
    found = read(of(front | {"ui/.nvmrc": "18.2.0"}), "ui/src/menu.test.js")
    assert (found.node, found.manager, found.manager_version, found.install) == ("18.2.0", "npm", "9.1.0", ())
    assert [(nested.folder, nested.manager_version, nested.install[:2]) for nested in found.nested] == [
        ("ui", "9.1.0", ("npm", "ci"))
    ]
    assert (found.folder, found.runner, found.focus) == ("ui", "jest", ())
    job = "jobs: {test: {steps: [{uses: actions/setup-node@v4, with: {node-version: 16.3.0}}, {run: npm test}]}}"
    assert read(of(front | {".github/workflows/ci.yml": job}), "ui/src/menu.test.js").node == "16.3.0"


def test_a_front_end_with_tests_of_another_tool_only_is_rejected() -> None:
    """The reason said that no lock file was above the tests."""
    files = {"ui/package.json": JEST, "ui/package-lock.json": "{}"}
    with pytest.raises(Unsupported, match="Cypress"):
        read(of(files), "ui/cypress/integration/menu.spec.js")


@pytest.mark.parametrize("test", ["server/menu.test.js", "docs/menu.test.js"])
def test_tests_outside_every_front_end_are_rejected(test: str) -> None:
    files = {"ui/package.json": JEST, "ui/package-lock.json": "{}", "docs/package.json": JEST}
    with pytest.raises(Unsupported, match="nor a lock file above the tests"):
        read(of(files), test)


def test_a_front_end_that_is_a_workspace_is_installed() -> None:
    """Its tests ran nowhere, since only the root's patterns were known. The runner has the version in the folder's lock
    file."""
    lock = {"": {}, "node_modules/jest": {"version": "29.1.2"}}
    files = {
        "ui/package.json": package(workspaces=["lib"]),
        "ui/package-lock.json": package(lockfileVersion=3, packages=lock),
        "ui/lib/package.json": package(name="lib", devDependencies={"jest": "^29"}, scripts={"test": "jest"}),
    }
    found = read(of(files), "ui/lib/src/menu.test.js")
    assert (found.folder, [nested.folder for nested in found.nested]) == ("ui/lib", ["ui"])
    assert (found.runner_version, found.evidence["folder"]) == ("29.1.2", "ui/package.json: lib")
    assert read(tree(files), "ui/lib/src/menu.test.js").folder == "ui/lib"
