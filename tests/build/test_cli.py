"""The command `a11y-bench build`: its output and its exit code."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tiny_library import NUMBERS, Bench

from pipeline.build.cli import command


@pytest.fixture
def bench(tiny: Bench, tmp_path: Path) -> Bench:
    fresh = Bench(tmp_path, tiny.library, tiny.cache)
    fresh.collect()
    return fresh


def call(bench: Bench, *names: str, words: Sequence[str] = (), **given: str) -> Result:
    numbers = [word for name in names for word in ("--pr", str(NUMBERS[name]))]
    options = ["--repeats", "1", "--sandbox", "local", "--trust-local", "--data", str(bench.store.root)]
    given = {"A11Y_BENCH_CACHE": str(bench.cache)} | given
    return CliRunner().invoke(command, ["acme/ui", *numbers, *options, *words], env=given)


def test_every_outcome_is_shown_with_its_meaning(bench: Bench) -> None:
    result = call(bench, "menu", "alert")
    assert result.exit_code == 0
    assert "qualified: 1 fail-to-pass, 1 pass-to-pass" in result.output
    assert "rejected: no_fix_transition" in result.output
    assert "no test goes from FAILED to PASSED with the fix" in result.output


@pytest.mark.invariant(4)
@pytest.mark.rule("not-evaluated-is-retried")
def test_a_machine_fault_has_its_own_exit_code(bench: Bench, tmp_path: Path) -> None:
    """If the registry does not answer, the pull request is not at fault, and the same command tries again."""
    bench.cache = tmp_path / "cache"
    shutil.rmtree(bench.cache, ignore_errors=True)
    away = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}
    result = call(bench, "menu", words=["--tries", "1"], **away)
    assert result.exit_code == 1
    assert "rejected: not_evaluated" in result.output and "run the command again" in result.output
