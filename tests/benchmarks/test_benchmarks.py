"""The benchmarks run to their end, at a small size; only what no machine can change is asserted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks import analyze, collect, evaluate, logs
from benchmarks.goals import Figure


def test_collect_spends_no_more_points_than_its_goal(tmp_path: Path) -> None:
    """And the scan finds what a naive loop finds: otherwise the benchmark itself fails."""
    done = CliRunner().invoke(collect.main, ["--pulls", "1000", "--json", str(tmp_path / "figures.json")])
    assert isinstance(done.exception, SystemExit | None), done.exception
    figures = {figure["name"]: figure for figure in json.loads((tmp_path / "figures.json").read_text())}
    assert figures["points for 100 pull requests"]["met"]
    assert figures["candidates"]["value"] > 0


def test_logs_are_read_to_the_last_test() -> None:
    (figure,) = logs.figures(megabytes=1)
    assert figure.value > 0


def test_evaluate_grades_every_stored_run(tmp_path: Path) -> None:
    """What is missing ends the program that is measured, and with it the benchmark."""
    arguments = ["--reports", "5", "--tests", "5", "--megabytes", "1", "--json", str(tmp_path / "figures.json")]
    done = CliRunner().invoke(evaluate.main, arguments)
    assert isinstance(done.exception, SystemExit | None), done.exception
    figures = {figure["name"]: figure for figure in json.loads((tmp_path / "figures.json").read_text())}
    assert figures["report of 5 instances x 5 tests"]["value"] > 0


def test_analyze_stays_within_its_memory(tmp_path: Path) -> None:
    """And makes every table and figure that the data allow: otherwise the benchmark measures something else."""
    arguments = ["--instances", "6", "--models", "2", "--tests", "6", "--json", str(tmp_path / "figures.json")]
    done = CliRunner().invoke(analyze.main, arguments)
    assert isinstance(done.exception, SystemExit | None), done.exception
    figures = {figure["name"]: figure for figure in json.loads((tmp_path / "figures.json").read_text())}
    assert figures["peak memory"]["met"]
    assert figures["tables"]["value"] > 25 and figures["figures"]["value"] > 10


@pytest.mark.parametrize(("value", "met"), [(2.0, True), (2.1, False)])
def test_a_goal_is_met_or_not(value: float, met: bool) -> None:
    figure = Figure("time", value, "s", ("at most", 2))
    assert (figure.met, figure.row[-1]) == (met, "yes" if met else "NO")
