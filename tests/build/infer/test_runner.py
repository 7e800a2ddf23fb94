"""The runner, the folder in which it runs, and its command: packages of many forms with the expected results."""

from __future__ import annotations

from typing import Any

import pytest
from trees import LOCK, YARN_1, of, package, read, tree

from pipeline.build.infer import Unsupported
from pipeline.ecosystems.runner_folder import all_parsers

JEST, VITEST = {"devDependencies": {"jest": "^29"}}, {"devDependencies": {"vitest": "^1"}}
BOTH = {"devDependencies": {"jest": "^29", "vitest": "^1"}}


@pytest.mark.parametrize(
    ("manifest", "runner", "parser"),
    [
        (JEST, "jest", "jest-json"),
        ({"dependencies": {"jest": "^29"}, "devDependencies": {}}, "jest", "jest-json"),
        (VITEST, "vitest", "vitest-json"),
        (BOTH | {"scripts": {"test": "vitest"}}, "vitest", "vitest-json"),
        (BOTH | {"scripts": {"test": "npm run jest"}}, "jest", "jest-json"),
        (BOTH, "jest", "jest-json"),
        ({"devDependencies": {"mocha": "^10"}, "scripts": {"test": "nyc mocha"}}, "mocha", "mocha-json"),
        ({"devDependencies": {"karma": "^6"}, "scripts": {"test": "karma start"}}, "karma", "karma-json"),
        ({"devDependencies": {}, "scripts": {"test": "node --test test/"}}, "node", "node-junit"),
        ({"devDependencies": {"@playwright/experimental-ct-react": "1.4.0"}}, "playwright", "playwright-json"),
        ({"devDependencies": {"jest": "19.0.2"}}, "jest", "jest20-json"),
        ({"devDependencies": {"react-scripts": "5"}, "scripts": {"test": "react-scripts test"}}, "jest", "jest-json"),
    ],
)  # fmt: skip
def test_the_manifest_decides_the_runner(manifest: dict[str, Any], runner: str, parser: str) -> None:
    found = read(tree(**manifest))
    assert (found.runner, found.parser) == (runner, parser)
    assert found.test[0] == "node" and "{files}" in found.test
    assert parser in all_parsers()
    assert "{report}" in " ".join((*found.test, *found.test_env.values()))


def test_what_tests_import_decides_between_two_runners() -> None:
    files = {
        "src/a.test.ts": 'import { expect, test } from "vitest";\n',
        "test/b.js": 'import test from "node:test";\n',
    }
    assert read(tree(files, **BOTH), "src/a.test.ts").runner == "vitest"
    assert read(tree(files, **BOTH), "test/b.js").runner == "node"
    assert read(tree(files, **BOTH), "src/new.test.ts").runner == "jest"


@pytest.mark.parametrize(
    ("version", "has", "lacks"),
    [
        ("19.0.2", "--testResultsProcessor={reporter}", "--ci"),
        ("21.2.1", "--ci", "--testResultsProcessor={reporter}"),
        ("23.6.0", "--bail=false", "--bail=0"),
        ("26.6.3", "--bail=0", "--bail=false"),
    ],
)
def test_each_version_of_jest_gets_its_options(version: str, has: str, lacks: str) -> None:
    """Options that one version needs are unknown to another; the locked version counts, which package.json may not
    name."""
    lock = f'{YARN_1}\njest@^1:\n  version "{version}"\n'
    found = read(tree({"yarn.lock": lock}, devDependencies={"jest": "^1"}))
    assert found.runner_version == version
    assert has in found.test and lacks not in found.test
    assert found.selection == (("--runTestsByPath", "{files}") if version > "22" else ("{files}",))


@pytest.mark.parametrize(
    ("version", "off"),
    [
        ("^0.34.6", "--coverage=false"),
        ("1.2.2", "--coverage=false"),
        ("1.3.0", "--coverage.enabled=false"),
        ("^2.1.0", "--coverage.enabled=false"),
    ],
)
def test_each_version_of_vitest_gets_its_options(version: str, off: str) -> None:
    """Before Vitest 1.3, `--coverage.enabled=false` switches coverage on: without the coverage package, no test ran."""
    words = read(tree(devDependencies={"vitest": version})).test
    assert [word for word in words if "coverage" in word] == [off]


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("jest --coverage --config config/jest.json -u", ("--config", "config/jest.json")),
        ("jest --config=config/jest.json --watch src", ("--config=config/jest.json",)),
        ("jest --env=jsdom --runInBand", ("--env=jsdom",)),
        ("jest --config", ("--config",)),
    ],
)
def test_arguments_that_shape_the_tests_are_kept(script: str, words: tuple[str, ...]) -> None:
    test = read(tree(scripts={"test": script})).test
    assert test[-len(words) - 1 : -1] == words
    assert "-u" not in test and "--watch" not in test


