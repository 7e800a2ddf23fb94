"""Where an instance's tests run: the order of the packages that could run them."""

from __future__ import annotations

from typing import Any

import pytest
from trees import YARN_1, of, package, read, tree

from pipeline.build.infer import Unsupported, place


def test_packages_with_equally_long_paths_are_sorted_alphabetically() -> None:
    """The first package is tried first, so the order must be the same in every process."""
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
def test_the_runner_whose_script_names_the_tests_is_chosen(
    tests: list[str], runner: str, order: tuple[str, ...]
) -> None:
    """Mocha, which ran only the isomorphic tests, was given Karma's tests too; no file of such a base loaded."""
    scripts = SCRIPTS | {"test": " && ".join(f"npm run {name}" for name in order)}
    assert read(tree(devDependencies=BOTH, scripts=scripts), *tests).runner == runner


def test_a_call_in_another_folder_comes_last() -> None:
    """A command tests one package after another; the first one's folder was taken for all of them."""
    scripts = {"test": "npm-run-all test:*", "test:vue": "cd lib/vue && jest", "test:solid": "cd lib/solid && jest"}
    made = tree(devDependencies={"jest": "^29"}, scripts=scripts)
    assert read(made, "lib/solid/a.test.js").folder == "lib/solid"
    assert read(made, "lib/vue/a.test.js").folder == "lib/vue"
    assert read(made, "lib/core/a.test.js").folder == ""


def test_a_package_that_only_depends_on_browser_tests_is_tested_by_the_root() -> None:
    """It provided helpers for Playwright's tests; its own tests were Vitest's."""
    files = {"packages/ui/package.json": package(name="ui", dependencies={"@playwright/test": "^1"})}
    test = "packages/ui/menu.test.ts"
    root = {"workspaces": ["packages/*"], "devDependencies": {"vitest": "^2"}, "scripts": {"test": "vitest"}}
    assert read(tree(files, **root), test).runner == "vitest"
    assert read(tree(files | {"packages/ui/playwright.config.ts": ""}, **root), test).runner == "playwright"
    imported = {test: "import { expect } from '@playwright/test'"}
    assert read(tree(files | imported, **root), test).runner == "playwright"
    assert read(tree(files, workspaces=["packages/*"], devDependencies={}), test).runner == "playwright"


@pytest.mark.parametrize(("script", "runner"), [("gulp test", "jest"), ("node scripts/test.js", "jest"), ("ava", "")])
def test_a_runner_started_by_a_task_of_another_package_is_found(script: str, runner: str) -> None:
    """No manifest named it, so no such candidate was installed, although running its command would have shown the
    runner."""
    lock = YARN_1 + '\njest@^20.0.0:\n  version "20.0.4"\n'
    made = of({"package.json": package(scripts={"test": script}, devDependencies={"toolbox": "1"}), "yarn.lock": lock})
    if runner:
        found = read(made, "src/menu.test.js")
        assert (found.runner, found.runner_version) == (runner, "20.0.4")
        assert found.evidence["runner"] == "yarn.lock: jest, brought along by another package"
    else:
        with pytest.raises(Unsupported):
            read(made, "src/menu.test.js")


@pytest.mark.parametrize(
    ("files", "packages", "runner", "sign"),
    [
        ({}, {"@types/node": "20", "@types/jest": "29"}, "jest", "package.json: @types/jest"),
        ({"src/__snapshots__/menu.test.js.snap": ""}, {}, "jest", "snapshots beside the tests"),
        ({"vitest.config.ts": ""}, {"babel-jest": "29"}, "vitest", "vitest.config.ts"),
        ({}, {"@types/node": "20", "eslint-plugin-jest": "28"}, "", ""),
    ],
)
def test_a_runner_behind_an_unknown_program_is_found_without_a_lock_file(
    files: dict[str, str], packages: dict[str, str], runner: str, sign: str
) -> None:
    """The program installed Jest as a dependency, and a whole family of repositories was rejected before an install."""
    manifest = package(scripts={"test": "toolbox test"}, devDependencies={"toolbox": "1"} | packages)
    made = of({"package.json": manifest} | files)
    if runner:
        found = read(made, "src/menu.test.js")
        assert (found.runner, found.evidence["runner"]) == (runner, f"{sign}, a sign of {runner}")
        assert "node_modules/toolbox/node_modules/jest/bin/jest.js" in found.entries or runner != "jest"
    else:
        with pytest.raises(Unsupported):
            read(made, "src/menu.test.js")


