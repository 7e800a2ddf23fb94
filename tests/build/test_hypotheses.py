"""Other possible environments of an unhealthy base, derived from its files and its log."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trees import BERRY, DATE, LOCK, YARN_1, of, package, read, tree

from pipeline.build import hypotheses, observe
from pipeline.build.case import Case
from pipeline.build.history_lock import HistoryLock
from pipeline.build.hypotheses import INSTALLING, Hypothesis
from pipeline.build.infer import Tree
from pipeline.build.infer.scripts import Call
from pipeline.build.infer.tree import own_packages
from pipeline.build.infer.uses import Use
from pipeline.build.missing import missing_from
from pipeline.build.observe import Command, Observation
from pipeline.build.situation import Situation
from pipeline.core.records import Health, Nested
from pipeline.ecosystems import edits

SICK = Health(files=1)
NPM_TEST = Command(("npm", "run", "--silent", "test"), "", "package.json: scripts.test")


def case(files: Tree, log: str = "", tests: tuple[str, ...] = ("src/a.test.js",), **more: Any) -> Case:
    manifests = {path: files.text(path).encode() for path in files.paths if path.endswith(".json")}
    situation = more.pop("there", None) or Situation(manifests, lambda name: ["1.0.0", "2.0.0"])
    uses = more.pop("uses", [])
    environment = read(files, *tests).model_copy(update=more)
    return Case(files, DATE, tests, {}, environment, SICK, log, "/workspace/repo", situation, lambda: uses)


def named(one: Case, name: str, *, installs: bool = True) -> list[Hypothesis]:
    return [found for found in hypotheses.following(one, installs=installs) if found.name == name]


def words(found: list[Hypothesis]) -> list[str]:
    return [" ".join(hypothesis.environment.test) for hypothesis in found]


def test_the_observed_command_comes_first() -> None:
    """Its options are filtered like a script's: its own reporter is dropped."""
    call = Call("jest", ("--config", "build/unit.js", "--reporters=x"), {"NODE_ENV": "test"}, (), "observed: npm test")
    seen = Observation(Use("", "jest", "observed: npm test", call), NPM_TEST, False)
    first = next(hypotheses.following(case(tree(), uses=[seen]), installs=True))
    assert first.name == "observed" and "--config build/unit.js" in " ".join(first.environment.test)
    assert "--reporters=x" not in first.environment.test
    assert first.environment.test_env["NODE_ENV"] == "test"


def test_a_runner_that_needs_a_browser_gets_one() -> None:
    """The package's isomorphic tests were Mocha's and were readable; all others are Karma's, which its script
    starts."""
    karma = Use("", "karma", "", Call("karma", ("start",), {}, (), ""))
    packages = {"mocha": "^10", "karma": "^6"}
    subject = case(tree({"karma.conf.js": ""}, devDependencies=packages, scripts={"test": "mocha iso.js"}),
               uses=[Observation(karma, NPM_TEST, False)])  # fmt: skip
    first = next(hypotheses.following(subject, installs=True))
    assert (subject.environment.browser, first.environment.runner, first.environment.browser) == (
        "",
        "karma",
        "chromium",
    )


def test_a_script_that_loads_the_runner_is_run() -> None:
    """What such a script sets up is in no configuration. A script that only starts a program is not needed."""
    uses = [Use("", name, "", Call(name, (), {}, (), "")) for name in ("mocha", "mocha", "jest")]
    seen = [
        Observation(uses[0], NPM_TEST, True),
        Observation(uses[1], NPM_TEST, False),
        Observation(uses[2], NPM_TEST, True),
    ]
    (found,) = named(case(tree(devDependencies={"mocha": "^3", "jest": "^29"}), uses=seen), "by-script")
    assert found.environment.test == ("node", "{reporter}", "npm", "run", "--silent", "test", "--", "{files}")
    assert (found.environment.entries, found.environment.test_env) == ((), {"TEST_REPORT": "{report}"})


def test_the_script_that_starts_the_runner_comes_before_the_whole_command() -> None:
    """`test` also checks the code style, which says nothing about a patch. The image gets a browser along with the
    runner."""
    script = Command(("npm", "run", "--silent", "ui:test"), "", "package.json: scripts.ui:test")
    seen = Observation(Use("", "karma", "", Call("karma", (), {}, (), "")), NPM_TEST, True, script)
    first, second = named(case(tree(devDependencies={"karma": "^6"}), uses=[seen]), "by-script")
    assert [found.environment.test[-3] for found in (first, second)] == ["ui:test", "test"]
    assert (first.environment.browser, first.environment.test_env) == ("chromium", {"TEST_REPORT": "{report}"})


@pytest.mark.parametrize(
    ("test", "first"), [("gulp test", "by-script"), ("karma start", "prepared"), ("build && karma start", "prepared")]
)
def test_a_task_that_starts_the_runner_is_run_before_files_are_made(test: str, first: str) -> None:
    """The task bundled the tests for Karma. Building the application took minutes and did not help."""
    seen = Observation(Use("", "karma", "", Call("karma", (), {}, (), "")), NPM_TEST, True)
    files = {"karma.config.js": "files: ['build/tests.js']", ".gitignore": "build"}
    made = tree(files, devDependencies={"karma": "^6"}, scripts={"test": test, "build": "rollup"})
    subject = case(made, "Error: Cannot find module './build/tests.js'", uses=[seen])
    assert next(hypotheses.following(subject, installs=True)).name == first


def test_a_tool_that_contains_the_runner_is_observed_before_files_are_made() -> None:
    """Jest ran without the configuration of the package that contains it, and packages were built in vain."""
    call = Call("jest", ("--config", "node_modules/@acme/scripts/jest.js"), {}, (), "observed: npm test")
    files = {"src/__snapshots__/a.test.js.snap": "", "lib/package.json": '{"name": "own"}'}
    manifest = {"devDependencies": {"@acme/scripts": "1"}, "scripts": {"test": "acme-scripts test", "build": "x"}}
    seen = Observation(Use("", "jest", "observed: npm test", call), NPM_TEST, False)
    subject = case(tree(files, **manifest), "Cannot find module 'own' from 'src/a.js'", uses=[seen])
    assert subject.missing.can_be_made
    assert next(hypotheses.following(subject, installs=True)).name == "observed"