@pytest.mark.parametrize(
    ("script", "env"),
    [
        ("TZ=Asia/Tokyo jest", {"TZ": "Asia/Tokyo"}),
        ("cross-env NODE_ENV=test CI=true jest", {"NODE_ENV": "test", "CI": "true"}),
        ("NODE_OPTIONS=--no-warnings node --experimental-vm-modules node_modules/jest/bin/jest.js", {
            "NODE_OPTIONS": "--no-warnings --experimental-vm-modules",
        }),
        ("node -r esbuild-register node_modules/.bin/jest", {"NODE_OPTIONS": "-r esbuild-register"}),
    ],
)  # fmt: skip
def test_variables_and_options_of_node_are_kept(script: str, env: dict[str, str]) -> None:
    assert read(tree(scripts={"test": script})).test_env == env


@pytest.mark.parametrize(
    ("script", "env"),
    [
        ("env-cmd -f .env.test jest", {"TZ": "Asia/Tokyo", "NAME": "a b"}),
        ("env-cmd ./.env.test jest", {"TZ": "Asia/Tokyo", "NAME": "a b"}),
        ("TZ=UTC dotenv --file=.env.test -- jest", {"TZ": "UTC", "NAME": "a b"}),
        ("dotenvx run -f .env -f .env.test -- jest", {"TZ": "Asia/Tokyo", "NAME": "a b", "MODE": "plain"}),
        ("dotenv -- jest", {"MODE": "plain"}),
        ("dotenv -e .env.missing -- jest", {}),
        ("cross-env A=.env.test jest", {"A": ".env.test"}),
    ],
)
def test_variables_of_environment_files_are_kept(script: str, env: dict[str, str]) -> None:
    """Programs before the runner set them; we start the runner itself."""
    files = {
        ".env": "MODE=plain\n",
        ".env.test": "# it's\nexport TZ=Asia/Tokyo\nNAME='a b' # c\nODD='\nHOME_OF=$HOME\n",
    }
    assert read(tree(files, scripts={"test": script})).test_env == env


def test_mocha_runs_the_files_or_what_its_script_names() -> None:
    script = "cross-env NODE_ENV=test mocha -r @babel/register --timeout=9000 'src/**/*.spec.js' --watch"
    found = read(tree(devDependencies={"mocha": "^10"}, scripts={"test": script}))
    assert found.test[-4:] == ("-r", "@babel/register", "--timeout=9000", "{files}")
    assert (found.selection, found.everything) == (("{files}",), ("src/**/*.spec.js",))
    assert found.test_env == {"NODE_ENV": "test", "TEST_REPORT": "{report}"}


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("mocha", ["--timeout=60000"]),
        ("mocha --timeout=9000", ["--timeout=9000"]),
        ("mocha --timeout 9000", ["--timeout", "9000"]),
        ("mocha -t 9000", ["-t", "9000"]),
    ],
)
def test_mocha_gets_a_longer_timeout(script: str, expected: list[str]) -> None:
    """Its default timeout of two seconds fails tests on a busy machine; a repository that sets its own keeps it."""
    found = read(tree(devDependencies={"mocha": "^8"}, scripts={"test": script}))
    assert [word for word in found.test if "-t" in word or word == "9000"] == expected


def test_the_runner_of_node_is_node() -> None:
    found = read(tree(devDependencies={}, scripts={"test": "node --import tsx --test 'test/*.ts'"}))
    assert (found.entries, found.runner_version) == ((), "20")
    assert found.test[:2] == ("node", "--test")
    assert found.test[-3:] == ("--import", "tsx", "{files}")
    assert found.everything == ("test/*.ts",)


