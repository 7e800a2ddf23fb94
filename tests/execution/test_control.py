"""Negative controls: they change nothing in an honest run, and they expose a run in which nothing can fail."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from menu import FIX, MakePlan, Patch

from pipeline.core.errors import InfrastructureError
from pipeline.core.records import Status
from pipeline.execution.control import Control, changed, digests, plant, text
from pipeline.execution.reading import read
from pipeline.execution.run import TestRun
from pipeline.execution.runs import run_patch
from pipeline.sandbox.base import Completed
from pipeline.sandbox.scripted import ScriptedSandbox

TEST = "src/Menu.test.js"
NAMED = "opens | src/Menu.js | <nav\nhas a name | src/Menu.js | aria-label\n"


@pytest.mark.rule("negative-control")
def test_an_honest_run_does_not_show_the_control(plan: MakePlan, patch: Patch) -> None:
    run = run_patch(plan(), patch(FIX), "", patch({TEST: NAMED}), [TEST, "src/Gone.test.js"])
    assert run.results == {f"{TEST} > opens": Status.PASSED, f"{TEST} > has a name": Status.PASSED}
    assert (run.faults, run.end) == ((), "ran")


@pytest.mark.rule("negative-control")
@pytest.mark.rule("tampered")
@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("deaf", "the negative control of src/Menu.test.js did not fail"),
        ("rewrites", "the run changed src/Menu.test.js"),
    ],
)
def test_a_run_in_which_no_test_can_fail_has_a_fault(plan: MakePlan, patch: Patch, way: str, fault: str) -> None:
    """A patch's code runs in the same process as the tests and can replace the assertions and the remaining tests."""
    gold = {TEST: f"{NAMED}breaks {way}\n"}
    run = run_patch(plan(), patch({"src/Other.js": "\n"}), "", patch(gold), [TEST])
    assert run.faults == (fault,)


@pytest.mark.rule("tampered")
def test_files_that_cannot_be_read_are_not_changed(plan: MakePlan) -> None:
    """Leftovers of a run may exhaust the memory: then no file can be read, and nothing is proved. A folder among the
    files does not hide changes to the others. A missing file counts as changed, and so does a pipe, which is never
    read."""
    with plan().sandbox.open("image") as workspace:
        before = digests(workspace, ["src", "src/Menu.js", "package.json"])
        assert set(before) == {"src/Menu.js", "package.json"} and changed(workspace, before) == ()
        workspace.run(["rm", "src/Menu.js"])
        assert changed(workspace, before) == ("src/Menu.js",)
        workspace.run(["mkfifo", "src/Menu.js"])
        assert changed(workspace, before) == ("src/Menu.js",)
    for done in (Completed(-9, b"", 0), Completed(1, b"", 0, "memory")):
        sandbox = ScriptedSandbox(Path(), lambda argv, files, done=done: done)
        with sandbox.open("image") as ended, pytest.raises(InfrastructureError, match="cannot be read"):
            changed(ended, before)


@pytest.mark.rule("negative-control")
def test_a_file_whose_tests_exclude_others_has_no_control(plan: MakePlan, patch: Patch) -> None:
    """The control would be skipped, which says nothing about the patch."""
    gold = {TEST: f"{NAMED}it.only | src/Menu.js | <nav\nbreaks deaf\n"}
    assert run_patch(plan(), patch(FIX), "", patch(gold), [TEST]).faults == ()


def ran(*statuses: str, code: int = 1) -> TestRun:
    """A Mocha run of one file with tests of these statuses; the last status is the control's, empty if it did not
    run."""
    tests = [
        {"file": f"/repo/{TEST}", "path": [f"t{number}"], "hook": False, "status": status}
        for number, status in enumerate(statuses)
        if status
    ]
    stats = {"passes": statuses.count("passed"), "failures": statuses.count("failed"), "pending": 0}
    report = json.dumps({"stats": stats, "tests": tests, "broken": []}).encode()
    control = Control({TEST: f"t{len(statuses) - 1}"})
    log = b"$ mocha\nTest results written to: r.json\n"
    return TestRun(code=code, place="r.json", root="/repo", log=log, report=report, control=control)