def test_a_configuration_named_by_another_script_is_tried() -> None:
    """TypeScript was parsed as JavaScript, because a script of another name had the `-c`."""
    scripts = {"test": "jest", "test:unit-dom": "jest -c build-tools/jest/unit.config.js"}
    found = named(case(tree({"build-tools/jest/unit.config.js": ""}, scripts=scripts)), "read-otherwise")
    assert any("-c build-tools/jest/unit.config.js" in word for word in words(found))


def test_another_runner_of_the_package_is_tried() -> None:
    """Files of one runner were given to another one that `test` also starts."""
    both = {
        "devDependencies": {"mocha": "^10", "jest": "^29"},
        "scripts": {"test": "mocha", "test:ui": "jest"},
    }
    subject = case(tree(**both))
    assert subject.environment.runner == "mocha"
    assert "jest" in [found.environment.runner for found in named(subject, "read-otherwise")]


def test_the_package_is_tried_in_place_of_the_root() -> None:
    files = {
        "vitest.workspace.ts": "export default defineWorkspace(['packages/*'])",
        "packages/ui/package.json": package(name="ui", devDependencies={"vitest": "^2"}, scripts={"test": "vitest"}),
    }
    root = tree(files, devDependencies={"vitest": "^2"}, workspaces=["packages/*"], scripts={"test": "vitest"})
    subject = case(root, tests=("packages/ui/a.test.ts",))
    assert subject.environment.folder == ""
    assert "packages/ui" in [found.environment.folder for found in named(subject, "read-otherwise")]


@pytest.mark.parametrize(
    ("script", "entry", "selection"),
    [
        (
            "mocha test/index.js --compilers js:babel-register",
            "require('./setup'); require('./Menu.test');",
            "test/index.js",
        ),
        ("mocha ./test/index.js", "import './Menu.test';", "test/index.js"),
        ("mocha test/index.js", "require('./Tabs.test');", ""),
        ("mocha test/index.js", "import './Menu.tests';", ""),
        ("mocha test/Menu.test.js", "import './Menu.test';", ""),
        ("mocha test/missing.js", "import './Menu.test';", ""),
        ("mocha --opts test/mocha.opts test", "import './Menu.test';", ""),
    ],
)
def test_the_file_that_loads_the_touched_tests_is_tried(script: str, entry: str, selection: str) -> None:
    """Such a file made the document that the tests need."""
    texts = {"test/index.js": entry, "test/Menu.test.js": "", "test/mocha.opts": ""}
    files = tree(texts, devDependencies={"mocha": "^3"}, scripts={"test": script})
    for tests in (("test/Menu.test.js",), ("test/Menu.test.js", "test/index.js")):
        found = named(case(files, tests=tests), "by-entry")
        assert [hypothesis.environment.selection for hypothesis in found] == ([(selection,)] if selection else [])


def test_single_projects_of_a_vitest_workspace_are_tried() -> None:
    """All projects were started, one of them without the browser that it needs, and no test ran."""
    text = 'test: { projects: [{ test: { name: "storybook" } }, { test: { name: "unit" } }] }'
    found = named(case(tree({"vitest.config.ts": text}, devDependencies={"vitest": "^3"})), "one-project")
    assert [hypothesis.environment.test[-2] for hypothesis in found] == ["--project=unit", "--project=storybook"]


MISSING_SIBLING = """
 FAIL  packages/ui/a.test.js
Cannot find module '@acme/tokens' from 'packages/ui/a.js'
    - /workspace/repo/node_modules/jest/bin/jest.js
"""
SIBLINGS = {
    "packages/ui/package.json": package(name="@acme/ui", dependencies={"@acme/tokens": "*"}),
    "packages/tokens/package.json": package(
        name="@acme/tokens", dependencies={"@acme/core": "*"}, scripts={"build": "tsc"}
    ),
    "packages/core/package.json": package(name="@acme/core", scripts={"build": "tsc"}),
}


def test_sibling_packages_are_built_in_the_order_of_their_dependencies() -> None:
    subject = case(tree(SIBLINGS, workspaces=["packages/*"]), MISSING_SIBLING, ("packages/ui/a.test.js",))
    first = next(hypotheses.following(subject, installs=True))
    assert [argv[-2:] for argv in first.environment.prepare] == [
        ("packages/core", "build"),
        ("packages/tokens", "build"),
    ]


def test_scripts_of_a_package_run_with_its_own_manager() -> None:
    """npm refuses to run scripts if the manifest requires another manager, and the environment was given up."""
    asking = {"devEngines": {"packageManager": {"name": "npm"}}}
    for more, options in ((asking, "--force --prefix"), ({}, "--prefix")):
        root = tree(scripts={"pretest": "tokens", "test": "jest"}, **more)
        (found,) = named(case(root, "Cannot find module './tokens.js' from 'src/a.js'"), "prepared")
        ((_, _, text, folder, script),) = found.environment.prepare
        assert f"SKIP_YARN_COREPACK_CHECK=1; exec npm {options} " in text and (folder, script) == (".", "pretest")
        command = observe.run_script(root, "", "test")
        assert command and ("--force" in command.argv) == bool(more) and command.argv[-1] == "test"


def test_all_siblings_are_generated_if_the_root_compiles_them() -> None:
    """One package generates styles, another tokens, and the root compiles both; no single script was enough."""
    siblings = {
        "packages/ui/package.json": package(name="@acme/ui", dependencies={"@acme/styles": "*", "@acme/tokens": "*"}),
        "packages/styles/package.json": package(name="@acme/styles", scripts={"generate": "node css.js"}),
        "packages/tokens/package.json": package(name="@acme/tokens", scripts={"generate": "node tokens.js"}),
    }
    scripts = {"test": "jest", "build": "lerna run build", "build:cjs": "tsc --build packages"}
    subject = case(
        tree(siblings, workspaces=["packages/*"], scripts=scripts), MISSING_SIBLING, ("packages/ui/a.test.js",)
    )
    missing, whole = [[argv[-2:] for argv in found.environment.prepare] for found in named(subject, "prepared")[:2]]
    assert missing == [("packages/tokens", "generate")]
    assert whole == [("packages/styles", "generate"), ("packages/tokens", "generate"), (".", "build:cjs")]


WORKFLOW = """
jobs:
  unit:
    steps: [{run: npm ci}, {run: npm run icons}, {run: npm test}]
"""