def test_web_test_runner_gets_files_and_our_configuration() -> None:
    """A script may pass a configuration or the name of a group, which are no tests. Web Test Runner refuses
    `--playwright` beside our browsers."""
    script = "wtr --config wtr-unit.config.mjs 'src/**/*.test.js' --node-resolve --coverage --playwright --group unit"
    found = read(
        tree(
            {"wtr-unit.config.mjs": "", "web-test-runner.config.js": ""},
            devDependencies={"@web/test-runner": "^0.18.0"},
            scripts={"test": script},
        ),
        "src/menu.test.js",
    )
    assert (found.runner, found.browser, found.everything) == ("wtr", "chromium", ("src/**/*.test.js",))
    assert (found.configuration, found.test_env["WTR_CONFIG"]) == ("wtr-unit.config.mjs",) * 2
    assert found.test == ("node", "{entry}", "--config", "{reporter}", "--node-resolve", "{files}")


def test_karma_runs_its_whole_bundle() -> None:
    """The browser loads one bundle, so files cannot be selected."""
    files = {"config/karma.conf.js": "", "src/karma.conf.js": ""}
    script = "karma start config/karma.conf.js --single-run"
    found = read(tree(files, devDependencies={"karma": "^6"}, scripts={"test": script}))
    assert (found.selection, found.configuration) == ((), "config/karma.conf.js")
    assert found.test_env["KARMA_CONFIG"] == "config/karma.conf.js"


@pytest.mark.parametrize(
    ("manifest", "entry", "test"),
    [
        ({"scripts": {"test": "react-scripts test --env=jsdom"}, "devDependencies": {"react-scripts": "4.0.0"}},
         "node_modules/react-scripts/bin/react-scripts.js", ("node", "{entry}", "test", "--json")),
        ({"scripts": {"test": "tsdx test"}, "devDependencies": {"tsdx": "^0.14"}},
         "node_modules/tsdx/dist/index.js", ("node", "{entry}", "test", "--json")),
        ({"scripts": {"test": "wp-scripts test-unit-js"}, "devDependencies": {"@wordpress/scripts": "13.0.1"}},
         "node_modules/@wordpress/scripts/bin/wp-scripts.js", ("node", "{entry}", "test-unit-js", "--json")),
        ({"scripts": {"test": "grommet check -t"}, "devDependencies": {"grommet-cli": "5.1.0"}},
         "node_modules/jest/bin/jest.js", ("node", "{entry}", "--json", "--outputFile={report}")),
    ],
)  # fmt: skip
def test_wrappers_name_the_runner_that_they_include(
    manifest: dict[str, Any], entry: str, test: tuple[str, ...]
) -> None:
    """A wrapper with its own configuration is called itself; otherwise the runner is called."""
    found = read(tree(**manifest))
    assert (found.runner, found.entries[0], found.test[:4]) == ("jest", entry, test)


@pytest.mark.parametrize(
    ("test", "words", "browser"),
    [("src/tabs/tabs.spec.tsx", (), ""), ("src/tabs/test/tabs.e2e.ts", ("--e2e",), "chromium")],
)
def test_stencil_compiles_the_components_for_jest(test: str, words: tuple[str, ...], browser: str) -> None:
    """Jest alone could not read them. Tests in a browser need a build; the others do not wait for it."""
    asked = {"@stencil/core": "^4.0.0", "jest": "^29"}
    found = read(tree(devDependencies=asked, scripts={"test": "stencil test --spec --e2e"}), test)
    assert (found.runner, found.parser, found.browser) == ("jest", "jest-json", browser)
    assert found.entries[0] == "node_modules/@stencil/core/bin/stencil"
    assert found.test[:4] == ("node", "{entry}", "test", "--spec")
    assert found.test[-1 - len(words) : -1] == words
    assert found.selection == ("--runTestsByPath=true", "--", "{files}")


def test_mocha_behind_a_typescript_wrapper_is_called_directly() -> None:
    """It loads TypeScript; Mocha alone read the tests as JavaScript."""
    found = read(tree(devDependencies={"ts-mocha": "^10", "mocha": "^9"}, scripts={"test": "ts-mocha tests/**/*.ts"}))
    assert (found.runner, found.entries[0]) == ("mocha", "node_modules/ts-mocha/bin/ts-mocha")
    assert found.test[:3] == ("node", "{entry}", "--reporter")


