"""Where the tests of an instance run: the order of the packages that could run them."""

from __future__ import annotations

import pytest
from trees import YARN_1, of, package, read, tree

from pipeline.build.infer import Unsupported, place


def test_packages_of_equally_long_paths_are_in_alphabetical_order() -> None:
    """The order decides which use is tried first, so it is the same in every process."""
    names = "hgfedcba"
    members = {f"packages/{name}/package.json": package(devDependencies={"jest": "29.0.0"}) for name in names}
    tree = of({"package.json": package(workspaces=["packages/*"]), **members})
    files = [f"packages/{name}/menu.test.js" for name in names]
    folders = [use.folder for use in place.alternatives(tree, tree.root(), files)]
    assert list(dict.fromkeys(folders)) == [f"packages/{name}" for name in sorted(names)]


SCRIPTS = {
    "test": "npm run browser && npm run server",
    "browser": "karma start",
    "server": "mocha --require x test/server/*Spec.js '!(a' --recursive test/node",
}
BOTH = {"mocha": "^10", "karma": "^6"}


@pytest.mark.parametrize(
    ("tests", "runner"),
    [
        (["test/server/MenuSpec.js"], "mocha"),
        (["test/node/deep/menu.test.js"], "mocha"),
        (["test/MenuSpec.js"], "karma"),
        (["test/MenuSpec.js", "test/TabSpec.js", "test/server/MenuSpec.js"], "karma"),
    ],
)
@pytest.mark.parametrize("order", [("browser", "server"), ("server", "browser")])
def test_of_several_runners_the_one_whose_script_names_the_tests(
    tests: list[str], runner: str, order: tuple[str, ...]
) -> None:
    """Mocha ran only the isomorphic tests, and was given those of Karma; no file of such a base loaded."""
    scripts = SCRIPTS | {"test": " && ".join(f"npm run {name}" for name in order)}
    assert read(tree(devDependencies=BOTH, scripts=scripts), *tests).runner == runner


def test_a_package_that_only_depends_on_browser_tests_is_tested_by_the_root() -> None:
    """It brought helpers for Playwright's tests; its own tests were Vitest's."""
    files = {"packages/ui/package.json": package(name="ui", dependencies={"@playwright/test": "^1"})}
    test = "packages/ui/menu.test.ts"
    root = {"workspaces": ["packages/*"], "devDependencies": {"vitest": "^2"}, "scripts": {"test": "vitest"}}
    assert read(tree(files, **root), test).runner == "vitest"
    assert read(tree(files | {"packages/ui/playwright.config.ts": ""}, **root), test).runner == "playwright"
    imported = {test: "import { expect } from '@playwright/test'"}
    assert read(tree(files | imported, **root), test).runner == "playwright"
    assert read(tree(files, workspaces=["packages/*"], devDependencies={}), test).runner == "playwright"


@pytest.mark.parametrize(("script", "runner"), [("gulp test", "jest"), ("node scripts/test.js", "jest"), ("ava", "")])
def test_a_runner_that_a_task_of_another_package_starts(script: str, runner: str) -> None:
    """No manifest named it, and no such candidate was installed, although its command would have shown the runner."""
    lock = YARN_1 + '\njest@^20.0.0:\n  version "20.0.4"\n'
    made = of({"package.json": package(scripts={"test": script}, devDependencies={"toolbox": "1"}), "yarn.lock": lock})
    if runner:
        found = read(made, "src/menu.test.js")
        assert (found.runner, found.runner_version) == (runner, "20.0.4")
        assert found.evidence["runner"] == "yarn.lock: jest, brought along by another package"
    else:
        with pytest.raises(Unsupported):
            read(made, "src/menu.test.js")