def test_files_are_generated_by_commands_that_precede_the_tests() -> None:
    scripts = {"test": "make tokens && jest", "pretest": "node icons.js", "postinstall": "node post.js"}
    files = {".github/workflows/ci.yml": WORKFLOW}
    log = "Cannot find module './generated/icons' from 'src/icon.js'"
    found = named(case(tree(files, scripts=scripts), log), "prepared")
    commands = [" ".join(hypothesis.environment.prepare[0][3:]) for hypothesis in found]
    assert commands[:2] == [". pretest", ". postinstall"]
    assert {". make tokens", ". npm run icons"} < {*commands}


def test_the_step_that_writes_a_missing_file_comes_first() -> None:
    """Two packages were built in vain before it."""
    step = "npx svgr --out-dir . > src/generated/icons.js"
    files = {".github/workflows/ci.yml": WORKFLOW.replace("npm run icons", step)}
    log = "Cannot find module './generated/icons' from 'src/icon.js'"
    found = named(case(tree(files, scripts={"build": "tsc"}), log), "prepared")
    assert [hypothesis.environment.prepare[0][-1] for hypothesis in found] == [step, "build"]


def test_what_called_scripts_run_before_the_runner_is_prepared() -> None:
    """Only the first command was run; the bundle that the tests load was made by the second one."""
    scripts = {"test": "yarn lib && yarn test:ci", "test:ci": "yarn lint && yarn bundle && karma start"}
    kit = {"test": "npm run unit", "preunit": "gen", "unit": "jest"}
    files = {"kit/package.json": package(name="kit", scripts=kit)}
    log = "Cannot find module './bundle' from 'src/icon.js'"
    packages = {"karma": "^6", "jest": "^29"}
    found = named(case(tree(files, scripts=scripts, devDependencies=packages), log), "prepared")
    assert [hypothesis.environment.prepare[0][-1] for hypothesis in found] == ["yarn lib", "yarn lib && yarn bundle"]
    subject = case(tree(files, workspaces=["kit"], scripts=scripts, devDependencies=packages), log, ("kit/a.test.js",))
    commands = [hypothesis.environment.prepare for hypothesis in named(subject, "prepared")]
    assert [[argv[-2:] for argv in argvs] for argvs in commands[:2]] == [
        [("kit", "preunit")],
        [(".", "yarn lib && yarn bundle")],
    ]


SERVES = "export default defineConfig({ webServer: { command: 'serve dist' } });"


@pytest.mark.parametrize(
    ("configuration", "runner", "made"),
    [
        (SERVES, "playwright", [["build"], ["build"], ["npm run icons"]]),
        (SERVES, "jest", []),
        ("export default {\n  // webServer: { command: 'serve' }\n};", "playwright", []),
        ("", "playwright", []),
    ],
)
def test_what_a_server_serves_to_the_tests_is_made(configuration: str, runner: str, made: list[list[str]]) -> None:
    """The server had nothing to serve, and its log named no file."""
    packages = {"jest": "^29", "@playwright/test": "^1"}
    scripts = {"build": "tsc", "pretest": "x", "test:it": "playwright test" if runner == "playwright" else "jest"}
    files = {
        "ui/package.json": package(name="ui", scripts={"build": "vite build"}),
        ".github/workflows/ci.yml": WORKFLOW,
        "playwright.config.ts": configuration,
    }
    root = tree(files, workspaces=["ui"], scripts=scripts, devDependencies=packages)
    subject = case(root, "Process from config.webServer was not able to start. Exit code: 1", ("ui/a.spec.ts",))
    assert (subject.environment.runner, subject.is_served) == (runner, bool(made))
    found = named(subject, "prepared")
    assert [[argv[-1] for argv in hypothesis.environment.prepare] for hypothesis in found] == made
    assert next(hypotheses.following(subject, installs=True)).name != "prepared"


PUPPETEER = (
    "module.exports = {\n  // server: none\n  launch: {headless: true},\n  server: {command: `node app`, port: 1},\n};"
)


@pytest.mark.parametrize(
    ("file", "text", "packages", "served"),
    [
        ("jest-puppeteer.config.js", PUPPETEER, {"jest-puppeteer": "^6", "puppeteer": "^13"}, True),
        ("jest-puppeteer.config.js", PUPPETEER.replace("  server:", "  // server:"), {"puppeteer": "^13"}, False),
        ("docs/jest-puppeteer.config.js", PUPPETEER, {"jest-puppeteer": "^6", "puppeteer": "^13"}, False),
        ("jest-puppeteer.config.js", PUPPETEER, {}, False),
    ],
    ids=["served", "in a remark", "of another package", "no browser"],
)
def test_what_a_server_serves_to_tests_of_jest_is_made(
    file: str, text: str, packages: dict[str, str], served: bool
) -> None:
    """Tests of pages without scripts passed, so the base seemed well, and no log named the missing scripts."""
    scripts = {"build": "rollup -c", "test": "gulp copy-assets && jest"}
    root = tree({file: text}, scripts=scripts, devDependencies={"jest": "^29", "gulp": "^4", **packages})
    subject = case(root, "expected false to be true")
    assert subject.is_served is served
    found = [[argv[-1] for argv in one.environment.prepare] for one in named(subject, "prepared")]
    assert found == ([["build"], ["gulp copy-assets"]] if served else [])


def test_nothing_is_prepared_unless_the_log_shows_missing_files() -> None:
    assert named(case(tree(scripts={"build": "tsc"}), "expected 1 to be 2"), "prepared") == []


def test_undeclared_modules_are_installed() -> None:
    """A peer dependency that some managers install and others do not: the locked version, or else the nearest one in
    the range."""
    log = "Cannot find module 'linkifyjs' from 'node_modules/linkify-string/index.js'\nCannot find module 'fs'"
    (found,) = named(case(tree(peerDependencies={"linkifyjs": "^1"}), log), "with-modules")
    assert [(edit.kind, edit.name, edit.new) for edit in found.environment.edits] == [("add", "linkifyjs", "1.0.0")]
    assert found.environment.install[:2] == ("npm", "install")


def test_the_newest_locked_version_is_installed() -> None:
    """`ajv/dist/core` is missing if an older ajv, which lacks it, lies at the root."""
    lock = {"lockfileVersion": 3, "packages": {"node_modules/ajv": {"version": "6.12.6"},
                                               "node_modules/x/node_modules/ajv": {"version": "8.11.0"}}}  # fmt: skip
    (found,) = named(case(tree({"package-lock.json": json.dumps(lock)}), "Cannot find module 'ajv/dist/core'"),
                     "with-modules")  # fmt: skip
    assert [(edit.name, edit.new) for edit in found.environment.edits] == [("ajv", "8.11.0")]


