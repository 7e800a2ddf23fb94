"""How a run can end without a result, and the signs of a forged or broken result."""

from __future__ import annotations

from pathlib import Path

import factories
import pytest
from menu import MakePlan, Patch

from pipeline.core.errors import InfrastructureError
from pipeline.core.records import Status
from pipeline.execution.runs import Plan, run_gold, run_patch
from pipeline.sandbox.base import Completed, Limit, Limits
from pipeline.sandbox.scripted import ScriptedSandbox


def breaking(way: str) -> dict[str, str | None]:
    """A test file that breaks the runner in this way."""
    return {"src/Menu.test.js": f"opens | src/Menu.js | <nav\nbreaks {way}\n"}


def commands(plan: Plan) -> list[tuple[str, ...]]:
    assert isinstance(plan.sandbox, ScriptedSandbox)
    return plan.sandbox.commands


def own(argv: tuple[str, ...]) -> Completed:
    """The output of our own commands for one test file and no difference from the commit."""
    return Completed(0, b"a.test.js\n", 0) if "ls -1d" in " ".join(argv) else factories.own_command(argv)


def scripted(tmp_path: Path, limit: Limit | None = None) -> Plan:
    """A plan whose test command ends like this; our own commands succeed."""

    def respond(argv: tuple[str, ...], files: dict[str, bytes]) -> Completed:
        return own(argv) if argv[0] in ("git", "sh") else Completed(-9, b"the log", 3, limit)

    return Plan(
        ScriptedSandbox(tmp_path, respond), "image", factories.make_environment(), ("a.test.js", "gone.test.js")
    )


@pytest.mark.trap("no-limits-around-tests")
@pytest.mark.parametrize(
    ("limit", "end"),
    [
        ("time", "timeout"),
        ("memory", "out_of_memory"),
        ("output", "output_limit"),
        ("disk", "disk_limit"),
        ("processes", "process_limit"),
    ],
)
def test_each_limit_has_its_own_end(tmp_path: Path, limit: Limit, end: str) -> None:
    """A timeout, an exhausted memory and too much output are neither failed tests nor crashes of the batch."""
    run = run_gold(scripted(tmp_path, limit), [])
    assert (run.end, run.results, run.seconds) == (end, {}, 3)
    assert run.log.startswith(b"$ npx jest ") and run.log.endswith(b"\nthe log")


def test_too_much_output_ends_the_run(plan: MakePlan, patch: Patch) -> None:
    run = run_gold(plan(limits=Limits(output=1000)), [("test", patch(breaking("flood")))])
    assert (run.end, len(run.log.partition(b"\n")[2])) == ("output_limit", 1000)


def test_a_runner_without_a_report(plan: MakePlan, patch: Patch) -> None:
    assert run_gold(plan(), [("test", patch(breaking("no-report")))]).end == "no_report"


@pytest.mark.trap("printed-passed")
@pytest.mark.rule("tampered")
@pytest.mark.parametrize(
    ("way", "fault"),
    [
        ("silent", "the runner ended without announcing its report"),
        ("totals", "the report does not add up: PASSED: 1 read, 2 reported"),
    ],
)
def test_signs_of_a_forged_result(plan: MakePlan, patch: Patch, way: str, fault: str) -> None:
    """Other benchmarks believe a runner that prints its own PASSED lines; here the report and the totals must agree."""
    run = run_gold(plan(), [("test", patch(breaking(way)))])
    assert (run.end, run.faults, run.died) == ("ran", (fault,), ())


@pytest.mark.rule("crashed")
@pytest.mark.trap("honest-crash")
@pytest.mark.parametrize(
    ("ways", "sign"),
    [
        (["exit"], "the report says success, the exit code is 1"),
        (["cut"], "the report is not JSON"),
        (["silent", "killed"], "the runner was killed by signal 9 before it announced its report"),
    ],
)
def test_signs_of_a_runner_that_broke(plan: MakePlan, patch: Patch, ways: list[str], sign: str) -> None:
    """A late rejection or an exhausted heap: nobody cheated, but the result is not trusted."""
    text = "".join(f"breaks {way}\n" for way in ways)
    run = run_gold(plan(), [("test", patch({"src/Menu.test.js": f"opens | src/Menu.js | <nav\n{text}"}))])
    assert (run.end, run.faults) == ("ran", ())
    assert sign in run.died[0]


