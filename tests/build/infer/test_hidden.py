"""Runners that a test command starts although no manifest names them."""

from __future__ import annotations

import pytest
from trees import YARN_1, of, package, read, tree

from pipeline.build.infer import Unsupported, place
from pipeline.core.records import Environment

STARTS = {"lint": "prettier .", "unit": "toolbox test", "ava": "ava && toolbox"}
KIT = {"packages/kit/package.json": package(name="@acme/kit", bin="./kit.js")}


@pytest.mark.parametrize(("script", "found"), [("toolbox test", True), ("ava", False), ("unknown test", False)])
def test_a_runner_that_an_unknown_program_includes_is_found(script: str, found: bool) -> None:
    """A company's tool started Jest. Running the base's own command shows how."""
    lock = YARN_1 + '\njest@^20.0.0:\n  version "20.0.4"\n'
    packages = {"@acme/toolbox": "1", "ava": "1"}
    files = {"package.json": package(scripts={"test": script}, devDependencies=packages), "yarn.lock": lock}
    if found:
        assert read(of(files), "src/menu.test.js").runner_version == "20.0.4"
    else:
        with pytest.raises(Unsupported):
            read(of(files), "src/menu.test.js")


@pytest.mark.parametrize(
    ("script", "configuration"),
    [
        ("toolbox test --config test/unit/jest.config.js --watch", "test/unit/jest.config.js"),
        ("A=1 npx toolbox -c test/unit/jest.config.js", "test/unit/jest.config.js"),
        ("yarn toolbox --config=jest-unit.config.js", "jest-unit.config.js"),
    ],
)
def test_the_configuration_passed_to_an_unknown_program_shows_the_runner(script: str, configuration: str) -> None:
    """A company's tool installed Jest, and no manifest named it; where one did, Jest ran without configuration."""
    scripts = {"test": "npm run lint && npm run test-unit", "test-unit": script, "lint": "eslint ."}
    manifest = package(scripts=scripts, devDependencies={"@acme/toolbox": "1"})
    found = read(of({"package.json": manifest, configuration: ""}), "src/menu.test.js")
    assert (found.runner, found.configuration) == ("jest", configuration)
    assert configuration in " ".join(found.test)
    assert "node_modules/@acme/toolbox/node_modules/jest/bin/jest.js" in found.entries


@pytest.mark.parametrize(
    "script", ["vite build -c vite.config.ts", "toolbox -c jests.config.js", "toolbox --jest.conf"]
)
def test_a_configuration_that_belongs_to_no_runner_is_ignored(script: str) -> None:
    with pytest.raises(Unsupported):
        read(tree(devDependencies={}, scripts={"test": script}), "src/menu.test.js")


@pytest.mark.parametrize(
    ("scripts", "runner"),
    [
        ({"test": "acme-cli test", "test:e2e": "playwright test"}, "jest"),
        ({"test": "acme-cli test", "test:browser": "playwright test"}, "playwright"),
        ({"test": "gulp test", "test:e2e": "playwright test"}, "playwright"),
        ({"test": "eslint .", "test:e2e": "playwright test"}, "playwright"),
        ({"test": "acme-cli lint && vitest", "test:e2e": "playwright test"}, "vitest"),
    ],
)
def test_a_runner_for_a_served_application_does_not_hide_what_a_tool_starts(
    scripts: dict[str, str], runner: str
) -> None:
    """The repository's own tool installed Jest; Playwright was a dependency, with a configuration at the root."""
    lock = YARN_1 + '\njest@^29.0.0:\n  version "29.0.0"\n'
    own = package(name="@acme/cli", bin={"acme-cli": "bin/cli.js"})
    files = {"packages/cli/package.json": own, "yarn.lock": lock, "playwright.config.ts": ""}
    depends = {"@playwright/test": "1", "eslint": "9"}
    root = package(scripts=scripts, workspaces=["packages/*"], devDependencies=depends)
    assert read(of({"package.json": root} | files), "packages/ui/menu.test.ts").runner == runner
    imported = {"packages/ui/menu.test.ts": "import { test } from '@playwright/test'"}
    assert read(of({"package.json": root} | files | imported), "packages/ui/menu.test.ts").runner == "playwright"


