"""What the machine has, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pipeline.collect.github.limits import tokens_of_environment
from pipeline.core import recipes
from pipeline.core.errors import UserError
from pipeline.doctor import CHECKS, Check, Low, _since, _version, command, examine

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


def program(folder: Path, code: bytes) -> str:
    """A program that runs this code."""
    path = folder / "program"
    path.write_bytes(code)
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        (b"#!/bin/sh\n", None),
        (b"\x7fELF of another machine", None),
        (b"#!/bin/sh\nprintf 'f\\374r 1.2\\n'\n", "f\ufffdr 1.2"),
    ],
    ids=["prints nothing", "cannot run here", "Latin-1"],
)
def test_a_strange_program_does_not_end_the_examination(tmp_path: Path, code: bytes, found: str | None) -> None:
    assert _version(program(tmp_path, code))() == found


@pytest.mark.parametrize(
    ("line", "state"),
    [("v18.20.4", "missing"), ("v20.0.0", "ok"), ("v22", "ok"), ("version 9.9", "missing"), ("no number", "ok")],
)
def test_a_program_that_is_too_old_is_missing_and_shown(tmp_path: Path, line: str, state: str) -> None:
    find = _since((20,), program(tmp_path, f"#!/bin/sh\necho {line}\n".encode()))
    (finding,) = examine((CHECK._replace(find=find),))
    assert (finding.state, finding.found, bool(finding.remedy)) == (state, line, state == "missing")


def test_versions_are_those_that_the_remedies_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, line in (("git", "git version 2.30.2"), ("node", "v18.20.4")):
        Path(program(tmp_path, f"#!/bin/sh\necho {line}\n".encode())).rename(tmp_path / name)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {one.name: one for one in examine(tuple(check for check in CHECKS if check.name in ("git", "node")))}
    assert {name: (found[name].state, found[name].remedy) for name in ("git", "node")} == {
        "git": ("missing", "install git 2.31 or later"),
        "node": ("missing", "install Node 20 or later"),
    }


@pytest.mark.parametrize(("name", "state"), [("GITHUB_TOKENS", "ok"), ("GH_TOKEN", "absent")])
def test_tokens_are_those_that_collect_reads(monkeypatch: pytest.MonkeyPatch, name: str, state: str) -> None:
    for other in ("GITHUB_TOKEN", "GITHUB_TOKENS", "GH_TOKEN"):
        monkeypatch.delenv(other, raising=False)
    monkeypatch.setenv(name, "canary-of-a-token")
    (finding,) = examine(tuple(check for check in CHECKS if check.name == "GitHub token"))
    assert finding.state == state and (state == "ok") is bool(_tokens())


def _tokens() -> list[str]:
    try:
        return tokens_of_environment()
    except UserError:
        return []


def test_a_wheel_names_commands_in_json_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in the table: there is no justfile."""
    (tmp_path / "docker").symlink_to(Path(__file__).parents[1] / "docker")
    monkeypatch.setattr(recipes, "ROOT", tmp_path)
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:1")
    recipes.commands.cache_clear()
    try:
        shown = CliRunner().invoke(command, ["--json", "--data", str(tmp_path / "data")])
    finally:
        recipes.commands.cache_clear()
    remedies = {check["name"]: check["remedy"] for check in json.loads(shown.output)}
    assert "container engine" in remedies and not any("just " in remedy for remedy in remedies.values())


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