def test_a_runner_that_only_a_wrapper_has_is_found_in_it() -> None:
    """At the top level, or below the wrapper: which file exists is decided when the tests are run."""
    files = {"scripts/test.sh": 'node "$(yarn bin jest)" --ci\n'}
    found = read(tree(files, scripts={"test": "./scripts/test.sh"}, devDependencies={"tsdx": "^0.14.1"}))
    assert found.evidence["runner"] == "package.json: scripts.test: scripts/test.sh: node node_modules/.bin/jest --ci"
    assert found.entries == (
        "node_modules/jest/bin/jest.js",
        "node_modules/jest-cli/bin/jest.js",
        "node_modules/tsdx/node_modules/jest/bin/jest.js",
        "node_modules/tsdx/node_modules/jest-cli/bin/jest.js",
    )


# -- folders --------------------------------------------------------------------------------------------------------
def monorepo(root: dict[str, Any], files: dict[str, str] | None = None, **packages: dict[str, Any]) -> Any:
    """A repository of yarn workspaces: `packages/NAME` with these fields."""
    manifests = {f"packages/{name}/package.json": package(**fields) for name, fields in packages.items()}
    return of({"package.json": package(workspaces=["packages/*"], **root)} | LOCK | manifests | (files or {}))


MENU, TABS = "packages/menu/src/menu.test.ts", "packages/tabs/src/tabs.test.ts"


def test_the_nearest_package_with_a_runner_is_tested() -> None:
    found = read(monorepo({}, menu=JEST, tabs=VITEST), MENU)
    assert (found.runner, found.folder) == ("jest", "packages/menu")
    assert found.evidence["folder"] == "package.json: packages/*"
    assert [entry.count("../") for entry in found.entries[::2]] == [0, 1, 2]
    assert read(monorepo({}, menu=JEST, tabs=VITEST), TABS).runner == "vitest"


def test_a_package_without_a_runner_is_run_from_the_root() -> None:
    assert read(monorepo(JEST, menu={}), MENU).folder == ""


@pytest.mark.parametrize(
    ("root", "files"),
    [
        (JEST, {"jest.config.js": "module.exports = { projects: ['<rootDir>/packages/*'] }\n"}),
        (JEST | {"jest": {"projects": ["packages/*"]}}, {}),
    ],
)
def test_a_root_that_tests_its_packages_is_run(root: dict[str, Any], files: dict[str, str]) -> None:
    found = read(monorepo(root, files, menu=JEST), MENU)
    assert (found.folder, found.evidence["folder"]) == ("", "the root runs the packages' tests")


@pytest.mark.parametrize(
    ("script", "configured", "folder"),
    [("turbo run test", True, "packages/menu"), ("jest", True, ""), ("turbo run test", False, "")],
)
def test_a_package_whose_own_script_tests_it_is_run_there(script: str, configured: bool, folder: str) -> None:
    """Its configuration depends on the working directory, and no script starts the runner at the root."""
    files = {"jest.config.js": "module.exports = { projects: ['<rootDir>/packages/*'] }\n"}
    own = {"packages/menu/jest.config.js": "module.exports = {}\n"} if configured else {}
    menu = JEST | {"scripts": {"test": "jest"}}
    assert read(monorepo(JEST | {"scripts": {"test": script}}, files | own, menu=menu), MENU).folder == folder


def test_tests_of_several_packages_run_from_the_root() -> None:
    """The root if it has a runner, otherwise the package with most of them; the log names packages whose tests are left
    out."""
    both = {"menu": JEST, "tabs": JEST}
    assert read(monorepo(JEST, **both), MENU, TABS).folder == ""
    mixed = {"menu": VITEST, "tabs": {"devDependencies": {"mocha": "^10"}}}
    assert read(monorepo(JEST, **mixed), MENU, TABS).runner != "jest", "nothing calls or configures the root's"
    found = read(monorepo({}, **both), MENU, "packages/tabs/a.test.ts", TABS)
    assert found.folder == "packages/tabs"
    assert found.evidence["folder"].endswith("those of packages/menu are left out")


def test_a_folder_that_is_no_workspace_has_nothing_installed() -> None:
    files = {"examples/app/package.json": package(**VITEST)}
    assert read(monorepo(JEST, files), "examples/app/a.test.ts").runner == "jest"