def test_a_program_of_the_repository_itself_may_start_a_runner() -> None:
    """The repository's own scripts package started Karma, whose configuration was at the root; the lock file had Jest,
    too."""
    lock = YARN_1 + '\njest@^20.0.0:\n  version "20.0.4"\n\nkarma@^4.0.0:\n  version "4.4.1"\n'
    own = package(name="@acme/scripts", bin={"acme-test": "bin/test.js"})
    root = package(scripts={"test": "acme-test --all"}, devDependencies={"eslint": "7"})
    made = {"package.json": root, "packages/scripts/package.json": own, "yarn.lock": lock}
    found = read(of(made | {"karma.conf.js": ""}), "packages/ui/menu.test.js")
    assert (found.runner, found.runner_version, found.configuration) == ("karma", "4.4.1", "karma.conf.js")
    assert read(of(made), "packages/ui/menu.test.js").runner == "jest"


def test_the_configuration_shows_which_runner_the_repositorys_program_starts() -> None:
    """Every package had a Karma configuration and a test command of the repository's own; the lock file also had Jest,
    as a dependency of something else."""
    lock = YARN_1 + '\njest@^23.0.0:\n  version "23.1.0"\n\nkarma@^2.0.0:\n  version "2.0.2"\n'
    ui = package(name="ui", scripts={"test": "acme-test"}, devDependencies={})
    files = {"packages/ui/package.json": ui, "packages/ui/karma.conf.js": "", "yarn.lock": lock}
    made = tree(files, workspaces=["packages/*"], scripts={"test": "lerna run test"}, devDependencies={"lerna": "3"})
    found = read(made, "packages/ui/src/__tests__/Menu.test.js")
    assert (found.runner, found.runner_version, found.folder) == ("karma", "2.0.2", "packages/ui")
    assert found.evidence["runner"] == "packages/ui/karma.conf.js, a sign of karma"


def test_a_script_that_tests_is_found_whatever_its_name() -> None:
    """The package has its configuration, Jest is the root's dependency, and `test` starts a file of the repository."""
    package_json = package(scripts={"test": "node run.js", "test:unix": "cross-env NODE_ENV=test jest"})
    files = {"packages/ui/package.json": package_json, "packages/ui/jest.config.js": "", "jest.config.js": ""}
    found = read(tree(files, workspaces=["packages/*"]), "packages/ui/src/Menu.spec.js")
    assert (found.runner, found.folder, found.test_env) == ("jest", "packages/ui", {"NODE_ENV": "test"})


@pytest.mark.parametrize(
    ("packages", "files", "runner"),
    [
        (("mocha", "karma", "karma-mocha"), {"karma.conf.js": ""}, "karma"),
        (("mocha", "karma", "karma-mocha"), {"test/karma.config.js": ""}, "karma"),
        (("mocha", "karma", "karma-mocha"), {}, "mocha"),
        (("mocha", "karma", "karma-jasmine"), {"karma.conf.js": ""}, "mocha"),
        (("mocha",), {"karma.conf.js": ""}, "mocha"),
    ],
)
def test_a_framework_of_karma_comes_after_karma(packages: tuple[str, ...], files: dict[str, str], runner: str) -> None:
    """A task started Karma, but Mocha ran its tests without a browser, and the task's variable was lost."""
    scripts = {"test": "NODE_ENV=test grunt travis"}
    found = read(tree(files, devDependencies=dict.fromkeys(packages, "1.0.0"), scripts=scripts), "test/menu_test.js")
    assert (found.runner, found.test_env["NODE_ENV"]) == (runner, "test")


