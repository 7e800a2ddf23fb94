"""The command `a11y-bench analyze`."""

from __future__ import annotations

import subprocess
import sys

import pytest
from analyze.conftest import collect
from click.testing import CliRunner

from pipeline.analyze.cli import command
from pipeline.core.store import Store


def test_output_shows_the_summary_and_ends_with_the_path_of_the_report(analyzed):
    lines = analyzed.said.stdout.splitlines()
    assert "Resolved instances by model" in analyzed.said.stdout
    assert "lab/model-b" in analyzed.said.stdout
    assert lines[-1] == f"report: {analyzed.store.analysis / 'report.html'}"
    assert "00 triage: nothing yet for acme/forms." in analyzed.said.stderr


def test_the_data_directory_can_be_set_in_the_environment(tmp_path):
    collect(Store(tmp_path))
    environment = {"A11Y_BENCH_DATA": str(tmp_path)}
    arguments = ["--repo", "acme/forms", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(command, arguments, env=environment, catch_exceptions=False)
    assert result.exit_code == 0
    assert (tmp_path / "out" / "candidates.csv").read_text().count("acme__") == 1


def test_an_invalid_cutoff_date_is_refused(store):
    arguments = ["--data", str(store.root), "--cutoff", "model-a=last year"]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == 2 and "'model-a=last year' is not MODEL=YYYY-MM-DD" in result.stderr


@pytest.mark.parametrize("module", ["pipeline.analyze.cli", "pipeline.analyze.handcheck.cli"])
def test_help_needs_no_pandas(module):
    code = f"import sys, {module}; print({{'pandas', 'matplotlib', 'jinja2', 'pydantic'}} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