def test_a_module_is_added_to_the_folder_in_place_of_the_root() -> None:
    nested = (Nested(folder="web", manager="npm", manager_version="10", install=("npm", "ci")),)
    subject = case(tree(), "Cannot find module 'ajv'")
    before = subject.environment.model_copy(update={"install": (), "nested": nested})
    (found,) = named(replace(subject, environment=before), "with-modules")
    assert [(edit.name, edit.folders) for edit in found.environment.edits] == [("ajv", ("web",))]


ALIASES = {"yarn.lock": '# yarn lockfile v1\n\n"vue-latest@npm:vue@~2.5.16":\n  version "2.5.16"\n\n'
                        '"width-cjs@npm:width@^4.0.0":\n  version "4.2.3"\n'}  # fmt: skip


@pytest.mark.parametrize(("name", "version"), [("vue", "2.5.16"), ("width-cjs", "npm:width@4.2.3")])
def test_aliases_in_the_lock_file_give_the_version(name: str, version: str) -> None:
    """The repository tests two versions of Vue under aliases; the registry's newest was installed, a third one."""
    subject = case(tree(ALIASES), f"Cannot find module '{name}' from 'tests/setup.js'")
    files = {"yarn.lock": ALIASES["yarn.lock"].encode()}
    (found,) = named(replace(subject, situation=Situation(files, lambda name: ["9.0.0"])), "with-modules")
    assert [(edit.name, edit.new) for edit in found.environment.edits] == [(name, version)]


OTHER = HistoryLock("yarn.lock", 'b@^1.0.0:\n  version "1.2.0"\nown@*:\n  version "9.0.0"\n', "a" * 40, "2018-06-01")
UNDATED = ("npm", "install", "--tag=undated")


@pytest.mark.parametrize(
    ("install", "files", "lock", "pins"),
    [
        (UNDATED, {}, OTHER, [("b", "^1.0.0", "1.2.0")]),
        (("npm", "install", "--before=2018-01-01"), {}, OTHER, []),
        (UNDATED, {"package-lock.json": "{}"}, OTHER, []),
        (UNDATED, {}, replace(OTHER, text=""), []),
        (UNDATED, {}, None, []),
    ],
)
def test_the_versions_of_another_commits_lock_file_replace_those_of_today(
    install: tuple[str, ...], files: dict[str, str], lock: HistoryLock | None, pins: list[tuple[str, str, str]]
) -> None:
    """Without a lock file, a registry without dates gave Babel 6 a plugin that only works with Babel 7."""
    root = package(name="own", dependencies={"b": "^1.0.0", "own": "*"}, devDependencies={"jest": "29.0.0"})
    subject = replace(case(of({"package.json": root, **files}), install=install), history_lock=lambda: lock)
    found = named(subject, "history-locked")
    edits = [(edit.name, edit.old, edit.new) for one in found for edit in one.environment.edits]
    assert edits == pins and all("2018-06-01" in one.description for one in found)


@pytest.mark.parametrize(
    ("install", "files", "range_", "pins"),
    [
        (UNDATED, {}, "^1.2.0", [("b", "^1.2.0", "1.2.0")]),
        (UNDATED, {}, "~1.2.0-rc.1", [("b", "~1.2.0-rc.1", "1.2.0-rc.1")]),
        (UNDATED, {}, "1.x", []),
        (UNDATED, {}, ">=1.2.0", []),
        (("npm", "install", "--before=2018-01-01"), {}, "^1.2.0", []),
        (UNDATED, {"package-lock.json": "{}"}, "^1.2.0", []),
    ],
)
def test_the_oldest_allowed_versions_replace_those_of_today(
    install: tuple[str, ...], files: dict[str, str], range_: str, pins: list[tuple[str, str, str]]
) -> None:
    """Of React 15, today's version lacks a file that the tests load; with its plugins of today, Gulp needed a Node on
    which it does not start."""
    root = package(name="own", dependencies={"b": range_, "own": "^1.0.0"}, devDependencies={"jest": "29.0.0"})
    found = named(case(of({"package.json": root, ".nvmrc": "6", **files}), install=install), "oldest")
    edits = [(edit.name, edit.old, edit.new) for one in found for edit in one.environment.edits]
    assert edits == pins and all(one.environment.node == "10" for one in found)


@pytest.mark.parametrize(
    ("node", "changed"),
    [("14", ("manager_version", "7")), ("20", ("install_env", {"npm_config_legacy_peer_deps": "true"}))],
)
def test_peer_dependencies_are_installed_or_ignored_instead(node: str, changed: tuple[str, Any]) -> None:
    log = "Cannot find module '@babel/plugin-x'"
    (found,) = named(case(tree({".nvmrc": node}), log), "other-peers")
    assert getattr(found.environment, changed[0]) == changed[1]


def test_neighbouring_node_releases_come_last_and_only_if_nothing_loads() -> None:
    subject = case(tree({".nvmrc": "18"}))
    assert [found.environment.node for found in named(subject, "other-node")] == ["20", "16"]
    assert [found.name for found in hypotheses.following(subject, installs=True)][-1] == "other-node"
    assert not INSTALLING & {found.name for found in hypotheses.following(subject, installs=False)}


PNPM_9 = {"pnpm-lock.yaml": "lockfileVersion: '9.0'\n"}
PNPM_6 = {"pnpm-lock.yaml": "lockfileVersion: '6.0'\n"}
MODULE = "Cannot find module 'linkifyjs' from 'node_modules/linkify-string/index.js'"


@pytest.mark.parametrize(
    ("files", "node", "versions"),
    [
        (PNPM_9, "20", ["10.34.8"]),
        (PNPM_6, "20", ["9.15.9", "7.33.7"]),
        (PNPM_6, "16", ["7.33.7"]),
        ({"yarn.lock": BERRY.format(6, 8)}, "18", ["4.5.3", "2.4.2"]),
        ({"yarn.lock": BERRY.format(8, 10)}, "18", ["3.8.7"]),
        ({"yarn.lock": YARN_1}, "20", []),
        ({}, "20", []),
    ],
)
def test_neighbouring_managers_must_read_the_lock_file(files: dict[str, str], node: str, versions: list[str]) -> None:
    """They hoist differently. A manager that cannot read the lock file would resolve everything anew, to versions of
    another day."""
    found = named(case(tree({".nvmrc": node} | files)), "other-manager")
    assert [hypothesis.environment.manager_version for hypothesis in found] == versions
    assert all({"--no-frozen-lockfile", "--no-immutable"} & set(hypothesis.environment.install) for hypothesis in found)


