"""Which runner an Angular or Nx workspace's builders start, and with which command."""

from __future__ import annotations

import json
from typing import Any

import pytest
from trees import read, tree

from pipeline.build.infer import Unsupported
from pipeline.ecosystems import runner

VITEST, KARMA = "@angular/build:unit-test", "@angular-devkit/build-angular:karma"
PACKAGES = {"@angular/build": "^21.0.0", "@angular/cli": "^21.0.0", "vitest": "^4.0.8"}


def workspace(**builders: tuple[str, str, dict[str, Any]]) -> dict[str, str]:
    """An angular.json: project -> its folder, and the builder and options of its tests."""
    projects = {
        name: {"root": root, "architect": {"test": {"builder": builder, "options": options}}}
        for name, (root, builder, options) in builders.items()
    }
    return {"angular.json": json.dumps({"projects": projects}, indent=2)}


@pytest.mark.parametrize("scripts", [{"test": "npm run lint && ng test -c firefox"}, {"test": "nx affected"}])
def test_vitest_is_started_by_angular(scripts: dict[str, str]) -> None:
    """Vitest alone compiles no templates: every file of such a base failed."""
    files = workspace(ui=("", VITEST, {"runner": "vitest"})) | {"vitest.config.ts": ""}
    found = read(tree(files, devDependencies=PACKAGES, scripts=scripts), "src/menu.spec.ts")
    words = ["{entry}", "test", "ui", "--watch=false", "--reporters=default", "--reporters=json"]
    assert (found.runner, found.entries[0]) == ("vitest", "node_modules/@angular/cli/bin/ng.js")
    assert list(found.test) == ["node", *words, "--output-file={report}", "{files}"]
    assert (found.selection, found.parser) == (("--include", "{files}"), "vitest-angular-json")
    assert found.configuration == "angular.json"


def test_the_project_of_the_tests_is_run() -> None:
    files = workspace(ui=("projects/ui", VITEST, {}), docs=("", VITEST, {}), forms=("projects/forms", VITEST, {}))
    made = tree(files, devDependencies=PACKAGES, scripts={"test": "ng test"})
    assert [read(made, path).test[3] for path in ("projects/forms/a.spec.ts", "src/a.spec.ts")] == ["forms", "docs"]


@pytest.mark.parametrize(
    ("test", "project"),
    [("src/demo/a.spec.ts", "demo"), ("src/icons/a.spec.ts", "ui"), ("src/ui/a.spec.ts", "ui")],
)
def test_sources_that_no_project_has_are_those_of_the_project_that_the_script_names(test: str, project: str) -> None:
    """The icons beside a library were tested with the demonstration, which compiles none of their tests."""
    files = workspace(demo=("", KARMA, {"main": "src/demo/test.ts"}), ui=("src/ui", KARMA, {"main": "tests/all.ts"}))
    made = tree(files, devDependencies=PACKAGES | {"karma": "^6"}, scripts={"test": "ng test ui --watch false"})
    words = read(made, test).test
    assert words[words.index("test") + 1] == project


@pytest.mark.parametrize(
    ("builder", "options"), [(KARMA, {}), ("@angular/build:karma", {}), (VITEST, {"runner": "karma"})]
)
def test_the_karma_builder_starts_karma(builder: str, options: dict[str, Any]) -> None:
    """Whatever else is there: Jest, which only tests the schematics of the same package, was once inferred."""
    packages = PACKAGES | {"karma": "^6", "jest": "^29"}
    made = tree(
        workspace(ui=("", builder, options)), devDependencies=packages, scripts={"test": "jest tools && ng test"}
    )
    assert read(made, "src/menu.spec.ts").runner == "karma"


def test_the_first_versions_of_angular_start_karma() -> None:
    """Mocha, which only tools of the package use, was once inferred."""
    text = json.dumps({"apps": [{}], "test": {"karma": {"config": "./karma.conf.js"}}})
    packages = {"karma": "1.7.1", "karma-jasmine": "1.1.1", "mocha": "4.0.1", "@angular/cli": "1.5.0"}
    made = tree({".angular-cli.json": text}, devDependencies=packages, scripts={"test": "ng test -sr"})
    found = read(made, "src/menu.spec.ts")
    assert (found.runner, found.configuration) == ("karma", "karma.conf.js")
    assert "{entry} test --watch=false" in " ".join(found.test)
    made = tree({".angular-cli.json": '{"test": 1}'}, devDependencies=packages, scripts={"test": "ng test -sr"})
    assert read(made, "src/menu.spec.ts").runner == "mocha"


