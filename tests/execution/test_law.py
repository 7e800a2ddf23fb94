"""A digest of the code and tables themselves identifies what decides a verdict, and it covers everything that
decides."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import grimp
import pytest

import pipeline
from pipeline.build.judge import judge
from pipeline.core.law import registered
from pipeline.evaluate.grade import of_run

Laws = Callable[[str, str, str], set[str]]
PACKAGE = Path(pipeline.__file__).parent
SHOW = "import pipeline.build.judge, pipeline.evaluate.grade\nfrom pipeline.execution.law import of_run\n"
CHAPTERS = ("running", "reading", "qualifying", "grading")
#: modules that the deciding modules import but that decide nothing themselves; the law has the values of folder
#: constants
NEUTRAL = {
    "pipeline", "pipeline.build", "pipeline.build.reasons", "pipeline.core", "pipeline.core.amounts",
    "pipeline.core.cache", "pipeline.core.console", "pipeline.core.errors", "pipeline.core.git", "pipeline.core.law",
    "pipeline.core.names",
    "pipeline.core.objects", "pipeline.core.ratings", "pipeline.core.reader", "pipeline.core.recipes",
    "pipeline.core.record", "pipeline.core.records", "pipeline.core.shipped", "pipeline.core.store",
    "pipeline.core.texts", "pipeline.core.timing", "pipeline.core.wcag", "pipeline.ecosystems",
    "pipeline.ecosystems.folders", "pipeline.ecosystems.graph", "pipeline.ecosystems.locked",
    "pipeline.ecosystems.manager_folder", "pipeline.ecosystems.versions", "pipeline.evaluate",
    "pipeline.execution", "pipeline.execution.law",
}  # fmt: skip
#: the environment of a run is part of a record's identity
APART = ("pipeline.sandbox",)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, to be changed."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(PACKAGE, folder / "pipeline", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def digests(folder: Path) -> dict[str, str]:
    """The digests of all chapters, computed by the package in a folder."""
    asked = "".join(f"print({name!r}, of_run({name!r}, parser='jest-json'))\n" for name in CHAPTERS)
    given = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", SHOW + asked], capture_output=True, text=True, env=given, cwd=folder)
    assert done.returncode == 0, done.stderr
    return dict(line.split() for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def laws(copy: Path) -> Laws:
    """`laws(path, old, new)`: the chapters that change if this text of a file of the package is replaced."""
    before = digests(copy)

    def changed(path: str, old: str, new: str) -> set[str]:
        file = copy / "pipeline" / path
        text = file.read_bytes()
        assert old.encode() in text
        file.write_bytes(text.replace(old.encode(), new.encode(), 1))
        try:
            after = digests(copy)
        finally:
            file.write_bytes(text)
        return {name for name in CHAPTERS if before[name] != after[name]}

    return changed


def test_another_text_of_the_control_runs_tests_again(laws: Laws) -> None:
    assert laws("ecosystems/control.js", "undefined, {}", "undefined, [], {}") == {"running"}


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("ecosystems/protection.py", "(?:nvmrc|", "(?:nvmrc|env|"),
        ("ecosystems/runners/vitest/runner.toml", "protected = [", "protected = ['\\.env$', "),
        ("core/test-files.toml", "path = [", "path = ['\\.fixture\\.', "),
    ],
)
def test_protecting_one_more_file_runs_tests_again(laws: Laws, path: str, old: str, new: str) -> None:
    assert laws(path, old, new) == {"running"}


def test_other_patterns_for_mining_leave_verdicts_alone(laws: Laws) -> None:
    assert laws("core/patterns.toml", "names = [", "names = ['\\bno evidence\\b', ") == set()


def test_another_reporter_counts_for_its_own_runner_only(laws: Laws) -> None:
    old = "Test results written to: "
    assert laws("ecosystems/runners/mocha/reporter.cjs", old, f" {old}") == set()
    assert laws("ecosystems/runners/mocha/report.py", "from __future__", "import re\nfrom __future__") == {"reading"}


def test_another_transition_reads_results_again(laws: Laws) -> None:
    row = "PASSED,FAILED,PASSED,f2p,fixes,must pass"
    assert laws("core/transitions.csv", row, row.replace("fixes", "keeps")) == {"reading"}


def test_another_grade_grades_results_again(laws: Laws) -> None:
    assert laws("evaluate/grade.py", "the tests took too long", "the tests took longer") == {"grading"}


def test_a_comment_changes_no_law(laws: Laws) -> None:
    assert laws("execution/applying.py", "from __future__", "# a remark\nfrom __future__") == set()


def test_every_deciding_module_is_registered() -> None:
    """Every module that the deciding modules import is part of the law, or is listed here as deciding nothing."""
    graph = grimp.build_graph("pipeline")
    roots = [judge.__module__, of_run.__module__, "pipeline.execution.runs"]
    decisive = set(roots).union(*(graph.find_upstream_modules(root) for root in roots))
    known = {
        f"{package}.{name.removesuffix('.py')}".removesuffix(".__init__") for package, name in registered(*CHAPTERS)
    }
    left = {name for name in decisive - known - NEUTRAL if not name.startswith(APART)}
    assert not left, left