def test_a_neighbouring_yarn_replaces_the_release_in_the_repository() -> None:
    """It is called with its own options only; otherwise the repository's release would start instead."""
    release = ".yarn/releases/yarn-3.6.1.cjs"
    files = {"yarn.lock": BERRY.format(6, 8), ".yarnrc.yml": f"yarnPath: {release}\n", release: "", ".nvmrc": "18"}
    subject = case(tree(files))
    assert subject.environment.install[:2] == ("node", release)
    assert [found.environment.install[0] for found in named(subject, "other-manager")] == ["yarn", "yarn"]


def test_missing_packages_change_the_manager_before_node() -> None:
    made = tree({".nvmrc": "20"} | PNPM_9)
    names = [
        [found.name for found in hypotheses.following(case(made, log), installs=True)][-3:] for log in ("", MODULE)
    ]
    assert names == [["other-node", "other-node", "other-manager"], ["other-manager", "other-node", "other-node"]]


PATCHES = {"patches/kit+1.0.0.patch": "", "patches/README.md": ""}


@pytest.mark.parametrize(("files", "package_name", "count"), [
    (PATCHES, "patch-package", 1), ({}, "patch-package", 0), (PATCHES, "kit", 0),
])  # fmt: skip
@pytest.mark.parametrize("installs", [True, False])
def test_packages_are_patched_as_the_repository_does(
    files: dict[str, str], package_name: str, count: int, installs: bool
) -> None:
    """Its `postinstall` patches a helper of the tests, and some tests failed without it, since install scripts are
    disabled."""
    depends = {"jest": "^29", package_name: "1"}
    subject = case(tree(files, devDependencies=depends))
    found = named(subject, "patched", installs=installs)
    assert len(found) == count
    for hypothesis in found:
        assert hypothesis.environment.install[4:] == subject.environment.install
        assert not named(replace(subject, environment=hypothesis.environment), "patched")
        assert {"patched"} <= INSTALLING


