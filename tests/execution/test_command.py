"""From an environment to a command line: placeholders, selected or all test files, and the working folder."""

from __future__ import annotations

import factories

from pipeline.execution.command import argv, variables

PLACES = {"entry": "node_modules/jest/bin/jest.js", "report": "/scratch/r.json", "cache": "/cache"}
TEST = ("node", "{entry}", "--out={report}", "{files}", "--end")


def test_selected_files_and_all() -> None:
    environment = factories.make_environment(test=TEST, selection=("--only", "{files}"), everything=("src/**/*.js",))
    start = ["node", "node_modules/jest/bin/jest.js", "--out=/scratch/r.json"]
    assert argv(environment, PLACES, ["a b.js", "c.js"]) == [*start, "--only", "a b.js", "c.js", "--end"]
    assert argv(environment, PLACES, None) == [*start, "src/**/*.js", "--end"]


def test_files_are_named_from_the_folder() -> None:
    environment = factories.make_environment(test=("run", "{files}"), folder="packages/ui")
    files = ["packages/ui/src/a.js", "packages/ui-2/b.js", "c.js"]
    assert argv(environment, PLACES, files) == ["run", "src/a.js"]


def test_variables_are_filled_in_and_other_braces_stay() -> None:
    environment = factories.make_environment(test_env={"REPORT": "{report}", "SHAPE": "{a} {report}"})
    assert variables(environment, PLACES) == {"REPORT": "/scratch/r.json", "SHAPE": "{a} /scratch/r.json"}
