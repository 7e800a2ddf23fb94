"""What is kept of a patch's evaluation: its run, and the counter-runs that followed."""

from __future__ import annotations

from pathlib import Path

import pytest
from factories import make_instance

from pipeline.core.errors import UserError
from pipeline.core.records import CounterRuns, Identity, Status
from pipeline.core.store import Unit, write_json
from pipeline.evaluate import kept
from pipeline.execution.run import PatchRun, TestRun

REPORT = (
    b'{"success": false, "numPassedTests": 0, "numFailedTests": 1, "testResults": [{"name": "/repo/a.test.js",'
    b' "assertionResults": [{"title": "named", "status": "failed"}]}]}'
)
LOG = b"$ jest\nTest results written to: r.json\n"
RUN = TestRun(place="/scratch/r.json", root="/repo", code=1, log=LOG, report=REPORT, seconds=2)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("name", [5, None, "", "../../../x", "ABC"])
def test_the_name_of_a_kept_run_leads_nowhere_else(tmp_path: Path, name: object) -> None:
    write_json(tmp_path / "runs.json", {"acme__ui-1": name})
    with pytest.raises(UserError, match="not the name of a kept run") as error:
        kept.names(tmp_path / "runs.json")
    assert error.value.field == "acme__ui-1"


@pytest.mark.rule("counter-runs-once")
def test_counter_runs_are_kept_with_their_seconds(tmp_path: Path) -> None:
    """They are read again like the run itself: only logs, reports, and facts that cannot be read again are kept."""
    unit = Unit(tmp_path / "unit")
    tested = PatchRun(RUN, counter={"falsified": TestRun("timeout", seconds=3), "disguised": RUN}, ran=Identity())
    kept.save(unit, tested, {"patch": "p"})
    found = kept.load(unit, "jest-json")
    assert (found.counter["falsified"].end, found.counter["falsified"].seconds) == ("timeout", 3)
    assert found.counter["disguised"].results == {"a.test.js > named": Status.FAILED}
    assert found.run and found.run.seconds == 2
    assert (unit.folder / "disguised.log.gz").exists()


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("name", ["tests.log.gz", "disguised.report.gz"])
def test_a_kept_run_that_was_cut_off_is_named(tmp_path: Path, name: str) -> None:
    unit = Unit(tmp_path / "unit")
    kept.save(unit, PatchRun(RUN, counter={"disguised": RUN}, ran=Identity()), {"patch": "p"})
    (unit.folder / name).write_bytes((unit.folder / name).read_bytes()[:-9])
    with pytest.raises(UserError, match="not a whole gzip file") as error:
        kept.load(unit, "jest-json")
    assert error.value.path == unit.folder / name


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("result", "says"),
    [
        ({}, "not a kept run"),
        ({"run": {}}, "not a kept"),
        ({"run": {}, "ran": None}, "not a kept"),
        ({"run": 7, "ran": None}, "not a kept"),
        ({"run": {}, "ran": 7}, "not a kept"),
        ({"run": {}, "ran": None, "counter": []}, "not a kept"),
        (None, "not an obj"),
    ],
)
def test_a_manifest_without_a_run_is_refused(tmp_path: Path, result: object, says: str) -> None:
    """Somebody else's bundle ended `submission regrade` in a traceback."""
    unit = Unit(tmp_path / "unit")
    kept.save(unit, PatchRun(RUN, ran=Identity()), {"patch": "p"})
    unit.finish(result, patch="p")
    with pytest.raises(UserError, match=f"field 'result': {says}") as error:
        kept.load(unit, "jest-json")
    assert error.value.path == unit.path


@pytest.mark.rule("counter-runs-once")
def test_other_false_expectations_are_another_run() -> None:
    """The false expectations are part of what decides a patch's verdict."""
    told = CounterRuns(kinds=("falsified",), falsified="diff")
    plain, other = (
        kept.run_digests(make_instance(counter_runs=counter_runs), "patch") for counter_runs in (CounterRuns(), told)
    )
    assert plain != other and plain.keys() == other.keys()