#: projects with Karma whose scripts start a project without the candidate's tests
SCRIPTS = {"test": "npm-run-all test:*", "test:icons": "karma start ./projects/icons/karma.conf.js"}
KARMA_FILES = {"projects/icons/karma.conf.js": "", "projects/ui/karma.conf.js": ""}
COMMAND = "node {reporter} node {entry} test ui --watch=false"


def test_karma_runs_the_project_of_the_tests() -> None:
    """Another project's tests passed, so the base counted as healthy, and the candidate was rejected for good."""
    files = workspace(ui=("projects/ui", KARMA, {"karmaConfig": "./projects/ui/karma.conf.js"}))
    made = tree(files | KARMA_FILES, devDependencies=PACKAGES | {"karma": "^6"}, scripts=SCRIPTS)
    found = read(made, "projects/ui/menu.spec.ts")
    assert (" ".join(found.test), found.selection) == (f"{COMMAND} -- {{files}}", ("{files}",))
    assert found.entries[:2] == ("node_modules/@angular/cli/bin/ng.js", "node_modules/@angular/cli/bin/ng")
    assert (found.configuration, found.parser) == ("projects/ui/karma.conf.js", "karma-json")
    assert (found.test_env["TEST_REPORT"], "KARMA_CONFIG" in found.test_env) == ("{report}", False)
    assert read(made, "projects/icons/icon.spec.ts").test_env["KARMA_CONFIG"] == "./projects/icons/karma.conf.js"


def test_nx_runs_its_own_projects() -> None:
    listed = {"angular.json": '{"projects": {"core": "libs/core", "ui": "libs/ui"}}'}
    files = {
        f"libs/{name}/{file}": text
        for name in ("core", "ui")
        for file, text in {
            "project.json": json.dumps({"name": name, "targets": {"test": {"executor": KARMA}}}),
            "karma.conf.js": "",
        }.items()
    }
    packages = PACKAGES | {"karma": "^6", "nx": "15.0.0"}
    made = tree(listed | files, devDependencies=packages, scripts={"test": "nx test core --watch=false"})
    found = read(made, "libs/ui/menu.spec.ts")
    assert " ".join(found.test) == f"{COMMAND} --skip-nx-cache -- {{files}}"
    assert (found.entries[0], found.test_env["NX_DAEMON"]) == ("node_modules/nx/bin/nx.js", "false")


def test_a_workspace_below_the_root_is_found() -> None:
    files = workspace(ui=("src/ui", VITEST, {}))
    inside = {"packages/ng/angular.json": files["angular.json"]}
    inside["packages/ng/package.json"] = json.dumps({"name": "ng", "devDependencies": PACKAGES})
    found = read(tree(inside, workspaces=["packages/*"]), "packages/ng/src/ui/a.spec.ts")
    assert (found.folder, found.test[3]) == ("packages/ng", "ui")


@pytest.mark.parametrize(
    ("executor", "runner"),
    [
        ("@nrwl/jest:jest", "jest"),
        ("@angular-builders/jest:run", "jest"),
        ("@nx/vite:test", "vitest"),
        ("@angular-builders/custom-webpack:karma", "karma"),
    ],
)
def test_other_builders_start_their_own_runner(executor: str, runner: str) -> None:
    made = tree(
        {"libs/ui/project.json": json.dumps({"targets": {"test": {"executor": executor}}})},
        devDependencies={"jest": "^29", "karma": "^6", "vitest": "^1"},
        scripts={"test": "nx affected"},
    )
    assert read(made, "libs/ui/menu.spec.ts").runner == runner


def test_an_older_builder_is_refused_before_the_install() -> None:
    """Before version 21 it has no option to write a report into a file."""
    packages = PACKAGES | {"@angular/build": "^20.3.0"}
    with pytest.raises(Unsupported, match=r"angular\.json: ui runs Vitest by @angular/build:unit-test 20"):
        read(tree(workspace(ui=("", VITEST, {})), devDependencies=packages, scripts={"test": "ng test"}), "a.spec.ts")


@pytest.mark.parametrize("text", ["", "[]", '{"projects": [1]}', '{"projects": {"ui": 1}}'])
def test_a_broken_workspace_file_is_ignored(text: str) -> None:
    made = tree({"angular.json": text}, scripts={"test": "ng test"})
    assert read(made, "src/menu.spec.ts").runner == "jest"


def test_verdicts_of_angular_list_missing_safeguards() -> None:

    assert "negative_control" in runner("vitest").lacks("vitest-angular-json")
    assert runner("vitest").reads_with("vitest-json") and not runner("vitest").reads_with("vitest-angular-json")