@pytest.mark.parametrize(
    ("snapshot", "runner"), [("ui/__snapshots__/menu.test.jsx.snap", "jest"), ("ui/__snapshots__/a.snap", "karma")]
)
def test_tests_with_snapshots_do_not_belong_to_karma(snapshot: str, runner: str) -> None:
    """Karma ran the behavior tests, and Jest those with snapshots, in the same folders."""
    scripts = {"test": "karma start && jest"}
    made = tree({snapshot: ""}, devDependencies={"jest": "^23.0.0", "karma": "^1.7.0"}, scripts=scripts)
    assert read(made, "ui/menu.test.jsx").runner == runner


@pytest.mark.parametrize(
    ("configuration", "test", "runner"),
    [
        ("{ testDir: './test-e2e' }", "test-e2e/menu.spec.ts", "playwright"),
        ("{ testDir: './test-e2e' }", "test/menu.spec.ts", "vitest"),
        ("{ testDir: './test-e2e', testMatch: '*.pw.ts' }", "test-e2e/menu.spec.ts", "vitest"),
        ("{ testDir: '.' }", "test-e2e/menu.spec.ts", "vitest"),
    ],
)
def test_a_configuration_that_names_the_tests_folder_decides(configuration: str, test: str, runner: str) -> None:
    """Vitest was given Playwright's tests, which import it through a helper."""
    packages = {"vitest": "^2.0.0", "@playwright/test": "^1.46.0"}
    scripts = {"test": "vitest run", "test:all": "playwright test"}
    made = tree({"playwright.config.ts": configuration}, devDependencies=packages, scripts=scripts)
    assert read(made, test).runner == runner


@pytest.mark.parametrize(
    ("tests", "runner"),
    [
        ({"e2e/ui/menu-test.avt.e2e.js": True, "src/menu/menu-test.js": False}, "jest"),
        ({"e2e/ui/menu.test.ts": True, "src/menu/menu.test.ts": False, "src/tabs/tabs.test.ts": False}, "jest"),
        ({"e2e/ui/menu.test.ts": True, "e2e/ui/tabs.test.ts": True, "src/tabs/tabs.test.ts": False}, "playwright"),
        ({"e2e/ui/menu.test.ts": True, "e2e/nav/tabs.test.ts": False, "e2e/nav/list.test.ts": False}, "playwright"),
    ],
)
def test_the_import_of_one_test_does_not_decide_for_all(tests: dict[str, bool], runner: str) -> None:
    """A fix came with component tests and with a browser test, which needs a server. Some import Playwright through a
    helper."""
    texts = {file: "import '@playwright/test'" if own else "import './helper'" for file, own in tests.items()}
    packages = {"jest": "^29", "@playwright/test": "^1"}
    scripts = {"test": "jest", "test:avt": "playwright test"}
    for configuration in ({}, {"playwright.config.ts": "export default { testDir: './e2e' }"}):
        assert read(tree(texts | configuration, devDependencies=packages, scripts=scripts), *tests).runner == runner


UNIT, SERVED = r"{ testRegex: '(.|-)test\\.(js|tsx)$' }", "{ testMatch: ['**/__tests__/*.e2e.js'] }"
END_TO_END = {"unit": "jest --coverage", "e2e:test": "jest -c jest.e2e.config.js"}


