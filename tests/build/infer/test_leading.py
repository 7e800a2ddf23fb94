"""What a package runs before its runner, through the scripts that its test script calls."""

from __future__ import annotations

from typing import Any

import pytest
from trees import package, tree

from pipeline.build.infer.leading import Part, before_runner


def test_what_comes_before_the_inferred_runner_counts() -> None:
    """Another runner checked the style before the build whose files the tests load."""
    scripts = {"test": "mocha test/lint.js && gulp dev && karma start"}
    assert [part.text for part in before_runner(tree(scripts=scripts), "", "karma")] == ["gulp dev"]
    assert before_runner(tree(scripts=scripts), "", "mocha") == []
    assert before_runner(tree(scripts=scripts), "", "jest") == []


def found(scripts: dict[str, str], files: dict[str, str] | None = None, **more: Any) -> list[str]:
    """The parts as words: scripts as `run NAME`; those in another folder begin with it."""
    parts = before_runner(tree(files, scripts=scripts, **more), "")
    return [f"{part.folder} {part.text or f'run {part.script}'}".strip() for part in parts]


@pytest.mark.parametrize(
    ("scripts", "before"),
    [
        ({"test": "yarn build && yarn test:ci", "test:ci": "yarn test:build && karma start"},
         ["yarn build && yarn test:build"]),
        ({"test": "tsc && cp a b && jest && rm -rf lib"}, ["tsc && cp a b"]),
        ({"test": "run-s icons unit", "icons": "make-icons", "unit": "jest"}, ["run icons"]),
        ({"test": "npm-run-all icons:* unit", "icons:a": "a", "icons:b": "b", "unit": "jest"},
         ["run icons:a", "run icons:b"]),
        ({"test": "npm run unit", "preunit": "tsc", "unit": "jest", "pretest": "make-icons"},
         ["run pretest", "run preunit"]),
        ({"test": "npm run unit", "unit": "npm run compile && npm run jest", "compile": "tsc", "jest": "jest"},
         ["npm run compile"]),
        ({"test": "npm run lint && npm ci && tsc && jest", "lint": "eslint ."}, ["tsc"]),
        ({"test": "eslint .", "test:unit": "tsc && jest"}, ["tsc"]),
        ({"pretest": "tsc && jest"}, []),
        ({"test": "tsc && gulp test"}, []),
        ({"test": "jest && tsc"}, []),
        ({"test": "npm test && jest"}, []),
        ({"test": "npm run a", "a": "npm run b && jest", "b": "npm run a"}, []),
        ({}, []),
    ],
)  # fmt: skip
def test_called_scripts_are_followed_to_the_first_runner(scripts: dict[str, str], before: list[str]) -> None:
    assert found(scripts) == before


@pytest.mark.parametrize(
    "script",
    [
        "run-p serve unit",
        "npm-run-all --parallel serve unit",
        'concurrently "npm:serve" "npm:unit"',
        "npm run serve & jest",
        "tsc -w & wait-on lib && jest",
        "(cd a && tsc) && jest",
        "node_modules/.bin/jest",
    ],
)
def test_what_runs_beside_the_runner_is_not_run_before_it(script: str) -> None:
    """A server would never end."""
    assert found({"test": script, "serve": "serve .", "unit": "jest"}) == []


def test_a_part_of_a_subshell_is_no_command() -> None:
    assert found({"test": "tsc && (cd a && b) && jest"}) == []


def test_commands_in_another_folder_stay_there() -> None:
    files = {"kit/package.json": package(name="kit", scripts={"unit": "gen && jest"})}
    assert found({"test": "tsc && cd kit && tsc -b && npm run unit"}, files) == ["tsc", "kit tsc -b && gen"]


def test_variables_are_set_for_the_commands_after_them() -> None:
    kept = {"unit": {"command": "webpack && jest", "env": {"MODE": "test"}}}
    assert found({"test": "bnr unit"}, betterScripts=kept) == ["export MODE=test && webpack"]
    assert found({"test": "export MODE=test && jest"}) == []


def test_dependencies_of_a_task_come_before_its_runner() -> None:
    tasks = {"test": {"command": "jest", "dependencies": ["build"]}, "build": {"command": "tsc"}}
    assert found({"test": "wireit", "build": "wireit"}, wireit=tasks) == ["npm run build"]


def test_a_folder_without_a_package_runs_nothing() -> None:
    assert before_runner(tree(scripts={"test": "tsc && jest"}), "src") == []
    assert Part("", script="a") != Part("", "a")