@pytest.mark.parametrize(("code", "message"), [(0, "installed\npatched\n"), (3, "installed\n")])
def test_a_patch_that_does_not_apply_does_not_fail_the_install(tmp_path: Path, code: int, message: str) -> None:
    (found,) = named(case(tree(PATCHES, devDependencies={"patch-package": "1", "jest": "^29"})), "patched")
    program = tmp_path / "node_modules/.bin/patch-package"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho patched\nexit 1\n")
    program.chmod(0o755)
    words = [*found.environment.install[:4], "sh", "-c", f"echo installed; exit {code}"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (code, message)


@pytest.mark.parametrize(
    ("runner", "variable"), [("jest", ("TS_JEST_UNCHECKED", "true")), ("mocha", ("TS_NODE_TRANSPILE_ONLY", "true"))]
)
def test_type_checks_are_switched_off_last(runner: str, variable: tuple[str, str]) -> None:
    """Two versions of a package's types were installed, so ts-jest compiled no file."""
    made, log = tree(devDependencies={runner: "^27"}), "  src/a.test.ts:1:1 - error \x1b[90mTS2786: \x1b[0m'Portal'"
    last = list(hypotheses.following(case(made, log), installs=True))[-1]
    assert last.name == "unchecked-types" and variable in last.environment.test_env.items()
    assert last.environment.install == case(made).environment.install
    assert named(case(made, "expected 1 to be 2"), "unchecked-types") == []


@pytest.mark.parametrize("tried", ["other-node", "history-locked", "oldest"])
def test_a_command_without_a_runner_is_tried_on_another_node_or_with_other_versions(tried: str) -> None:
    """A task needed a module that only a newer Node can load; nothing was observed on the older one."""
    call = Call("jest", ("-c", "unit.config.js"), {}, (), "observed: npm test")
    before, now = (
        case(tree()),
        case(tree(), uses=[Observation(Use("", "jest", "observed: npm test", call), NPM_TEST, False)]),
    )
    (found,) = hypotheses.further(tried, before, now)
    assert found.name == "observed" and "-c unit.config.js" in " ".join(found.environment.test)
    assert not list(hypotheses.further(tried, now, now))
    assert not list(hypotheses.further("other-peers", before, now))


def test_tests_that_load_at_last_may_need_generated_files() -> None:
    """Because TypeScript was parsed as JavaScript, nobody saw that the tests load what a task compiles."""
    files = tree(scripts={"quick-build": "gulp quick-build", "build": "gulp build"})
    now = case(files, "TS2307: \x1b[0mCannot find module '../../lib/menu' or its corresponding type declarations.")
    before = case(files, "SyntaxError: Unexpected token")
    found = list(hypotheses.further("observed", before, now))
    assert [hypothesis.environment.prepare[0][-1] for hypothesis in found] == ["quick-build", "build"]
    assert not list(hypotheses.further("observed", now, now)) and not list(hypotheses.further("prepared", before, now))


def test_a_server_that_starts_at_last_may_have_to_serve_what_is_built() -> None:
    """The first environment had no configuration, and so no server."""
    scripts = {"build": "vite build", "test:e2e": "playwright test -c e2e/menu.config.ts"}
    made = tree({"e2e/menu.config.ts": SERVES}, scripts=scripts, devDependencies={"@playwright/test": "^1"})
    before = case(made, "net::ERR_CONNECTION_REFUSED", ("e2e/menu.spec.ts",))
    before = replace(before, environment=before.environment.model_copy(update={"configuration": ""}))
    now = replace(before, environment=before.environment.model_copy(update={"configuration": "e2e/menu.config.ts"}))
    (found,) = hypotheses.further("read-otherwise", before, now)
    assert [argv[-1] for argv in found.environment.prepare] == ["build"]
    assert not list(hypotheses.further("read-otherwise", now, now))


# -- what a log asks for ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("log", "own", "files", "foreign"),
    [
        ("Cannot find module '@acme/ui/lib' from 'a.js'", ("@acme/ui",), (), ()),
        ("Cannot find module '../dist/icons.js'\nRequire stack:\n- /repo/a.js", (), ("../dist/icons.js",), ()),
        ('Failed to resolve import "@acme/ui" from "a.ts". Does the file exist?', ("@acme/ui",), (), ()),
        ('Error: Failed to resolve entry for package "@acme/ui". The package may', ("@acme/ui",), (), ()),
        ("ENOENT: no such file or directory, open '/workspace/repo/src/x.json'", (), ("src/x.json",), ()),
        ("Cannot find package 'lodash' imported from /workspace/repo/a.mjs", (), (), ("lodash",)),
        ("Cannot find module '/workspace/repo/node_modules/@acme/ui/dist/index.js'", ("@acme/ui",), (), ()),
        ("Cannot find module\n     '/workspace/repo/node_modules/@acme/ui/dist/index.js'.\n", ("@acme/ui",), (), ()),
        ("Module not found: Error: Can't resolve '@acme/ui' in '/workspace/repo/src'", ("@acme/ui",), (), ()),
        ("Module not found: 'lodash' in '/workspace/repo/src'", (), (), ("lodash",)),
        (" MISSING DEPENDENCY  Cannot find dependency 'jsdom'", (), (), ("jsdom",)),
        ("  npm install --save-dev jest@27.0.3 @x/cli@27.4.5\n", (), (), ("jest", "@x/cli")),
        ("run `yarn add --dev sass` and npm i -D less and then try again", (), (), ("sass", "less")),
        ("Cannot find module 'node:test'", (), (), ()),
        ("Couldn't find preset \"env\" relative to directory \"/repo\"", (), (), ("babel-preset-env",)),
        ('Unknown plugin "transform-x" specified in ".babelrc" at 0', (), (), ("babel-plugin-transform-x",)),
        ("Couldn't find preset \"@acme/ui/preset\" relative to directory \"/repo\"", ("@acme/ui",), (), ()),
        ("Module ts-node/register in the setupFiles option was not found.", (), (), ("ts-node",)),
        ("  Preset ts-jest/presets/js-with-ts not found.", (), (), ("ts-jest",)),
        ("  Test environment jsdom cannot be found. Make sure", (), (), ("jest-environment-jsdom",)),
        ("404 network requests:\n    - dist/ui.css\n    - dist/ui.js\n\n", (), ("dist/ui.css", "dist/ui.js"), ()),
        ('WARN [filelist]: Pattern "/workspace/repo/ui.js" does not match any file.', (), ("ui.js",), ()),
        ('WARN: Pattern "/workspace/repo/node_modules/chai/chai.js" does not match any file.', (), (), ("chai",)),
        ("WARN [web-server]: 404: /base/dist/index.js?a1b2", (), ("dist/index.js",), ()),
        ("WARN [web-server]: 404: /absolute/workspace/repo/dist/ui.css", (), ("dist/ui.css",), ()),
        ("WARN [web-server]: 404: /base/img/photo.png", (), (), ()),
        ('Error: No test files found: "dist/**/*.spec.js"', (), ("dist/**/*.spec.js",), ()),
        ('Cannot find any files matching pattern "./lib/*.js"', (), ("lib/*.js",), ()),
        ('Cannot find any files matching pattern "test/new.spec.js"', (), (), ()),
        ("expected element to be found", (), (), ()),
        ('Failed to resolve module specifier "@acme/ui"', ("@acme/ui",), (), ()),
        ("Unable to resolve path to module 'lodash'. eslint", (), (), ("lodash",)),
        ("Error: Could not load ./icons/menu.svg (imported by a.js)", (), ("icons/menu.svg",), ()),
        ("Failed to load url /src/tokens.js (resolved id: /src/tokens.js)", (), ("/src/tokens.js",), ()),
        ('failed to resolve "extends":"./.svelte-kit/tsconfig.json" in /x/tsconfig.json', (),
         (".svelte-kit/tsconfig.json",), ()),
        ("error TS2304: Cannot find name 'describe'.", (), (), ()),
        ("TS7016: Could not find a declaration file for module 'react'.", (), (), ()),
        ('Unable to find an accessible element with the role "button"', (), (), ()),
        ('Unable to find role="dialog"', (), (), ()),
        ("Can't find stylesheet to import.", (), (), ()),
        ("Could not locate the bindings file. Tried:", (), (), ()),
        ("Could not find Chrome (ver. 123.0)", (), (), ()),
        ('The "/tools/.cache/packages.json" file does not exist.', (), ("/tools/.cache/packages.json",), ()),
    ],
)  # fmt: skip
def test_missing_packages_and_files_are_read_from_logs(
    log: str, own: tuple[str, ...], files: tuple[str, ...], foreign: tuple[str, ...]
) -> None:
    assert missing_from(log, {"@acme/ui"}) == (own, files, foreign, ())


def test_a_path_from_the_root_is_not_a_package() -> None:
    """A bundler resolved paths from the root, and the script that generates the missing folder was not run."""
    log = "Module not found: Error: Can't resolve 'docs/src/info' in 'docs'\nCannot find module 'undefined'"
    found = case(tree({"docs/src/index.js": ""}, scripts={"pretest": "gulp docs"}), log)
    assert missing_from(log, ()).foreign == ("docs",)
    assert found.missing == ((), ("docs/src/info",), (), ())
    assert [hypothesis.environment.prepare[0][-1] for hypothesis in named(found, "prepared")] == ["pretest"]


@pytest.mark.parametrize(
    ("log", "scripts"),
    [
        ('[Jest resolver]: there is no list. Please run "yarn list"', ["list"]),
        ("Icons are missing: did you forget to run `npm run icons`?", ["icons"]),
        ("First run pnpm run icons, then yarn run list", ["icons", "list"]),
        ("error Command failed: yarn run icons", []),
        ("please run yarn why icons", []),
    ],
)
def test_a_script_advised_by_a_log_is_run(log: str, scripts: list[str]) -> None:
    """The repository's own resolver read a list that this script makes."""
    found = named(case(tree(scripts={"icons": "make-icons", "list": "node list.js"}), log), "prepared")
    assert [hypothesis.environment.prepare[0][-1] for hypothesis in found] == scripts