@pytest.mark.parametrize(
    ("scripts", "unit", "tests", "configuration"),
    [
        (END_TO_END, UNIT, ("ui/__tests__/menu.e2e.js",), "jest.e2e.config.js"),
        (END_TO_END, UNIT, ("ui/__tests__/menu.e2e.js", "ui/__tests__/menu.story.js"), "jest.e2e.config.js"),
        (END_TO_END, UNIT, ("ui/__tests__/menu.e2e.js", "ui/__tests__/menu-test.tsx"), "jest.config.js"),
        (END_TO_END, UNIT, ("ui/__tests__/menu.story.js",), "jest.config.js"),
        (END_TO_END, "{}", ("ui/__tests__/menu.e2e.js",), "jest.config.js"),
        (END_TO_END, "{ testRegex: tests }", ("ui/__tests__/menu.e2e.js",), "jest.config.js"),
        (END_TO_END, "{ testMatch: ['**/dist/*.js'] }", ("ui/__tests__/menu.e2e.js",), "jest.config.js"),
        (END_TO_END | {"unit": "jest --testRegex=e2e"}, UNIT, ("ui/__tests__/menu.e2e.js",), "jest.config.js"),
        (END_TO_END | {"unit": "jest $ALL"}, UNIT, ("ui/__tests__/menu.e2e.js",), "jest.config.js"),
        (END_TO_END | {"test:web": "jest --config=jest.e2e.config.js"}, UNIT, ("a.test.js",), "jest.config.js"),
        ({"test": "jest", "test:web": "jest --config=jest.e2e.config.js"}, UNIT, ("ui/__tests__/menu.e2e.js",),
         "jest.e2e.config.js"),
        ({"test": "jest", "test:web": "jest -c web.js --testMatch=e2e"}, UNIT, ("ui/__tests__/menu.story.js",),
         "jest.config.js"),
    ],
)  # fmt: skip
def test_the_configuration_that_names_the_tests_is_taken(
    scripts: dict[str, str], unit: str, tests: tuple[str, ...], configuration: str
) -> None:
    """The unit tests' configuration was taken for end-to-end tests, which its pattern left out. Patterns that are not
    literal, or that name only what is built, leave out nothing."""
    files = {"jest.config.js": unit, "jest.e2e.config.js": SERVED, "ui/menu.test.js": "", "web.js": "{}"}
    assert read(tree(files | dict.fromkeys(tests, "it();"), scripts=scripts), *tests).configuration == configuration


@pytest.mark.parametrize(("pattern", "runner"), [("_steps\\\\.js$", "karma"), ("_spec\\\\.js$", "jest")])
def test_a_configured_runner_comes_before_one_that_leaves_out_the_tests(pattern: str, runner: str) -> None:
    """The only script that calls a runner runs other tests; a task starts Karma for these."""
    files = {"tests/spec/menu_spec.js": "it();", "tests/ui/menu_steps.js": "it();", "karma.conf.js": ""}
    files["tests/ui/jest.config.js"] = f'module.exports = {{testRegex: "{pattern}", rootDir: "../.."}};'
    scripts = {"test": "gulp test && jest -c tests/ui/jest.config.js"}
    made = tree(files, scripts=scripts, devDependencies={"jest": "^26", "karma": "^5"})
    assert read(made, "tests/spec/menu_spec.js").runner == runner


def test_the_patterns_in_a_manifest_leave_out_tests() -> None:
    """Mocha's tests were given to Jest, whose script came first."""
    scripts, packages = {"test": "jest", "test:server": "mocha"}, {"jest": "^29", "mocha": "^10"}
    made = tree({"src/a.test.js": ""}, jest={"roots": ["<rootDir>/src"]}, scripts=scripts, devDependencies=packages)
    assert read(made, "server/a.test.js").runner == "mocha"
    assert read(made, "src/a.test.js").runner == "jest"


@pytest.mark.parametrize(("ignored", "folder"), [(["/packages/"], "packages/a"), (["/examples/"], "")])
def test_a_root_that_leaves_out_the_packages_does_not_run_their_tests(ignored: list[str], folder: str) -> None:
    """The tests of two packages ran at the root, whose configuration ignores all packages: no test was found."""
    scripts, packages = {"test": "jest"}, ("a", "b")
    own = {"devDependencies": {"jest": "^29"}, "scripts": scripts}
    members = {f"packages/{name}/package.json": package(name=name, **own) for name in packages}
    files = members | {"build/menu.test.js": ""} | {f"packages/{name}/a.test.js": "" for name in packages}
    made = tree(files, workspaces=["packages/*"], scripts=scripts, jest={"testPathIgnorePatterns": ignored})
    assert read(made, "packages/a/a.test.js", "packages/b/a.test.js").folder == folder