def test_pnpm_hoists_dependencies_of_dependencies() -> None:
    found = read(tree({"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}))
    assert found.entries[-2] == "node_modules/.pnpm/node_modules/jest/bin/jest.js"


def test_packages_find_what_pnpm_hoists_for_them() -> None:
    """As with pnpm's own scripts in `node_modules/.bin`, in the folder of the package as well."""
    lock = {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}
    assert read(tree(lock)).test_env["NODE_PATH"] == "node_modules/.pnpm/node_modules"
    found = read(monorepo({}, lock, menu=JEST), MENU)
    assert (found.folder, found.test_env["NODE_PATH"]) == ("packages/menu", "../../node_modules/.pnpm/node_modules")
    assert "NODE_PATH" not in read(tree({})).test_env


# -- what cannot be run --------------------------------------------------------------------------------------------
@pytest.mark.invariant(7)
@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "there is no package.json"),
        (
            {"package.json": package(devDependencies={"tape": "^5"})},
            "names none of: jest, .*; it has no scripts",
        ),
        ({"package.json": package(scripts={"test": "gulp test"})}, "scripts.test is 'gulp test'"),
        ({"package.json": package(devDependencies=None)}, "names none of"),
    ],
)
def test_a_package_without_a_runner_is_refused_with_the_reason(files: dict[str, str], message: str) -> None:
    with pytest.raises(Unsupported, match=message) as error:
        read(of(files))
    assert error.value.reason == "runner_unsupported"


def test_tests_of_other_tools_are_refused() -> None:
    """The runner would fail them with and without the fix."""
    with pytest.raises(Unsupported, match=r"another tool: cypress/e2e/toast.cy.ts \(Cypress:"):
        read(tree(), "cypress/e2e/toast.cy.ts")
    assert read(tree(), "cypress/e2e/toast.cy.ts", "src/a.test.ts").runner == "jest"
    by_framework = tree({"tests/menu-test.js": "import { setupRenderingTest } from 'ember-qunit';"})
    with pytest.raises(Unsupported, match=r"another tool: tests/menu-test.js \(Ember:"):
        read(by_framework, "tests/menu-test.js")
    by_name = tree({"packages/menu/tests/link-to-test.js": "import 'internal-test-helpers';"},
                   devDependencies={"mocha": "^10", "ember-cli": "^4"})  # fmt: skip
    with pytest.raises(Unsupported, match=r"another tool: packages/menu/tests/link-to-test.js \(Ember:"):
        read(by_name, "packages/menu/tests/link-to-test.js")
    assert read(by_name, "node-tests/blueprints/menu-test.js").runner == "mocha"
    driven = tree({"test/specs/menu.spec.js": "it('a', async () => { await browser.url('test/menu.html'); });"})
    with pytest.raises(Unsupported, match=r"another tool: test/specs/menu.spec.js \(WebdriverIO:"):
        read(driven, "test/specs/menu.spec.js")
    by_import = tree({"e2e/modal.e2e-spec.ts": "import {Key} from 'protractor';"})
    with pytest.raises(Unsupported, match=r"another tool: e2e/modal.e2e-spec.ts \(Protractor:"):
        read(by_import, "e2e/modal.e2e-spec.ts")


@pytest.mark.parametrize(
    "text",
    [
        "import mount from '../../../cypress/support/component-helper/mount';\n",
        "describe('menu', () => {\n  it('opens', () => {\n    cy.visit('/menu');\n  });\n});\n",
        "import { mount } from '@cypress/vue'\n",
    ],
)
def test_tests_of_cypress_are_refused_by_what_they_call(text: str) -> None:
    """Such a test may stand beside a component, named like the tests of Jest, which found none after an install."""
    made = tree({"src/menu/menu.test.js": text, "src/menu/menu.spec.js": "cy.mount(graph); legacy.visit('/menu');"})
    with pytest.raises(Unsupported, match=r"another tool: src/menu/menu.test.js \(Cypress:"):
        read(made, "src/menu/menu.test.js")
    assert read(made, "src/menu/menu.test.js", "src/menu/menu.spec.js").runner == "jest"


def test_tests_of_testcafe_are_refused_by_their_fixtures() -> None:
    """Such a test imports nothing, and the root's Jest found no tests in it; Lit's fixtures are called in tests."""
    text = "fixture.disablePageReloads`Accessibility`.page(url);\n"
    made = tree({"e2e/tests/menu.ts": text, "test/menu.test.js": "it('a', async () => {\n  fixture(html`<x-a>`);\n});"})
    with pytest.raises(Unsupported, match=r"another tool: e2e/tests/menu.ts \(TestCafe:"):
        read(made, "e2e/tests/menu.ts")
    assert read(made, "test/menu.test.js").runner == "jest"