@pytest.mark.parametrize(
    ("main", "loaded", "log", "built"),
    [
        ("dist/date.js", 0, "TypeError: Cannot read properties of undefined", True),
        ("dist/date.js", 1, "TypeError: Cannot read properties of undefined", False),
        ("src/index", 0, "TypeError: Cannot read properties of undefined", False),
        ("src", 0, "TypeError: Cannot read properties of undefined", False),
        ("", 0, "TypeError: Cannot read properties of undefined", False),
    ],
)
def test_packages_without_their_entry_are_built_if_no_file_loads(main: str, loaded: int, log: str, built: bool) -> None:
    """Jest loaded a package's types (`index.d.ts`) in place of its missing entry, and the log did not say so."""
    files = {
        "package.json": package(workspaces=["apps/*", "libs/*"], devDependencies={"jest": "^29"}),
        "package-lock.json": "{}",
        "libs/date/package.json": package(name="@x/date", main=main, scripts={"prepare": "webpack"}),
        "libs/date/index.d.ts": "",
        "libs/date/src/index.js": "",
        "apps/ui/package.json": package(name="ui"),
        "apps/ui/src/a.ts": "import { date } from '@x/date';",
    }
    subject = replace(case(of(files), log, tests=("apps/ui/src/a.test.js",)), health=Health(files=2, loaded=loaded))
    found = [argv[-2:] for one in named(subject, "prepared") for argv in one.environment.prepare]
    assert found == ([("libs/date", "prepare")] if built else [])


def test_a_file_is_named_from_the_folder_in_which_the_tests_run() -> None:
    """A front end's tests name the files of its packages so."""
    files = {
        "web/package.json": package(workspaces=["packages/*"], devDependencies={"jest": "^29"}),
        "web/package-lock.json": "{}",
        "web/packages/sdk/package.json": package(name="sdk", scripts={"build": "tsc"}),
        "web/packages/ui/package.json": package(name="ui", dependencies={"sdk": "*"}),
    }
    log = 'The "path" argument must be of type string. Received undefined\n  at load (packages/sdk/src/load.ts:1:2)\n'
    found = case(of(files), log, tests=("web/packages/ui/a.test.js",))
    assert found.unbuilt == ("sdk",)
    assert [argv[-2:] for argv in named(found, "prepared")[0].environment.prepare] == [("web/packages/sdk", "build")]


def test_a_manifest_with_only_entry_points_is_no_package() -> None:
    """Each component had such a manifest, without dependencies and scripts; those of the package were not
    considered."""
    files = {
        "ui/button/package.json": package(main="../dist/button.js"),
        "ui/package.json": package(name="@acme/ui", scripts={"generate": "x"}, dependencies={"react": "18"}),
    }
    made = tree(files, workspaces=["ui/**"], devDependencies={"jest": "^29"}, scripts={"test": "jest"})
    subject = case(made, "Cannot find module './x' from 'a.js'", tests=("ui/button/a.test.js",))
    assert [found.environment.prepare[0][-2:] for found in named(subject, "prepared")] == [("ui", "generate")]


def test_the_packages_of_a_repository_are_found() -> None:
    files = of({"package.json": json.dumps({"name": "root"}), "a/package.json": "no json"} | SIBLINGS | LOCK)
    assert own_packages(files)["@acme/core"] == "packages/core"


TOOLS = {
    "package.json": package(workspaces=["packages/*"], devDependencies={"jest": "^29"}),
    "packages/tools/package.json": package(name="@acme/tools", bin={"tool": "./tool.sh", "pack": "pack.mjs"}),
    "packages/kit/package.json": package(name="@acme/kit", bin="./kit.js", scripts={"build": "tool"}),
}


def test_programs_of_the_repositorys_own_packages_are_linked_for_a_build() -> None:
    """An install sees only the manifests, so it links no program whose file is in the repository."""
    subject = case(tree(TOOLS), "Cannot find module '@acme/kit'")
    (tried, *_) = named(subject, "prepared")
    (found,) = hypotheses.with_programs(subject, tried, "> kit@1.0.0 build\n> tool\n\nsh: 1: tool: not found\n")
    linking, *others = found.environment.prepare
    assert tuple(others) == tried.environment.prepare
    assert linking[-7:] == (
        "link",
        "kit",
        "packages/kit/kit.js",
        "pack",
        "packages/tools/pack.mjs",
        "tool",
        "packages/tools/tool.sh",
    )
    assert not list(hypotheses.with_programs(subject, found, "command not found: tool"))
    assert not list(hypotheses.with_programs(subject, tried, "sh: 1: webpack: not found"))


def test_the_package_of_a_program_is_added_to_the_focus() -> None:
    """No package depends on the one with the scripts: all call its program by name."""
    lock = {"package-lock.json": '{"lockfileVersion": 3, "packages": {}}'}
    extra = {"packages/base/package.json": package(name="base"), "packages/site/package.json": package(name="site")}
    tools = package(name="@acme/tools", bin={"tool": "./tool.sh"}, dependencies={"base": "*"})
    subject = case(
        tree(TOOLS | extra | lock | {"packages/tools/package.json": tools}),
        "Cannot find module '@acme/kit'",
        ("packages/kit/a.test.js",),
    )
    (tried, *_) = named(subject, "prepared")
    assert tried.environment.focus == ("packages/kit",)
    (found,) = hypotheses.with_programs(subject, tried, "sh: 1: tool: not found")
    assert found.environment.focus == ("packages/base", "packages/kit", "packages/tools")
    (whole,) = hypotheses.with_programs(
        subject, tried._replace(environment=tried.environment.model_copy(update={"focus": ()})), "tool: not found"
    )
    assert whole.environment.focus == ()


def test_a_built_package_may_need_the_others() -> None:
    """Vite reports one missing package of the repository at a time."""
    builds, depends = {"build": "tsc"}, {"theme": "*", "view": "*", "types": "*"}
    files = tree({
        "package.json": package(workspaces=["packages/*"], devDependencies={"jest": "^29"}),
        "packages/menu/package.json": package(name="menu", dependencies=depends),
        "packages/theme/package.json": package(name="theme", scripts=builds),
        "packages/view/package.json": package(name="view", scripts=builds, dependencies={"theme": "*"}),
        "packages/types/package.json": package(name="types"),
    })  # fmt: skip
    before = case(files, "Cannot find package 'theme'", ("packages/menu/a.test.js",))
    (tried, *_) = named(before, "prepared")
    now = replace(before, environment=tried.environment, log="Cannot find package 'view'")
    (found,) = hypotheses.further("prepared", before, now)
    assert [argv[-2:] for argv in found.environment.prepare] == [
        ("packages/theme", "build"),
        ("packages/view", "build"),
    ]
    assert not list(hypotheses.further("prepared", before, replace(now, environment=found.environment)))
    assert not list(hypotheses.further("prepared", before, replace(now, log=before.log)))


