"""Which packages of a workspace are installed: those of the changed tests, their dependencies, and the root."""

from __future__ import annotations

import pytest
import trees

from pipeline.core.records import Environment

YARN = {"yarn.lock": trees.YARN_1}
PLUGIN = ".yarn/plugins/@yarnpkg/plugin-workspace-tools.cjs"
FILES = {
    "packages/tokens/package.json": trees.package(name="@acme/tokens"),
    "packages/ui/package.json": trees.package(name="@acme/ui", dependencies={"@acme/tokens": "*"}),
    "packages/forms/package.json": trees.package(name="@acme/forms", peerDependencies={"@acme/ui": "*"}),
    "site/package.json": trees.package(name="site", dependencies={"@acme/ui": "*", "press": "1"}),
    "examples/plain/package.json": trees.package(name="plain", dependencies={"gone": "1"}),
}
UI, FORMS = "packages/ui/menu.test.js", "packages/forms/input.test.js"


def environment(*tests: str, files: dict[str, str] | None = None, **manifest: object) -> Environment:
    fields = {"name": "acme", "workspaces": ["packages/*", "site"]} | manifest
    return trees.read(
        trees.tree(FILES | {"package-lock.json": '{"lockfileVersion": 3}'} | (files or {}), **fields), *tests
    )


def test_a_documentation_site_is_not_installed_for_a_component() -> None:
    assert environment(UI).focus == ("packages/tokens", "packages/ui")
    assert environment(FORMS).focus == ("packages/forms", "packages/tokens", "packages/ui")
    assert environment(UI).evidence["focus"] == "what the touched tests need"


def test_the_npm_of_a_node_decides_if_none_is_named() -> None:
    """npm 9 can install a part, and every package was installed: examples with private dependencies, too."""
    assert environment(UI, files={".nvmrc": "18"}).focus == ("packages/tokens", "packages/ui")


def test_a_manager_that_does_not_know_of_packages_installs_no_part() -> None:
    """`npm ci --workspace=packages/ui` ended with "No workspaces found". Our yarn 1 is told of them."""
    files = {"lerna.json": trees.package(packages=["packages/*"])}
    assert environment(UI, files=files, workspaces=None).focus == ()
    yarn = trees.read(trees.tree(FILES | YARN | files, name="acme"), UI)
    assert yarn.focus == ("packages/tokens", "packages/ui")


def test_tests_of_another_tool_need_no_package() -> None:
    """One of Cypress at the root made everything be installed."""
    files = {"cypress.json": "{}", "cypress/menu.cy.js": ""}
    found = environment(UI, "cypress/menu.cy.js", files=files, devDependencies={"jest": "^29", "cypress": "9"})
    assert found.focus == ("packages/tokens", "packages/ui")


def test_a_manifest_with_only_entry_points_is_no_package() -> None:
    """Each component had such a manifest. Its dependencies were installed instead of its package's."""
    files = {"packages/forms/input/package.json": trees.package(main="../dist/input.js")}
    found = environment("packages/forms/input/a.test.js", files=files, workspaces=["packages/**", "site"])
    assert found.focus == ("packages/forms", "packages/tokens", "packages/ui")


def test_a_package_may_name_further_packages() -> None:
    """yarn 2 installs these with the root. No pattern of the root names them, so their tests had no runner."""
    files = {
        "site/package.json": trees.package(name="site", workspaces=["pages"]),
        "site/pages/package.json": trees.package(name="pages", devDependencies={"vitest": "^1"}),
        "site/other/package.json": trees.package(name="other"),
    }
    found = environment("site/pages/a.test.js", files=files)
    assert (found.folder, found.runner, found.focus) == ("site/pages", "vitest", ("site", "site/pages"))
    assert found.evidence["folder"] == "site/package.json: pages"
    assert environment("site/other/a.test.js", files=files).focus == ("site",)


def test_a_package_from_which_the_configuration_imports_is_installed() -> None:
    """The root's configuration imported a plugin from an application, whose dependencies were missing."""
    text = """import { plugin } from "./site/plugin.ts"; export default { alias: { forms: "./packages/forms/a.ts" } }"""
    files = {"vitest.config.ts": text} | FILES
    vitest = {"devDependencies": {"vitest": "^3"}, "scripts": {"test": "vitest"}}
    assert environment(UI, files=files, **vitest).focus == ("packages/tokens", "packages/ui", "site")


@pytest.mark.parametrize("module", ["@acme/forms", "@acme/forms/testing/render.js", "../forms/testing"])
def test_a_package_from_which_a_test_imports_is_installed(module: str) -> None:
    """The manifest of the tested package did not name it, but every package of a workspace is at its root, too. The
    file failed, and if others qualified the candidate, its tests were lost."""
    found = environment(UI, files={UI: f"import {{ render }} from '{module}'"})
    assert found.focus == ("packages/forms", "packages/tokens", "packages/ui")


@pytest.mark.parametrize(
    ("tests", "manifest"),
    [
        (("test/all.test.js",), {}),
        ((UI, "test/all.test.js"), {}),
        ((UI,), {"workspaces": []}),
        ((UI,), {"workspaces": ["packages/tokens", "packages/ui"]}),
        ((UI,), {"workspaces": ["packages/*"], "devDependencies": {"jest": "^29", "@acme/forms": "*"}}),
        ((), {}),
    ],
    ids=[
        "tests at the root",
        "some at the root",
        "no workspace",
        "all are needed",
        "the root needs the others",
        "none",
    ],
)
def test_everything_is_installed_if_nothing_can_be_left_out(
    tests: tuple[str, ...], manifest: dict[str, object]
) -> None:
    assert environment(*tests, **manifest).focus == ()


@pytest.mark.parametrize(
    ("manager", "lock", "focus"),
    [
        ("npm@6.14.18", {"package-lock.json": '{"lockfileVersion": 1}'}, ()),
        ("npm@10.9.2", {"package-lock.json": '{"lockfileVersion": 3}'}, ("packages/tokens", "packages/ui")),
        ("yarn@1.22.22", YARN, ("packages/tokens", "packages/ui")),
        ("yarn@3.8.7", {"yarn.lock": trees.BERRY.format(6, 8)}, ()),
        ("yarn@3.8.7", {"yarn.lock": trees.BERRY.format(6, 8), PLUGIN: ""}, ("@acme/tokens", "@acme/ui", "acme")),
        ("yarn@4.5.3", {"yarn.lock": trees.BERRY.format(8, 10)}, ("@acme/tokens", "@acme/ui", "acme")),
        ("pnpm@8.15.9", {"pnpm-lock.yaml": "lockfileVersion: '6.0'\n"}, ()),
        ("pnpm@9.15.9", {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}, ("packages/tokens", "packages/ui")),
    ],
)
def test_packages_are_selected_in_the_managers_own_way(
    manager: str, lock: dict[str, str], focus: tuple[str, ...]
) -> None:
    """A manager without such an option installs everything."""
    assert environment(UI, files=lock, packageManager=manager).focus == focus


def test_a_package_without_a_name_cannot_be_selected() -> None:
    berry = {"yarn.lock": trees.BERRY.format(8, 10)}
    assert environment(UI, files=berry, packageManager="yarn@4.5.3", name=None).focus == ()
