"""Scripts whose commands are in other fields of package.json: what their tools would run."""

from __future__ import annotations

from typing import Any

import pytest
from trees import package, read, tree

from pipeline.build.infer import unfolding
from pipeline.build.infer.scripts import names, starts_task, task_variables
from pipeline.build.infer.tree import Manifest

TASKS = {
    "test": {
        "command": "wtr --config unit.config.js",
        "dependencies": ["build", {"script": "icons"}, "serve", "../kit:build", 7],
    },
    "build": {"command": "tsc && cp -r a b", "env": {"MODE": "all of it", "OLD": 1, "no-name": "x"}},
    "icons": {"command": "make-icons", "env": {"SIZE": {"external": True, "default": "16"}, "TOKEN": {"external": 1}}},
    "serve": {"command": "serve .", "service": True},
    "all": {"dependencies": ["build", "test"]},
    "empty": {},
}
KEPT: dict[str, Any] = {
    "unit": {"command": "karma start", "env": {"NODE_ENV": "test", "CI": True}},
    "all": {"command": "rm -rf lib && webpack", "env": {"NODE_ENV": "production"}},
    "run": "node run.js",
    "none": {"env": {"A": "b"}},
}


@pytest.mark.parametrize(
    ("name", "script", "text"),
    [
        ("test", "wireit", "npm run build && npm run icons && wtr --config unit.config.js"),
        ("build", "yarn run -TB wireit", "export MODE='all of it' OLD=1 && tsc && cp -r a b"),
        ("icons", "../../node_modules/.bin/wireit", "SIZE=16 make-icons"),
        ("all", "wireit", "npm run build && npm run test"),
        ("empty", "wireit", "wireit"),
        ("unknown", "wireit", "wireit"),
        ("test", "jest", "jest"),
        ("test", "wireit --help", "wireit --help"),
    ],
)
def test_a_task_of_wireit_is_its_dependencies_and_its_command(name: str, script: str, text: str) -> None:
    """Servers, and what is in other packages, are left out."""
    assert unfolding.scripts({"scripts": {name: script}, "wireit": TASKS})[name] == text


@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("better-npm-run unit", "NODE_ENV=test CI=true karma start"),
        ("npm run lint && bnr -s unit --single-run", "npm run lint && NODE_ENV=test CI=true karma start --single-run"),
        ("npx better-npm-run run", "npx node run.js"),
        ("./node_modules/.bin/bnr all", "export NODE_ENV=production && rm -rf lib && webpack"),
        ("better-npm-run none", "better-npm-run none"),
        ("better-npm-run unknown", "better-npm-run unknown"),
        ("my-bnr unit", "my-bnr unit"),
    ],
)
def test_a_call_of_better_npm_run_is_the_kept_command(script: str, text: str) -> None:
    assert unfolding.scripts({"scripts": {"test": script}, "betterScripts": KEPT}) == {"test": text}


@pytest.mark.parametrize("odd", [None, 1, "x", [], ["a"], {"test": 1}, {"test": []}, {"test": {"command": {}}}])
@pytest.mark.parametrize("field", ["wireit", "betterScripts"])
def test_a_field_of_another_type_changes_nothing(field: str, odd: Any) -> None:
    texts = {"test": "wireit", "unit": "bnr test"}
    assert unfolding.scripts({"scripts": texts, field: odd}) == texts
    assert unfolding.scripts({"scripts": odd, field: {}}) == {}


@pytest.mark.parametrize("odd", [1, {}, ["build", None, {"script": 2}, {"script": "a b; c"}, "$WORKSPACES:build"]])
def test_an_odd_list_of_dependencies_is_read_as_far_as_possible(odd: Any) -> None:
    task = {"command": "jest", "dependencies": odd, "env": [1]}
    text = unfolding.scripts({"scripts": {"test": "wireit"}, "wireit": {"test": task}})["test"]
    assert text == ("npm run build && jest" if isinstance(odd, list) else "jest")


def test_the_runner_of_a_task_is_called_as_the_task_says() -> None:
    """No call was seen, so the configuration and the variables of the task were lost."""
    both = {"devDependencies": {"jest": "^29", "@web/test-runner": "1", "wireit": "1"}}
    made = tree({"unit.config.js": ""}, scripts=dict.fromkeys(TASKS, "wireit"), wireit=TASKS, **both)
    found = read(made, "src/menu.test.js")
    assert (found.runner, found.configuration) == ("wtr", "unit.config.js")
    assert found.evidence["runner"].startswith("package.json: scripts.test: wtr")


def test_what_a_task_starts_in_other_packages_does_not_count() -> None:
    """A task of the root started the tests of one package by name, and those of the others by means of their tasks."""
    tasks = {"test": {"dependencies": ["test:menu", "./packages/tabs:test"]},
             "test:menu": {"command": "cd packages/menu && npm test"}}  # fmt: skip
    files = {
        "packages/menu/package.json": package(scripts={"test": "mocha"}),
        "packages/tabs/vite.config.ts": "",
        "packages/tabs/package.json": package(name="tabs"),
    }
    scripts = {"test": "wireit", "test:menu": "wireit"}
    made = tree(files, scripts=scripts, wireit=tasks, devDependencies={"wireit": "1"})
    assert read(made, "packages/tabs/a.test.ts").runner == "vitest"
    found = read(made, "packages/menu/a.test.ts")
    assert (found.runner, found.folder) == ("mocha", "packages/menu")


def test_the_runner_of_a_kept_command_has_its_variables() -> None:
    packages = {"jest": "^29", "karma": "^6", "better-npm-run": "0.1"}
    scripts = {"test": "npm run lint && better-npm-run unit", "lint": "eslint ."}
    made = tree({"karma.conf.js": ""}, scripts=scripts, betterScripts=KEPT, devDependencies=packages)
    found = read(made, "src/menu.test.js")
    assert (found.runner, found.test_env["NODE_ENV"]) == ("karma", "test")


def test_every_reader_of_a_manifest_sees_the_commands() -> None:
    scripts = {"test": "wireit", "test:unit": "wireit"}
    tasks = {"test": {"command": "MODE=x gulp test", "dependencies": ["test:unit"]}, "test:unit": {"command": "mocha"}}
    manifest = Manifest("package.json", {"scripts": scripts, "wireit": tasks})
    assert names(manifest) == ["test", "test:unit"] and manifest.scripts["test:unit"] == "mocha"
    assert (starts_task(manifest), task_variables(manifest)) == (True, {"MODE": "x"})
    assert starts_task(Manifest("package.json", {"scripts": scripts, "wireit": {"test": {"command": "toolbox"}}}))


def test_a_tool_that_a_task_calls_is_still_found_by_its_files() -> None:
    """Wireit itself may start any runner."""
    task = {"test": {"command": "sh -c toolbox"}}
    made = tree({"vitest.config.ts": ""}, scripts={"test": "wireit"}, wireit=task, devDependencies={"wireit": "1"})
    assert read(made, "src/menu.test.ts").runner == "vitest"