def test_packages_that_only_sources_import_are_built() -> None:
    """A manifest need not name another package of the workspace; spark's combobox does not name the hooks it uses."""
    builds = {"build": "vite build"}
    files = tree({
        "package.json": package(workspaces=["packages/*"], devDependencies={"jest": "^29"}),
        "packages/menu/package.json": package(name="@acme/menu", dependencies={"@acme/icon": "*"}),
        "packages/menu/src/Menu.tsx": "import { useRefs } from '@acme/refs/hooks'\nconst role = 'tabs'",
        "packages/icon/package.json": package(name="@acme/icon", scripts=builds),
        "packages/refs/package.json": package(name="@acme/refs", scripts=builds, dependencies={"@acme/base": "*"}),
        "packages/base/package.json": package(name="@acme/base", scripts=builds),
        "packages/tabs/package.json": package(name="tabs", scripts=builds),
        "packages/menu/src/types.ts": "export * from '@acme/menu/roles'",
    })  # fmt: skip
    log = 'Failed to resolve entry for package "@acme/{}". The package may have incorrect main/module/exports'
    before = case(files, log.format("icon"), ("packages/menu/src/Menu.test.tsx",))
    (tried, *_) = named(before, "prepared")
    now = replace(before, environment=tried.environment, log=log.format("refs"))
    (found,) = hypotheses.further("prepared", before, now)
    assert [argv[-2] for argv in found.environment.prepare] == ["packages/icon", "packages/base", "packages/refs"]


def test_packages_with_circular_dependencies_are_built_once() -> None:
    """Each of forty packages has all others as peers; their order was never found."""
    names = [f"part-{number}" for number in range(40)]
    manifests = {
        f"packages/{name}/package.json": package(
            name=name, scripts={"build": "x"}, peerDependencies=dict.fromkeys(set(names) - {name}, "*")
        )
        for name in names
    }
    subject = case(tree(manifests), "Cannot find module 'part-7'", ("packages/part-1/a.test.js",))
    (tried, *_) = named(subject, "prepared")
    assert sorted(argv[-2] for argv in tried.environment.prepare) == sorted(f"packages/{name}" for name in names)


def test_a_missing_file_of_another_package_requires_its_build() -> None:
    """It is made again before what failed: a list of packages, by the script that the log recommended."""
    files = tree(
        {
            "packages/menu/package.json": package(name="menu", dependencies={"theme": "1"}, scripts={"build": "x"}),
            "packages/theme/package.json": package(name="theme", scripts={"build": "x"}),
        },
        scripts={"pre-test": "node list.js"},
    )
    before = case(files, 'there is no list, please run "yarn pre-test"', ("packages/menu/a.test.js",))
    (tried, *_) = named(before, "prepared")
    lacks = "ENOENT: no such file or directory, open '/workspace/repo/packages/{}/dist/index.js'"
    now = replace(before, environment=tried.environment, log=lacks.format("theme"))
    (found,) = hypotheses.further("prepared", before, now)
    assert [argv[-2:] for argv in found.environment.prepare] == [(".", "pre-test"), ("packages/theme", "build")]
    assert replace(now, log=lacks.format("menu")).unbuilt == ()
    assert replace(now, log='The "/packages/theme/list.json" file does not exist.').unbuilt == ("theme",)


def test_programs_are_links_or_files_of_node(tmp_path: Path) -> None:
    """Node runs a file that is not executable, or that does not exist yet."""
    subject = case(tree(TOOLS), "Cannot find module '@acme/kit'")
    (tried, *_) = named(subject, "prepared")
    (found,) = hypotheses.with_programs(subject, tried, "command not found: tool")
    for name, text in {
        "tool.sh": "#!/bin/sh\necho tool $1\n",
        "pack.mjs": "console.log('pack', process.argv[2])\n",
    }.items():
        (tmp_path / "packages/tools").mkdir(parents=True, exist_ok=True)
        (tmp_path / "packages/tools" / name).write_text(text)
    (tmp_path / "packages/tools/tool.sh").chmod(0o755)
    for _ in range(2):
        subprocess.run(found.environment.prepare[0], cwd=tmp_path, check=True)
    outputs = [
        subprocess.run([tmp_path / "node_modules/.bin" / name, "x y"], stdout=subprocess.PIPE, text=True).stdout
        for name in ("tool", "pack")
    ]
    assert outputs == ["tool x y\n", "pack x y\n"]


def test_a_rejection_is_tried_again_when_hypotheses_change() -> None:
    """Its reason may be a fault that has a remedy by now."""
    assert {"repair.py", "remedies.py", "hypotheses.py"} <= set(hypotheses.SOURCES)
    assert len(hypotheses.decides()) > 8


LERNA = {
    "lerna.json": json.dumps({"packages": ["packages/*"]}),
    "packages/ui/package.json": package(name="@acme/ui", dependencies={"@acme/tokens": "^1", "left-pad": "^1"}),
    "packages/tokens/package.json": package(name="@acme/tokens", scripts={"build": "tsc"}),
    ".nvmrc": "12",
}


def test_packages_that_only_lerna_links_become_a_workspace() -> None:
    """Lerna installed them one by one and linked them. npm 6 knows no workspaces."""
    subject = case(tree(LERNA), MISSING_SIBLING, tests=("packages/ui/a.test.js",))
    assert subject.environment.manager_version == ""
    names = [found.name for found in hypotheses.following(subject, installs=True)]
    (found,) = named(subject, "gathered")
    assert names[:2] == ["gathered", "prepared"] and not named(subject, "gathered", installs=False)
    assert found.environment.manager_version == "8" and "install" in found.environment.install
    (edit,) = found.environment.edits
    assert (edit.kind, edit.folders) == ("gather", ("packages/*",))
    root = edits.apply([edit], {"package.json": b'{"name": "acme"}'}, str)["package.json"]
    assert json.loads(root) == {"name": "acme", "workspaces": ["packages/*"], "private": True}
    now = replace(subject, environment=found.environment)
    assert not named(now, "gathered")
    assert [one.name for one in hypotheses.further("gathered", subject, now)][:1] == ["prepared"]


@pytest.mark.parametrize(
    "other",
    [
        {"package.json": package(name="acme", workspaces=["packages/*"], devDependencies={"jest": "^29"})},
        {".nvmrc": "8"},
        {"lerna.json": "{}"},
    ],
    ids=["a workspace", "an old Node", "no packages"],
)
def test_other_packages_are_not_gathered(other: dict[str, str]) -> None:
    assert not named(case(tree(LERNA | other), MISSING_SIBLING, tests=("packages/ui/a.test.js",)), "gathered")