@pytest.mark.parametrize("text", ["import { module, test } from 'qunit';", "QUnit.module('menu');\nQUnit.test('a', f)"])
def test_tests_of_qunit_are_refused_unless_karma_runs_them(text: str) -> None:
    """Mocha or Jest, which other tests of the repository need, found no tests in them."""
    made = tree({"test/menu.js": text}, devDependencies={"mocha": "^10"})
    with pytest.raises(Unsupported, match=r"another tool: test/menu.js \(QUnit:"):
        read(made, "test/menu.js")
    packages = {"karma": "^6", "mocha": "^10"}
    configured = {"test/menu.js": text, "karma.conf.js": ""}
    assert (
        read(tree(configured, devDependencies=packages, scripts={"test": "karma start"}), "test/menu.js").runner
        == "karma"
    )


TARGETS = {"src/button/BUILD.bazel": "", "scripts/run-tests.js": "execute('bazel', ['test', '//src/button'])"}
KARMA = {"karma": "^6"}


@pytest.mark.parametrize("script", ["bazel test //src/...", "node ./scripts/run-tests.js"])
def test_tests_that_only_bazel_compiles_are_refused(script: str) -> None:
    """Karma is a dependency of Bazel's rules; an install took minutes, and nothing ran."""
    spec, root = "src/button/button.spec.ts", {"devDependencies": KARMA, "scripts": {"test": script}}
    with pytest.raises(Unsupported, match=r"another tool: src/button/button.spec.ts \(Bazel:"):
        read(tree(TARGETS, **root), spec)
    assert read(tree(TARGETS, devDependencies=KARMA, scripts={"test": "gulp test"}), spec).runner == "karma"
    assert read(tree(**root), spec).runner == "karma"
    jest = root | {"devDependencies": KARMA | {"jest": "^29"}}
    assert read(tree(TARGETS | {"jest.config.js": ""}, **jest), spec).runner == "jest"
    assert read(tree(TARGETS, jest={}, **jest), spec).runner == "jest"


@pytest.mark.parametrize(
    ("asked", "browser"),
    [
        ({"karma": "^6"}, "karma runs its tests in one"),
        ({"@playwright/experimental-ct-react": "1.40.0"}, "playwright runs its tests in one"),
        ({"vitest": "^3", "@vitest/browser": "^3"}, "package.json: depends on @vitest/browser"),
        ({"jest": "^29", "jest-puppeteer": "^9"}, "package.json: depends on jest-puppeteer"),
        ({"vitest": "^3"}, "nothing asks for one"),
        ({"jest": "^29", "puppeteer": "^22"}, "nothing asks for one"),
    ],
)
def test_a_runner_that_needs_a_browser_gets_one(asked: dict[str, str], browser: str) -> None:
    """In no other case: a test that occasionally starts a browser says so in its log."""
    found = read(tree(devDependencies=asked))
    assert found.evidence["browser"] == browser
    assert found.browser == ("" if browser == "nothing asks for one" else "chromium")


def test_tests_of_a_program_that_drives_a_browser_get_one() -> None:
    """A command-line tool started Chromium, and its tests only saw that it ended with another code."""
    test = {"test/cli.test.js": "const puppeteer = require('puppeteer');\n"}
    development = {"devDependencies": {"mocha": "^7", "puppeteer": "^2"}}
    assert read(tree(test, **development), "test/cli.test.js").browser == "chromium"
    assert read(tree(test, **development), "test/other.test.js").browser == ""
    shipped = {"devDependencies": {"mocha": "^7"}, "dependencies": {"puppeteer": "^2"}}
    assert read(tree(**shipped)).evidence["browser"] == "package.json: ships with puppeteer"