@pytest.mark.rule("negative-control")
@pytest.mark.trap("honest-crash")
def test_a_control_that_a_failure_prevented_is_no_sign_of_tampering() -> None:
    """If a global hook fails (for example one that forbids warnings), Mocha stops and reports no later test. Such runs
    were once called tampered."""
    stopped = read("mocha-json", ran("passed", "failed", ""))
    assert stopped.faults == () and stopped.died == (f"the run ended before the negative control of {TEST}",)
    died = read("mocha-json", ran("passed", "", code=1))
    assert died.faults == () and died.died[0].startswith("the run ended before")
    left_out = read("mocha-json", ran("passed", "", code=0))
    assert left_out.faults == (f"the negative control of {TEST} did not fail",)
    passes = read("mocha-json", ran("failed", "passed", "passed"))
    assert passes.faults == (f"the negative control of {TEST} did not fail",), "another failure excuses no forgery"


@pytest.mark.rule("negative-control")
def test_the_title_of_a_control_follows_from_gold(plan: MakePlan, patch: Patch) -> None:
    """Whoever could write the title into a patch already has gold. A test file is the same for every patch, so runners
    find it in their cache."""

    def planted(source: str, gold: str) -> bytes:
        run = run_patch(plan(), patch({"src/Menu.js": source}), gold, patch({TEST: NAMED}), [TEST])
        return run.report.split(b'"title":"')[-1].split(b'"')[0]

    assert planted("<nav a>\n", "") == planted("<nav b>\n", "") != planted("<nav a>\n", patch(FIX))


@pytest.mark.rule("negative-control")
def test_a_control_tries_the_matchers_of_its_own_file(plan: MakePlan) -> None:
    """So its text does not depend on which other files are run. Missing files get no control."""
    names = {"src/A.test.js": "expect(a).toBe(1)\n", "src/B.test.js": "expect(b).toBeChecked()\n", "src/C.test.js": ""}
    with plan().sandbox.open("image") as workspace:
        for name, content in names.items():
            workspace.write(f"{workspace.root}/{name}", content.encode())
        planted = plant(workspace, "jest-json", [*names, "src/Gone.test.js"], "c0")
        texts = [(workspace.read(f"{workspace.root}/{name}") or b"").decode() for name in names]
    assert [*planted.titles] == [*names] and len({*planted.titles.values()}) == 3
    used: list[set[str]] = [{"toBe"}, {"toBeChecked"}, set()]
    controls = [text("jest-json", *one) for one in zip(used, planted.titles.values(), strict=True)]
    assert texts == [content + control for content, control in zip(names.values(), controls, strict=True)]


@pytest.mark.rule("negative-control")
def test_a_control_is_found_under_the_file_that_loads_its_own() -> None:
    """A test file may be loaded within a group of another one, which the runner then reports for both. Their controls
    once had the same title: a failed test remained in the results, and the run looked as if it had ended early."""
    other = "test/index.js"
    control = Control({TEST: "c1", other: "c2"})
    results = {
        f"{TEST} > opens": Status.PASSED,
        f"{other} > group > opens": Status.PASSED,
        f"{other} > group > c1": Status.FAILED,
        f"{other} > c2": Status.FAILED,
    }
    assert control.silenced(results) == []
    assert control.without(results) == dict.fromkeys((f"{TEST} > opens", f"{other} > group > opens"), Status.PASSED)
    forged = results | {f"{other} > group > c1": Status.PASSED}
    assert control.silenced(forged) == [TEST] and control.unreached(forged) == []


@pytest.mark.parametrize(
    ("parser", "start"),
    [
        ("jest-json", '\n\n// @ts-ignore\n;(typeof it === "function" ? it : test)("c0", function'),
        (
            "vitest-json",
            '\nimport { expect as expectc0, it as itc0 } from "vitest";\n// @ts-ignore\n;itc0("c0", function',
        ),
    ],
)
def test_the_text_of_a_control_fits_the_file(parser: str, start: str) -> None:
    """A file may take the runner's functions from globals or import them; matchers that write files are left alone."""
    written = text(parser, {"toBe", "toString", "toMatchImageSnapshot", "toBeChecked"}, "c0")
    assert written.startswith(start)
    assert '["toBe", "toBeChecked"]' in written and written.count("\n") == 4
