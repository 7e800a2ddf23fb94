"""Vitest's reports with a negative control in each file: hooks that fail are still seen, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.core.records import Status
from pipeline.ecosystems import parser
from pipeline.ecosystems.reports import EVERYWHERE

HERE = Path(__file__).parent
HOOKS = sorted(path.stem for path in HERE.glob("outputs-hooks/*.report"))
OUTPUTS = sorted(path.stem for path in HERE.glob("outputs/*.report"))
OF_FILE = {"src/after-all-file.test.js", "src/before-all-file.test.js"}
OF_GROUP = {f"src/{when}-all{late}.test.js" for when in ("before", "after") for late in ("", "-late")}


def counted(data: dict[str, Any]) -> bool:
    """Whether failed tests count for their files and groups: since version 2.1."""
    return "snapshot" in data


def controlled(data: dict[str, Any]) -> dict[str, Any]:
    """A real report, as it is if each file that could be loaded also has a control. (Vitest 0.34, 1, 3 and 4 reported
    exactly these counts.)"""
    for suite in data["testResults"]:
        tests = suite["assertionResults"]
        if not tests:
            continue
        titles = [] if counted(data) else [""]
        tests.append({"ancestorTitles": titles, "title": "c0", "status": "failed", "failureMessages": ["Error: c0"]})
        data["numFailedTests"] += 1
        data["numTotalTests"] += 1
        if suite["status"] != "failed" and counted(data):
            data["numFailedTestSuites"] += 1
        suite["status"] = "failed"
    return data | {"success": False}


def alone(data: dict[str, Any], file: str) -> dict[str, Any]:
    """The part of a report with failing hooks that is about this file, without failed tests."""
    suites = [suite for suite in data["testResults"] if suite["name"].endswith(file)]
    said = [test["status"] for suite in suites for test in suite["assertionResults"]]
    of_group = suites[0]["message"] == ""
    skipped = len(said) - said.count("passed")
    totals = {"numTotalTests": len(said), "numPassedTests": said.count("passed"), "numFailedTests": 0}
    totals |= {"numPendingTests": skipped, "numTodoTests": 0}
    if not counted(data):  # skipped tests count as passed
        totals |= {"numPassedTests": len(said), "numPendingTests": 0}
    return data | totals | {"testResults": suites, "numFailedTestSuites": 1 + (of_group and counted(data))}


def failed(data: dict[str, Any]) -> set[str]:
    suites = parser("vitest-json").read(json.dumps(data).encode(), "/repo").suites
    assert EVERYWHERE in suites
    return {file for file, status in suites.items() if status is Status.FAILED}


def hooks(version: str) -> dict[str, Any]:
    return json.loads((HERE / "outputs-hooks" / f"{version}.report").read_text(encoding="utf-8"))


@pytest.mark.rule("hooks")
@pytest.mark.trap("hook-failure-passes")
@pytest.mark.parametrize("version", HOOKS)
def test_failing_hooks_are_seen_beside_controls(version: str) -> None:
    """None of six was seen, so a patch that made gold's `afterAll` fail was resolved."""
    assert failed(controlled(hooks(version))) == OF_FILE | {EVERYWHERE}


@pytest.mark.rule("hooks")
@pytest.mark.parametrize("file", sorted(OF_FILE | OF_GROUP))
@pytest.mark.parametrize("version", HOOKS)
def test_each_failing_hook_is_seen_alone_beside_a_control(version: str, file: str) -> None:
    wanted = {file} if file in OF_FILE else {EVERYWHERE}
    assert failed(controlled(alone(hooks(version), file))) == wanted


@pytest.mark.rule("hooks")
@pytest.mark.parametrize("version", OUTPUTS)
def test_failed_tests_and_controls_are_no_failing_hooks(version: str) -> None:
    data = json.loads((HERE / "outputs" / f"{version}.report").read_text(encoding="utf-8"))
    assert failed(data) == failed(controlled(data)) == {"src/Broken.test.js"}


def report(groups: int, *tests: tuple[list[str], str, str]) -> dict[str, Any]:
    """A report of one file since version 2.1, in which so many groups failed."""
    rows = [{"ancestorTitles": titles, "title": title, "status": status} for titles, title, status in tests]
    said = [status for _, _, status in tests]
    totals = {"numPassedTests": said.count("passed"), "numFailedTests": said.count("failed")}
    suite = {"name": "/repo/a.test.js", "status": "failed", "message": "", "assertionResults": rows}
    counts = {"numFailedTestSuites": 1 + groups, "snapshot": {}, "success": False}
    return totals | counts | {"testResults": [suite]}


@pytest.mark.rule("hooks")
def test_groups_of_failed_tests_are_told_from_groups_whose_hook_failed() -> None:
    """Two groups of one name, such as `describe.each` makes, look like one. There may be as many as there are tests of
    one name, so that nobody is blamed for a hook that did not fail."""
    nested = (["Menu", "nested"], "opens", "failed")
    twice = [(["Menu"], "opens", "failed")] * 2
    siblings = [(["Menu"], "opens", "failed"), (["Menu"], "closes", "failed")]
    unnamed = ([""], "opens", "failed")
    cases: list[Callable[[int], dict[str, Any]]] = [
        lambda more: report(2 + more, nested),
        lambda more: report(2 + more, *twice),
        lambda more: report(1 + more, *siblings),
        lambda more: report(1 + more, unnamed),
        lambda more: report(0 + more, ([], "opens", "failed"), (["Menu"], "closes", "passed")),
    ]
    for case in cases:
        assert failed(case(0)) == set()
        assert failed(case(1)) == {EVERYWHERE}


def test_a_file_in_thousands_of_groups_is_read() -> None:
    """A patch may write what it wants, and reading must not take the square of it."""
    titles = [str(number) for number in range(50_000)]
    assert failed(report(50_000, (titles, "opens", "failed"))) == set()


def test_a_report_without_files_has_no_result_for_all_of_them() -> None:
    """If no test file exists, nothing was loaded."""
    empty = {"success": True, "numPassedTests": 0, "numFailedTests": 0, "testResults": []}
    assert parser("vitest-json").read(json.dumps(empty).encode(), "/repo").suites == {}
