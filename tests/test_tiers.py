"""The two tiers: tests that need an engine are skipped with a message if there is none, and fail in CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
NO_ENGINE = {"DOCKER_HOST": "tcp://127.0.0.1:1", "A11Y_BENCH_BASE_IMAGE": "a11y-bench/base:no-such"}


def run_tests(*words: str, **given: str) -> subprocess.CompletedProcess[str]:
    """Run pytest in a process of its own, by default outside CI."""
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | given
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *words]
    return subprocess.run(command, cwd=TESTS.parent, env=environment, capture_output=True, text=True)


@pytest.mark.rule("skipped-loudly-never-in-ci")
@pytest.mark.parametrize("test", ["build/test_engine.py", "docker/test_base_image.py"])
def test_tests_without_their_requirements_are_skipped_with_a_reason(test: str) -> None:
    done = run_tests("-m", "engine", str(TESTS / test), **NO_ENGINE)
    assert done.returncode == 0, done.stdout
    assert "this machine has no container engine: just engine-start" in done.stdout
    assert "passed" not in done.stdout.splitlines()[-1]


@pytest.mark.rule("skipped-loudly-never-in-ci")
def test_only_one_module_skips_tests() -> None:
    """Only one place in the code skips tests, and it knows about CI."""
    apart = {TESTS / "lacking.py", Path(__file__)}
    words = ("pytest.skip(", "mark.skip", "importorskip")
    files = (path for path in TESTS.rglob("*.py") if path not in apart)
    assert not [str(path) for path in files if any(word in path.read_text(encoding="utf-8") for word in words)]


@pytest.mark.rule("skipped-loudly-never-in-ci")
def test_in_ci_a_missing_requirement_fails() -> None:
    """Otherwise a silently skipped tier proves nothing for months."""
    done = run_tests("-m", "engine", str(TESTS / "build" / "test_engine.py"), **NO_ENGINE, CI="true")
    assert done.returncode == 1
    assert "this machine has no container engine" in done.stdout and "skipped" not in done.stdout.splitlines()[-1]