def test_files_that_define_no_test_do_not_vote_against_a_browser_test() -> None:
    """Three stories and scenarios beside the only test, which imported Playwright, made it one of Jest's."""
    files = ("ui/a.scenario.tsx", "ui/b.scenario.tsx", "ui/menu.stories.tsx")
    support = {f"src/{file}": "export const isMenu = (name) => /menu/.test(name);" for file in files}
    browser = {"src/ui/menu.e2e.ts": "import { test } from '@playwright/test'; test.describe('a', () => {});"}
    units = {f"src/{name}.js": "describe('a', () => {});" for name in ("a", "b")}
    scripts = {"test": "jest", "e2e:test": "playwright test"}
    packages = {"jest": "^29", "@playwright/test": "^1"}
    for added, runner in (({}, "playwright"), (units, "jest")):
        tests = support | browser | added
        assert read(tree(tests, devDependencies=packages, scripts=scripts), *tests).runner == runner


VITEST, NODE, GLOBAL = "import {it} from 'vitest'; it();", "import test from 'node:test'; test();", "it();"


@pytest.mark.parametrize(
    ("scripts", "texts", "runner"),
    [
        ({"test": "jest", "test:browser": "vitest"}, (VITEST, GLOBAL, GLOBAL), "jest"),
        ({"test": "jest", "test:browser": "vitest"}, (VITEST, GLOBAL), "jest"),
        ({"test": "jest", "test:browser": "vitest"}, (VITEST, VITEST, GLOBAL), "vitest"),
        ({"test": "jest", "test:browser": "vitest"}, (VITEST, GLOBAL, "import {it} from 'vitest';"), "jest"),
        ({"test": "mocha", "test:node": "node --test"}, (NODE, GLOBAL, GLOBAL), "mocha"),
        ({"test": "mocha"}, (NODE, GLOBAL, NODE), "node"),
        ({"test": "mocha", "test:node": "node --test"}, (NODE, "", "export {};"), "node"),
        ({"test": "node --test", "test:ui": "vitest"}, (VITEST, GLOBAL, GLOBAL), "vitest"),
        ({"test": "vitest", "jest": "jest"}, (VITEST, GLOBAL, GLOBAL), "vitest"),
        ({"test": "gulp"}, (VITEST, GLOBAL, GLOBAL), "vitest"),
        ({"test": "gulp", "lint": "jest"}, (VITEST, GLOBAL, "export {};"), "vitest"),
    ],
)
def test_a_minority_that_imports_a_runner_does_not_decide_if_the_rest_has_another(
    scripts: dict[str, str], texts: tuple[str, ...], runner: str
) -> None:
    """A package tested a few components in a browser with Vitest, the others with Jest: one imported test of four
    decided, and Jest's tests never ran. Tests that import no runner are those of one with globals; helpers do not
    count."""
    tests = {f"src/{name}": text for name, text in zip(("a.test.ts", "b.test.ts", "utils.ts"), texts, strict=False)}
    packages = {"jest": "^29", "vitest": "^2", "mocha": "^10"}
    assert read(tree(tests, devDependencies=packages, scripts=scripts), *tests).runner == runner


def test_a_configuration_shows_which_runner_has_the_tests_that_import_none() -> None:
    """A task started Jest, and the one test in four that imported Vitest decided."""
    tests = {"src/a.test.ts": VITEST, "src/b.test.ts": GLOBAL, "src/c.test.ts": GLOBAL}
    packages = {"jest": "^29", "vitest": "^2", "gulp": "^4"}
    made = tree(tests | {"jest.config.js": ""}, devDependencies=packages, scripts={"test": "gulp"})
    assert read(made, *tests).runner == "jest"
    assert read(made, "src/a.test.ts").runner == "vitest"


@pytest.mark.parametrize(
    ("line", "runner"),
    [
        ("import { test } from '../../test/playwright/index.js'", "playwright"),
        ("import { test } from './playwright/test.js'", "playwright"),
        ('const { test } = require("~/playwright-fixtures")', "playwright"),
        ('import { test } from "@acme/playwright"', "playwright"),
        ("import AxeBuilder from '@axe-core/playwright'", "playwright"),
        ("import '../other/playwright'", "playwright"),
        ("import { chromium } from 'playwright'", "jest"),
        ("import { menu } from './playwrights'", "jest"),
        ("jest.mock('./playwright')", "jest"),
        ("import { page } from '@vitest/browser-playwright'", "jest"),
        ("// import { test } from '@playwright/test'", "jest"),
    ],
)
def test_the_repositorys_own_module_around_a_runner_is_recognized(line: str, runner: str) -> None:
    """Such tests were taken for Jest's. Jest's own tests use the library `playwright`."""
    packages = {"jest": "^29", "@playwright/test": "^1"}
    scripts = {"test": "jest", "test:e2e": "playwright test"}
    test = "apps/docs/menu.test.ts"
    assert read(tree({test: f"{line};\n"}, devDependencies=packages, scripts=scripts), test).runner == runner


