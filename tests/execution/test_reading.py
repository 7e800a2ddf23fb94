"""What log and report of a run say together: errors that the runner counts only in its log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pipeline.core.records import Status
from pipeline.ecosystems.reports import EVERYWHERE
from pipeline.execution.control import Control
from pipeline.execution.reading import read
from pipeline.execution.run import TestRun

OUTPUTS = Path(__file__).parents[1] / "ecosystems" / "runners" / "vitest" / "outputs-late"
VERSIONS = sorted(path.stem for path in OUTPUTS.glob("*.report"))
FILE, OPENS = "src/late.test.js", "src/late.test.js > opens"
NONE = Control()
ANNOUNCED = b"$ vitest run\nJSON report written to /scratch/report\n"
CAUGHT = b"\x1b[31m\x1b[1m\nVitest caught %d unhandled error%s during the test run.\nThis might cause\n"


def report(*statuses: str) -> bytes:
    """A report of one file without a control."""
    tests = [{"ancestorTitles": [], "title": f"t{number}", "status": said} for number, said in enumerate(statuses)]
    status = "failed" if "failed" in statuses else "passed"
    totals = {"numPassedTests": statuses.count("passed"), "numFailedTests": statuses.count("failed")}
    suite = {"name": f"/repo/{FILE}", "status": status, "message": "", "assertionResults": tests}
    failed = int("failed" in statuses)
    more = {"success": not failed, "numFailedTestSuites": failed, "snapshot": {}}
    return json.dumps({**totals, **more, "testResults": [suite]}).encode()


def run(log: bytes, text: bytes, code: int = 1, control: Control = NONE) -> TestRun:
    return read(
        "vitest-json",
        TestRun(log=log, report=text, code=code, place="/scratch/report", root="/repo", control=control),
    )


def test_there_are_outputs_of_every_era() -> None:
    assert VERSIONS == ["0.12", "0.34", "1", "2", "3", "4"]


@pytest.mark.rule("hooks")
@pytest.mark.trap("hook-failure-passes")
@pytest.mark.parametrize("version", VERSIONS)
def test_an_error_outside_every_test_fails_beside_a_control(version: str) -> None:
    """The report lacks such errors. The exit code was their only sign, and with a control, which always fails, it says
    nothing: a patch that rejects a promise was resolved."""
    log, text = ((OUTPUTS / f"{version}.{kind}").read_bytes() for kind in ("log", "report"))
    found = run(log, text, control=Control({FILE: "control"}))
    assert found.results == {OPENS: Status.PASSED, EVERYWHERE: Status.FAILED}
    assert not found.doubts


@pytest.mark.rule("hooks")
@pytest.mark.parametrize(
    ("log", "status"),
    [
        (ANNOUNCED, Status.PASSED),
        (ANNOUNCED + CAUGHT % (1, b""), Status.FAILED),
        (ANNOUNCED + CAUGHT % (12, b"s"), Status.FAILED),
        (ANNOUNCED + b"it says: Vitest caught 1 unhandled error during the test run\n", Status.PASSED),
        (ANNOUNCED + CAUGHT % (1, b"") + b'Error: [vitest-worker]: Timeout calling "onTaskUpdate"\n', Status.PASSED),
        (ANNOUNCED + CAUGHT % (1, b"") + b'Error: [birpc] timeout on calling "fetch"\n', Status.PASSED),
        (ANNOUNCED + CAUGHT % (2, b"s") + b'Error: [vitest-worker]: Timeout calling "fetch"\n', Status.FAILED),
        (b"[birpc] timeout on calling\n" + ANNOUNCED + CAUGHT % (1, b""), Status.FAILED),
    ],
)
def test_errors_of_the_runners_own_processes_do_not_count(log: bytes, status: Status) -> None:
    """On a slow machine, the runner's processes wait too long for one another, which is no patch's fault."""
    assert run(log, report("passed", "failed")).suites[EVERYWHERE] is status


@pytest.mark.rule("hooks")
def test_an_unhandled_error_is_a_failed_test_and_no_crash() -> None:
    """Without a control, the exit code disagreed with the report: a crash. With one, nothing was seen. Now both are the
    same. Where the configuration ignores such errors, the runner succeeds, and the qualification knows of them."""
    log = ANNOUNCED + CAUGHT % (1, b"")
    for code in (0, 1):
        found = run(log, report("passed"), code)
        assert (found.results[EVERYWHERE], found.doubts) == (Status.FAILED, ())
    assert run(ANNOUNCED, report("passed"), 1).died == ("the report says success, the exit code is 1",)


def test_many_such_lines_take_little_time() -> None:
    """A patch prints what it wants."""
    assert run((CAUGHT % (1, b"")) * 20_000 + ANNOUNCED, report("passed")).suites[EVERYWHERE] is Status.FAILED