@pytest.mark.parametrize(
    ("files", "configured"),
    [
        (("cjs/jest.config.cjs",), True),
        (("jest.config.js",), True),
        (("src/jest.config.ts",), False),
        (("cjs/jest.config.cjs", "template/jest.config.js"), False),
        ((), False),
    ],
)
def test_the_configuration_of_the_repositorys_own_tool_is_taken(files: tuple[str, ...], configured: bool) -> None:
    """It started Jest by its interface; the package's own configuration alone has neither a page nor a transform."""
    tool = package(name="@acme/cli", bin={"acme-cli": "bin.js"}, dependencies={"jest": "^27"})
    ui = package(name="ui", scripts={"test": "A=1 acme-cli test"}, devDependencies={"@acme/cli": "workspace:*"})
    texts = {
        "package.json": package(workspaces=["packages/*"], scripts={"test": "pnpm test --dir ./packages/ui"}),
        "packages/cli/package.json": tool,
        "packages/ui/package.json": ui,
        "packages/ui/jest.config.js": "module.exports = {};",
    }
    found = read(of(texts | {f"packages/cli/{name}": "" for name in files}), "packages/ui/src/menu.test.js")
    assert (found.runner, found.folder, found.test_env.get("A")) == ("jest", "packages/ui", "1")
    assert found.configuration == (f"../cli/{files[0]}" if configured else "jest.config.js")
    assert ("--rootDir" in found.test) is configured


def started(script: str, *packages: str) -> Environment:
    """The environment for a test command with these dependencies and `kit`, a program of the repository."""
    depends = dict.fromkeys(("@types/jest", *packages), "1")
    return read(tree(KIT, devDependencies=depends, scripts=STARTS | {"test": script}), "src/menu.test.js")


@pytest.mark.parametrize(
    ("script", "package_name"),
    [
        ("npm run lint && npm run unit", "toolbox"),
        ("cross-env A=1 toolbox test", "toolbox"),
        ("env-cmd -f .env.test toolbox test", "toolbox"),
        ("NODE_OPTIONS=--no-warnings npx toolbox", "toolbox"),
        ("ac-toolbox test", "@acme/toolbox"),
        ("kit test", "react"),
    ],
)
def test_the_program_that_a_test_command_finally_starts_is_found(script: str, package_name: str) -> None:
    """Variables, launchers and other scripts hid the program that provides the runner."""
    assert started(script, package_name).evidence["runner"] == "package.json: @types/jest, a sign of jest"


@pytest.mark.parametrize(
    "root",
    [{}, {"test": "yarn workspaces run test"}, {"test": "node run.js test"}, {"test": "A=1 lerna exec -- yarn test"}],
)
@pytest.mark.parametrize("package_name", ["toolbox", "@acme/toolbox", "@toolbox/toolbox"])
def test_the_program_that_a_packages_test_command_starts_is_found(root: dict[str, str], package_name: str) -> None:
    """Only the root's command was read. Without one, the package was rejected; where the root's happened to start
    Node or Lerna, the runner ran at the root, without the package's variables."""
    scripts = {"test": "TZ=UTC toolbox test"}
    files = {
        "yarn.lock": YARN_1 + '\njest@^26.6.3:\n  version "26.6.3"\n',
        "run.js": "",
        "packages/ui/package.json": package(name="ui", scripts=scripts, devDependencies={package_name: "1"}),
        "packages/docs/package.json": package(name="docs", scripts={"test": "echo none"}),
    }
    made = tree(files, workspaces=["packages/*"], scripts=root, devDependencies={"lerna": "3"})
    found = read(made, "packages/ui/src/menu.test.js", "packages/ui/src/tabs.test.js", "packages/docs/docs.test.js")
    assert (found.runner, found.runner_version, found.folder) == ("jest", "26.6.3", "packages/ui")
    assert found.test_env["TZ"] == "UTC"
    assert found.evidence["folder"] == "package.json: packages/*"
    assert f"../../node_modules/{package_name}/node_modules/jest/bin/jest.js" in found.entries


@pytest.mark.parametrize(
    ("program", "package_name", "found"),
    [
        ("acme-scripts", "@acme/scripts-core", True),
        ("acme-scripts", "@acme/scripting", False),
        ("acme-scripts", "@other/scripts-core", False),
        ("acme", "@acme/core", False),
        ("scripts", "scripts-core", False),
    ],
)
def test_a_program_may_have_the_first_words_of_its_packages_name(program: str, package_name: str, found: bool) -> None:
    """A company's program was in the core of a family of packages, and its repositories were rejected."""
    if found:
        assert started(f"{program} test", package_name).runner == "jest"
    else:
        with pytest.raises(Unsupported):
            started(f"{program} test", package_name)