def test_scripts_for_a_served_application_are_tried_last() -> None:
    """Only such a script names the configuration; it was never read."""
    scripts = {"test": "jest", "e2e": "playwright test -c e2e/pw.config.ts", "unit": "jest -c unit.config.js"}
    packages = {"jest": "^29", "@playwright/test": "^1"}
    made = tree({"e2e/pw.config.ts": ""}, devDependencies=packages, scripts=scripts)
    found = list(place.alternatives(made, made.root(), ["e2e/menu.spec.ts"]))
    assert found[-1].call.words == ("test", "-c", "e2e/pw.config.ts")
    assert [use.call.words for use in found].count(found[-1].call.words) == 1


WTR = {"@web/test-runner": "^0.18", "web-test-runner-jasmine": "^0.0.6", "jasmine": "^5"}


@pytest.mark.parametrize(
    ("text", "packages", "scripts", "runner"),
    [
        ("// import 'jasmine';", WTR, {"test": "toolbox"}, "wtr"),
        ("import 'jasmine';", WTR, {"test": "wtr"}, "wtr"),
        ("import 'jasmine';", WTR, {}, "wtr"),
        ("import 'jasmine';", WTR, {"test": "wtr", "test:node": "jasmine"}, "jasmine"),
        ("import 'jasmine';", {"@web/test-runner": "^0.18", "jasmine": "^5"}, {"test": "wtr"}, "jasmine"),
        ("/* import 'jasmine'; */", {"jest": "^29", "jasmine": "^5"}, {"test": "jest"}, "jest"),
        ("/// <reference types='vitest' />", {"jest": "^29", "vitest": "^2"}, {"test": "jest"}, "vitest"),
    ],
)
def test_neither_a_remark_nor_the_framework_of_a_runner_decides(
    text: str, packages: dict[str, str], scripts: dict[str, str], runner: str
) -> None:
    """Every test had such a remark; Web Test Runner ran them, with Jasmine as its framework."""
    files = {"web-test-runner.config.js": "", "src/menu_test.js": f"{text}\nimport {{html}} from 'lit';\n"}
    assert read(tree(files, devDependencies=packages, scripts=scripts), "src/menu_test.js").runner == runner


@pytest.mark.parametrize(
    ("files", "folder"),
    [
        ({"libs/ui/vite.config.mts": ""}, "libs/ui"),
        ({"libs/ui/vite.config.mts": "", "vitest.config.ts": ""}, ""),
        ({"libs/ui/vite.config.mts": "", "vite.config.ts": "", "libs/ui/project.json": "nx"}, "libs/ui"),
        ({"libs/ui/vite.config.mts": "", "vitest.workspace.ts": "defineWorkspace", "libs/ui/project.json": "nx"}, ""),
        ({"libs/vite.config.ts": "", "libs/icons/vite.config.ts": ""}, "libs"),
    ],
)
def test_a_runner_that_no_script_calls_runs_where_it_is_configured(files: dict[str, str], folder: str) -> None:
    """The projects of an Nx workspace are no packages; Vitest ran at the root, without their configuration."""
    nx = {"nx": package(targets={"test": {"executor": "@nx/vite:test"}})}
    made = tree(
        {path: nx.get(text, text) for path, text in files.items()},
        devDependencies={"vitest": "^2", "nx": "^20"},
        scripts={"test": "nx run-many -t test"},
    )
    assert read(made, "libs/ui/src/menu.spec.ts").folder == folder