@pytest.mark.parametrize(
    ("files", "manifest", "message"),
    [
        (["cypress/e2e/menu.cy.ts"], JEST, r"menu.cy.ts \(Cypress: its program comes from a host of its own"),
        (["src/menu.cy.tsx"], JEST, "Cypress"),
        (
            [],
            {"devDependencies": {}, "scripts": {"test": "cypress run"}},
            "its scripts call Cypress: its program",
        ),
        (
            [],
            {"devDependencies": {}, "scripts": {"test": "x", "e2e": "npx detox test"}},
            "call Detox: it needs",
        ),
    ],
)
def test_unsupported_tests_are_refused_before_an_install(
    files: list[str], manifest: dict[str, Any], message: str
) -> None:
    with pytest.raises(Unsupported, match=message) as end:
        read(tree(**manifest), *files)
    assert end.value.reason == "runner_unsupported"


def test_a_file_name_does_not_indicate_a_tool_without_its_dependency() -> None:
    """Playwright's tests were taken for Detox's."""
    playwright = {"devDependencies": {"@playwright/test": "1.40.0"}, "scripts": {"e2e": "playwright test"}}
    assert read(tree(**playwright), "e2e/menu.e2e.ts").runner == "playwright"
    with pytest.raises(Unsupported, match="Detox"):
        read(tree(devDependencies={"detox": "20", "jest": "29"}), "e2e/menu.e2e.ts")


CONFIGURED = """
export default defineConfig({
  projects: [
    { name: "chromium", use: { ...devices["Desktop Chrome"] } },
    { name: 'firefox', use: { ...devices["Desktop Firefox"] } },
    { name: "Mobile", use: { ...devices["iPhone 13"] } },
    { name: "dark", use: { colorScheme: "dark" } },
  ],
});
"""


@pytest.mark.parametrize(
    ("text", "script", "words"),
    [
        (CONFIGURED, "playwright test", ["--project=chromium", "--project=dark"]),
        (CONFIGURED, "playwright test --project firefox", ["--project=chromium", "--project=dark"]),
        (CONFIGURED, "playwright test --project=dark --project firefox", ["--project=dark"]),
        (CONFIGURED, "playwright test --project dark", ["--project", "dark"]),
        (CONFIGURED.replace("firefox", "edge").replace("Firefox", "Chrome").replace("iPhone", "Pixel"), "x", []),
        (
            CONFIGURED.replace("  ],", "    // { name: 'Mobile Chrome', use: { ...devices['Pixel 5'] } },\n  ],"),
            "playwright test",
            ["--project=chromium", "--project=dark"],
        ),
        ("projects: [{ name: 'chromium' }, /* { name: 'webkit' } */]", "playwright test", []),
        ("export default { name: 'webkit' };", "playwright test", []),
        ("", "playwright test", []),
    ],
)
def test_projects_for_missing_browsers_are_left_out(text: str, script: str, words: list[str]) -> None:
    """They would fail with the fix, too, and gold would be rejected. Those in comments, as in Playwright's template, do
    not exist."""
    asked = {"devDependencies": {"@playwright/test": "1.50.0"}, "scripts": {"test": script}}
    found = read(tree({"playwright.config.ts": text}, **asked))
    assert [word for word in found.test if "project" in word or word in ("firefox", "dark")] == words


@pytest.mark.parametrize(
    ("file", "script", "words"),
    [
        ("playwright-ct.config.ts", "playwright test", ["--config=playwright-ct.config.ts"]),
        ("playwright-ct.config.ts", "playwright test -c playwright-ct.config.ts", ["playwright-ct.config.ts"]),
        ("playwright.config.ts", "playwright test", []),
    ],
)
def test_a_configuration_that_the_runner_would_not_find_is_passed_to_it(
    file: str, script: str, words: list[str]
) -> None:
    """Older versions of Playwright's component tests start without any configuration, and then none finds its
    browser."""
    asked = {"devDependencies": {"@playwright/experimental-ct-react": "1.40.0"}, "scripts": {"test": script}}
    found = read(tree({file: ""}, **asked))
    assert [word for word in found.test if "config" in word] == words


