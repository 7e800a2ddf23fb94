"""What the machine has, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.doctor import CHECKS, Check, Low, _version, command, examine

CHECK = Check("part", "for something", True, lambda: None, "install it")


@pytest.mark.parametrize(
    ("needed", "found", "state", "remedy"),
    [
        (True, "1.2", "ok", ""),
        (True, None, "missing", "install it"),
        (False, None, "absent", "install it"),
        (True, Low("1.1"), "low", "install it"),
    ],
)
def test_a_finding_has_a_remedy(needed: bool, found: str | None, state: str, remedy: str) -> None:
    (finding,) = examine((CHECK._replace(needed=needed, find=lambda: found),))
    assert (finding.name, finding.state, finding.found, finding.remedy) == ("part", state, found or "", remedy)


def test_a_missing_or_failing_program_is_missing() -> None:
    assert _version("no-such-program-at-all")() is None
    assert _version("git", "no-such-command")() is None
    assert _version("git", "--version")().startswith("git version")


def test_every_required_part_is_examined() -> None:
    names = {check.name for check in CHECKS}
    assert {"git", "node", "npm", "disk", "container engine", "base image", "browser", "GitHub token"} <= names
    assert all(check.remedy for check in CHECKS)


@pytest.mark.engine
def test_limits_of_the_engine_are_shown() -> None:
    """The limits that can end a run are shown before the night, and not only in its log."""
    found = {check.name: check for check in examine()}
    rows = [found[f"engine: {part}"] for part in ("disk", "storage driver", "open files", "builder")]
    assert all(row.found and row.state in ("ok", "low") for row in rows)
    assert all(bool(row.remedy) == (row.state == "low") for row in rows)
    assert "GB free in /" in rows[0].found and "for a process" in rows[2].found


@pytest.mark.invariant(6)
def test_variables_are_named_without_their_values(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """People paste its output into issues."""
    monkeypatch.setenv("GITHUB_TOKEN", "canary-of-a-token")
    monkeypatch.setenv("OPENAI_API_KEY", "canary-of-a-key")
    shown = CliRunner().invoke(command, ["--json", "--data", str(tmp_path / "data")])
    found = {check["name"]: check["found"] for check in json.loads(shown.output)}
    assert (found["GitHub token"], "OPENAI_API_KEY" in found["provider keys"]) == ("GITHUB_TOKEN", True)
    assert "canary" not in shown.output
    assert not (tmp_path / "data").exists(), "it changes nothing"


def test_the_table_and_the_exit_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shown = CliRunner().invoke(command, ["--data", str(tmp_path / "data")])
    assert shown.exit_code == 0 and "git version" in shown.output
    monkeypatch.setenv("PATH", str(tmp_path))
    shown = CliRunner().invoke(command, ["--data", str(tmp_path / "data")])
    assert shown.exit_code == 1 and "install Node 20" in shown.output