@pytest.mark.trap("bought-fault")
def test_output_of_tests_is_no_evidence_against_the_machine(tmp_path: Path) -> None:
    """A patch that printed ENOSPC and wrote no report was once "not evaluated", and so left the denominator."""

    def respond(argv: tuple[str, ...], files: dict[str, bytes]) -> Completed:
        output = b"Error: ENOSPC: no space left on device\nEAI_AGAIN\nETIMEDOUT\n"
        return Completed(1, output, 3) if argv[0] == "npx" else own(argv)

    plan = Plan(ScriptedSandbox(tmp_path, respond), "image", factories.make_environment(), ("a.test.js",))
    assert run_patch(plan, factories.FIX_PATCH, "", factories.TEST_PATCH).end == "no_report"


def test_an_honest_run_has_no_fault(plan: MakePlan) -> None:
    run = run_gold(plan(), [])
    assert (run.end, run.doubts) == ("ran", ())
    assert run.suites == {"src/Menu.test.js": Status.PASSED}


@pytest.mark.rule("suite-is-a-test")
def test_a_file_that_cannot_run_is_one_failed_test(plan: MakePlan, patch: Patch) -> None:
    """Its test cases are NONE in that run, so a fix that makes a new test file importable counts."""
    run = run_gold(plan(), [("test", patch({"src/New.test.js": ""}))])
    assert run.results == {"src/Menu.test.js > opens": Status.PASSED, "src/New.test.js": Status.FAILED}


def test_without_test_files_nothing_runs(plan: MakePlan) -> None:
    for files in ((), ("none.test.js",)):
        run = run_gold(plan(files=files), [])
        assert (run.end, run.results) == ("ran", {})


def test_only_files_that_exist_are_run(tmp_path: Path) -> None:
    """A runner fails as a whole if one of its files is missing, and new files are missing before the test patch is
    applied."""
    plan = scripted(tmp_path)
    run_gold(plan, [])
    assert commands(plan)[-1][-1] == "a.test.js"


def test_each_run_has_its_own_report(tmp_path: Path) -> None:
    """A patch cannot write the report in advance: its name is chosen when the tests start."""
    plan = scripted(tmp_path)
    run_gold(plan, [])
    run_gold(plan, [])
    first, second = (argv for argv in commands(plan) if argv[0] == "npx")
    assert first != second
    assert first[3].startswith("--outputFile=/scratch/report-")


@pytest.mark.invariant(4)
def test_a_broken_workspace_is_an_infrastructure_fault(tmp_path: Path) -> None:
    """If git itself fails, the machine is to blame and not the patch."""

    def respond(argv: tuple[str, ...], files: dict[str, bytes]) -> Completed:
        return Completed(128, b"fatal: no space left", 0) if "git ls-files" in " ".join(argv) else own(argv)

    plan = Plan(ScriptedSandbox(tmp_path, respond), "image", factories.make_environment(), ("a.test.js",))
    with pytest.raises(InfrastructureError) as error:
        run_patch(plan, factories.FIX_PATCH, "", factories.TEST_PATCH)
    assert error.value.cause == "workspace"


@pytest.mark.trap("bought-fault")
@pytest.mark.parametrize(("limit", "end"), [("time", "timeout"), ("memory", "out_of_memory"), ("disk", "disk_limit")])
def test_making_files_again_has_limits_too(tmp_path: Path, limit: Limit, end: str) -> None:
    """A patch with an endless build once left no usable workspace: it was "not evaluated" and tried four times."""

    def respond(argv: tuple[str, ...], files: dict[str, bytes]) -> Completed:
        files["/repo/.git/a11y-bench-made"] = b"dist/made.js"
        if argv[-1].endswith("/git.tar"):
            files[argv[-1]] = b"what git knows"
        if argv[0] == "make":
            return Completed(-9, b"still making", 3, limit)
        return Completed(0, b"1\t1\tsrc/Menu.tsx\0", 0) if "--numstat" in argv else own(argv)

    environment = factories.make_environment(prepare=(("make",),))
    plan = Plan(ScriptedSandbox(tmp_path, respond), "image", environment, ("a.test.js",))
    for run in (
        run_patch(plan, factories.FIX_PATCH, "", factories.TEST_PATCH),
        run_gold(plan, [("fix", factories.FIX_PATCH)]),
    ):
        assert (run.end, run.log) == (end, b"$ make (ended with -9)\nstill making\n")