@pytest.mark.parametrize(
    ("script", "configuration"),
    [
        ("karma start --single-run tests/karma.config.js", "tests/karma.config.js"),
        ("karma start tests/karma.js", "tests/karma.js"),
        ("karma start", "karma.conf.js"),
        ("mocha --require ./config/dom.js", ".mocharc.js"),
        ("mocha --config config/unit.js", "config/unit.js"),
        ("jest --config=config/unit.js", "config/unit.js"),
        ("jest -c config/unit.js", "config/unit.js"),
    ],
)
def test_a_configuration_named_by_the_call_is_used(script: str, configuration: str) -> None:
    """`./config/dom.js`, which Mocha loads, was taken for its configuration, and `karma.config.js` was not."""
    names = ("tests/karma.config.js", "tests/karma.js", "karma.conf.js", "config/dom.js", "config/unit.js",
             ".mocharc.js", "jest.config.js")  # fmt: skip
    packages = {"karma": "^6.0.0", "mocha": "^10.0.0", "jest": "^29.0.0"}
    made = tree(dict.fromkeys(names, ""), scripts={"test": script}, devDependencies=packages)
    assert read(made, "src/menu.test.js").configuration == configuration


@pytest.mark.parametrize(
    ("script", "configuration"),
    [
        ("karma start ./scripts/karma/local.js", "./scripts/karma/local.js"),
        ("karma start scripts/local.js --single-run", "scripts/local.js"),
        ("karma start scripts/local.js test/karma.conf.js", "test/karma.conf.js"),
        ("karma start --helper scripts/local.js", "karma.conf.js"),
        ("karma start scripts/none.js", "karma.conf.js"),
        ("playwright test scripts/local.js", ""),
        ("jest scripts/local.js", ""),
    ],
)
def test_a_runner_that_is_given_no_tests_takes_a_configuration_of_any_name(script: str, configuration: str) -> None:
    """Karma's usual configuration was taken, which another script uses."""
    names = ("scripts/karma/local.js", "scripts/local.js", "test/karma.conf.js", "karma.conf.js")
    packages = {"karma": "^6.0.0", "jest": "^29.0.0", "@playwright/test": "^1"}
    made = tree(dict.fromkeys(names, ""), scripts={"test": script}, devDependencies=packages)
    assert read(made, "src/menu.test.js").configuration == configuration


@pytest.mark.parametrize(
    ("names", "script", "configuration"),
    [
        (("karma-base.conf.js", "karma-ci.conf.js", "karma.conf.js"), "karma start", "karma.conf.js"),
        (("test/karma-conf.js",), "karma start", "test/karma-conf.js"),
        (("vite.config.mts", "vitest.config.mts"), "vitest", "vitest.config.mts"),
        (("packages/a/karma.conf.js", "karma-all.conf.js"), "karma start", "karma-all.conf.js"),
    ],
)
def test_the_configuration_with_the_usual_name_is_preferred(
    names: tuple[str, ...], script: str, configuration: str
) -> None:
    """The first one by name was taken, which only exists for other programs to load."""
    packages = {"karma": "^6.0.0", "vitest": "^3.0.0"}
    made = tree(dict.fromkeys(names, ""), scripts={"test": script}, devDependencies=packages)
    assert read(made, "src/menu.test.js").configuration == configuration


def test_all_tests_run_if_the_script_selects_them_at_run_time() -> None:
    paths = ("src/a.test.js", "src/b.test.js", "src/c.js", "cypress/integration/d.spec.js")
    scripts = {"test": "mocha $(find src -name '*.test.js') --exit"}
    made = tree(dict.fromkeys(paths, ""), scripts=scripts, devDependencies={"mocha": "^5.0.0"})
    found = read(made, "src/a.test.js")
    assert found.everything == ("src/a.test.js", "src/b.test.js") and "--exit" in found.test


@pytest.mark.parametrize(
    ("instances", "word"),
    [
        ("[{ browser: 'chromium' }, { browser: 'webkit' }]", "--browser.name=chromium"),
        ("[{ browser: 'chrome' }, { browser: 'firefox' }]", "--browser.name=chrome"),
        ("[{ browser: 'chromium' }]", ""),
        ("[{ browser: 'firefox' }]", ""),
    ],
)
def test_instances_of_vitest_for_missing_browsers_are_left_out(instances: str, word: str) -> None:
    """One instance for a browser that the image lacks made all instances fail."""
    files = {"vitest.config.ts": f"export default {{ test: {{ browser: {{ instances: {instances} }} }} }}"}
    packages = {"vitest": "^3.0.0", "@vitest/browser": "^3.0.0"}
    made = tree(files, devDependencies=packages, scripts={"test": "vitest --project=browser"})
    found = [argument for argument in read(made, "src/a.test.ts").test if argument.startswith("--browser")]
    assert found == ([word] if word else [])