@pytest.mark.parametrize(
    ("files", "scripts", "folder"),
    [
        ({"vitest.config.ts": ""}, {}, ""),
        ({}, {}, "packages/ui"),
        ({"vitest.config.ts": "", "packages/ui/vite.config.ts": ""}, {}, "packages/ui"),
        ({"vitest.config.ts": ""}, {"test": "vitest"}, "packages/ui"),
    ],
)
def test_a_package_that_only_depends_on_its_runner_is_tested_by_the_root(
    files: dict[str, str], scripts: dict[str, str], folder: str
) -> None:
    """Its tests ran without the root's configuration, which has their aliases."""
    packages = {"vitest": "^2"}
    member = {"packages/ui/package.json": package(name="ui", devDependencies=packages, scripts=scripts)}
    root: dict[str, Any] = {"workspaces": ["packages/*"], "devDependencies": packages, "scripts": {"test": "vitest"}}
    assert read(tree(member | files, **root), "packages/ui/src/menu.spec.ts").folder == folder


@pytest.mark.parametrize(
    ("script", "folder"),
    [
        ("cd packages/plugin && npm test", "packages/forms"),
        ("cd packages && jest", "packages"),
        ("jest", ""),
    ],
)
def test_a_root_that_tests_another_package_does_not_run_the_packages_tests(script: str, folder: str) -> None:
    """The root had a script for a plugin outside of the workspace. It was taken for one that tests all packages, so
    the tests of two others ran in the plugin's folder."""
    jest: dict[str, Any] = {"devDependencies": {"jest": "^29"}, "scripts": {"test": "jest"}}
    files = {f"packages/{name}/package.json": package(name=name, **jest) for name in ("forms", "menu", "plugin")}
    scripts = {"test": "lerna run test", "test:extra": script}
    made = tree(files, workspaces=["packages/forms", "packages/menu"], scripts=scripts, devDependencies={"lerna": "3"})
    assert read(made, "packages/forms/form.test.js", "packages/menu/menu.test.js").folder == folder


def test_a_runner_that_a_script_calls_runs_where_the_script_calls_it() -> None:
    made = tree({"libs/ui/vite.config.ts": ""}, devDependencies={"vitest": "^2"}, scripts={"test": "vitest"})
    assert read(made, "libs/ui/src/menu.spec.ts").folder == ""
    folders = [use.folder for use in place.alternatives(made, made.root(), ["libs/ui/src/menu.spec.ts"])]
    assert "libs/ui" in folders


def test_another_place_is_the_configuration_below_one_that_counts() -> None:
    """No script calls Jest. The root's projects leave the package out, or are right only in the package's folder."""
    files = {
        "jest.config.ts": "export default { projects: [...getJestProjects()] };\n",
        "packages/menu/package.json": package(name="menu"),
        "packages/menu/jest.config.js": "module.exports = { preset: '../../jest.preset.js' };\n",
    }
    made = tree(files, workspaces=["packages/*"], scripts={"test": "nx affected"}, devDependencies={"jest": "^29"})
    folders = [use.folder for use in place.alternatives(made, made.root(), ["packages/menu/src/menu.test.ts"])]
    assert folders[0] == "" and "packages/menu" in folders


def test_a_runner_that_tests_import_is_called_as_the_only_script_that_calls_it_does() -> None:
    """It was called without its configuration, which starts the server."""
    scripts = {"test": "vitest run", "test:e2e:demo": "playwright test --config e2e/demo.config.ts"}
    made = tree(
        {"e2e/demo.spec.ts": "import { test } from '@playwright/test';", "e2e/demo.config.ts": ""},
        scripts=scripts, devDependencies={"vitest": "^2", "@playwright/test": "^1"},
    )  # fmt: skip
    found = read(made, "e2e/demo.spec.ts")
    assert (found.runner, found.configuration) == ("playwright", "e2e/demo.config.ts")


def test_a_call_that_names_the_folder_of_the_tests_by_a_plain_word_comes_first() -> None:
    """Karma ran tests that Mocha runs as well, by `mocha ./test/helpers test`."""
    scripts = {"test": "mocha ./test/helpers test && karma start"}
    found = read(tree(devDependencies={"mocha": "^5", "karma": "^3"}, scripts=scripts), "test/a_spec.js")
    assert (found.runner, found.everything) == ("mocha", ("./test/helpers", "test"))
