"""Gold's tests run again and again: what counts as a flip, and what is reported."""

from __future__ import annotations

import json
from pathlib import Path

import factories
import pytest
from click.testing import CliRunner
from tiny_library import Bench

from pipeline.core.records import Status
from pipeline.core.store import write_records
from pipeline.dataset import present
from pipeline.dataset.cli import command
from pipeline.dataset.stress import Stress, counted
from pipeline.execution.run import PatchRun
from pipeline.execution.runs import TestRun

NAMED, OPENS = factories.TESTS
GOOD = TestRun(results={NAMED: Status.PASSED, OPENS: Status.PASSED})
BAD = TestRun(results={NAMED: Status.PASSED, OPENS: Status.FAILED})


@pytest.mark.rule("dataset-stress")
def test_a_flip_is_a_run_that_is_not_resolved() -> None:
    """Flaky tests are not excused here: no run is repeated, and gold's other runs are not consulted."""
    runs = [PatchRun(GOOD), PatchRun(BAD), PatchRun(BAD), PatchRun(TestRun(end="timeout")), PatchRun(fault="engine: x")]
    found = counted(factories.make_instance(1), 8, runs)
    blame = {OPENS: 2, "timeout the tests took too long": 1}
    assert found == Stress("acme__ui-1", 8, 5, flips=3, not_evaluated=1, blame=blame)


@pytest.mark.rule("dataset-stress")
def test_the_table_and_its_sums(capsys: pytest.CaptureFixture[str]) -> None:
    found = [Stress("a__b-1", 1, 5, 0, 0, {}), Stress("a__b-1", 8, 5, 1, 0, {"a > b": 1})]
    present.stressed(found, as_json=False)
    output = capsys.readouterr().out
    assert "0 flips in 5 runs of 1 instance at 1 job\n1 flip in 5 runs of 1 instance at 8 jobs" in output
    assert "a > b" in output


@pytest.mark.rule("dataset-stress")
def test_a_small_instance_does_not_flip(tiny: Bench, tmp_path: Path) -> None:
    bench = tiny.copy(tmp_path)
    write_records(bench.store.dataset(factories.REPO), [tiny.instance("menu")])
    words = ["check", "acme/ui", "--stress", "1", "--json", "--sandbox", "local", "--trust-local"]
    found = CliRunner().invoke(
        command, [*words, "--data", str(bench.store.root)], env={"A11Y_BENCH_CACHE": str(tiny.cache)}
    )
    assert found.exit_code == 0, found.output
    rows = [{key: row[key] for key in ("jobs", "repeats", "flips")} for row in json.loads(found.stdout)]
    assert rows == [{"jobs": 1, "repeats": 1, "flips": 0}, {"jobs": 8, "repeats": 1, "flips": 0}]


def test_quick_and_stress_exclude_each_other(tmp_path: Path) -> None:
    found = CliRunner().invoke(command, ["check", "--quick", "--stress", "2", "--data", str(tmp_path)])
    assert found.exit_code == 2