def test_a_hidden_runner_gets_the_variables_of_the_commands_about_tests() -> None:
    """Those of a build before the tests do not reach them."""
    scripts = {
        "test": "NODE_ENV=production rollup -c && npm run unit && A=1 eslint .",
        "unit": "TZ=UTC node run.js test",
    }
    made = tree({"run.js": ""}, devDependencies={"toolbox": "1", "babel-jest": "1"}, scripts=scripts)
    found = read(made, "menu.test.js")
    assert (found.runner, found.test_env) == ("jest", {"TZ": "UTC"})


@pytest.mark.parametrize(
    ("script", "env"),
    [
        ("lerna exec --concurrency 1 -- TZ=UTC yarn test", {"TZ": "UTC"}),
        ("TZ=UTC lerna run test", {"TZ": "UTC"}),
        ("cross-env TZ=UTC yarn workspaces run test --silent", {"TZ": "UTC"}),
        ("export TZ=UTC && yarn workspaces foreach -A run test", {"TZ": "UTC"}),
        ("TZ=UTC npm test --workspaces --if-present", {"TZ": "UTC"}),
        ("TZ=UTC npm run -ws unit", {"TZ": "UTC"}),
        ("TZ=UTC pnpm -r test", {"TZ": "UTC"}),
        ("TZ=UTC turbo run test", {"TZ": "UTC"}),
        ("TZ=UTC nx run-many -t test", {"TZ": "UTC"}),
        ("yarn all", {"TZ": "UTC"}),
        ("cross-env TZ=UTC node run.js test", {"TZ": "UTC"}),
        ("TZ=UTC MODE=root lerna run test", {"TZ": "UTC"}),
        ("NODE_ENV=production lerna run build && lerna run test", {}),
        ("TZ=UTC jest && lerna run test", {}),
        ("lerna run test", {}),
    ],
)
def test_packages_get_the_variables_that_the_roots_command_gives_to_their_tests(
    script: str, env: dict[str, str]
) -> None:
    """Their snapshots had the hours of the root's time zone, which nothing repaired: other tests of the base passed."""
    member = package(name="ui", scripts={"test": "MODE=ui jest"}, devDependencies={"jest": "^29"})
    files = {"run.js": "", "packages/ui/package.json": member}
    scripts = {"test": script, "all": "yarn compile && TZ=UTC lerna run test", "compile": "tsc"}
    made = tree(files, workspaces=["packages/*"], scripts=scripts, devDependencies={"lerna": "3"})
    found = read(made, "packages/ui/menu.test.js")
    assert (found.folder, found.test_env) == ("packages/ui", {"MODE": "ui"} | env)
    assert ("the root's test command" in found.evidence["test_env"]) == bool(env)
    others = place.alternatives(made, made.root(), ["packages/ui/menu.test.js"])
    assert all(use.call.env.items() >= env.items() for use in others if use.folder)


@pytest.mark.parametrize("folder", ["examples/app", ""])
def test_only_packages_of_the_workspace_get_the_variables_of_the_roots_command(folder: str) -> None:
    """The root's command does not run the tests of an application with a lock file of its own, or its own tests."""
    app = package(name="app", scripts={"unit": "jest"}, devDependencies={"jest": "^29"})
    files = {"examples/app/package.json": app, "examples/app/yarn.lock": YARN_1}
    scripts = {"test": "TZ=UTC lerna run test", "unit": "jest"}
    made = tree(files, workspaces=["packages/*"], scripts=scripts)
    found = read(made, f"{folder}/menu.test.js".lstrip("/"))
    assert (found.folder, found.test_env) == (folder, {})


def test_a_configuration_at_the_root_keeps_a_hidden_runner_there() -> None:
    """A program that a package starts may read the root's configuration; in the package, there would be none."""
    member = package(name="ui", scripts={"test": "toolbox test"}, devDependencies={"toolbox": "1"})
    files = {"packages/ui/package.json": member, "vitest.config.ts": ""}
    made = tree(files, workspaces=["packages/*"], scripts={"test": "lerna run test"}, devDependencies={"lerna": "3"})
    found = read(made, "packages/ui/src/menu.test.js")
    assert (found.runner, found.folder, found.configuration) == ("vitest", "", "vitest.config.ts")


@pytest.mark.parametrize("script", ["npm run ava", "ac-toolbox test", "npm run lint"])
def test_a_tool_without_a_runner_is_not_mistaken_for_one(script: str) -> None:
    with pytest.raises(Unsupported):
        started(script, "ava", "toolbox")
