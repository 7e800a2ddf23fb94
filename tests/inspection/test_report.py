"""`a11y-bench open`: the path of the report, and what to do if there is none."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from pipeline.core.errors import UserError
from pipeline.core.store import Store, write_bytes
from pipeline.inspection.report import command


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The URLs that were opened in a browser."""
    addresses: list[str] = []
    monkeypatch.setattr(click, "launch", lambda address: addresses.append(address) or 0)
    return addresses


def report(root: Path) -> Path:
    path = Store(root).analysis / "report.html"
    write_bytes(path, b"<!doctype html>")
    return path


def test_the_report_is_opened_and_named(tmp_path: Path, opened: list[str]) -> None:
    path = report(tmp_path)
    result = CliRunner().invoke(command, ["--data", str(tmp_path)], catch_exceptions=False)
    assert result.output.strip() == str(path) and opened == [path.as_uri()]


def test_print_only_names_the_report(tmp_path: Path, opened: list[str]) -> None:
    path = report(tmp_path)
    result = CliRunner().invoke(command, ["--print", "--data", str(tmp_path)], catch_exceptions=False)
    assert result.output.strip() == str(path) and opened == []


def test_a_missing_report_is_refused_with_a_hint(tmp_path: Path, opened: list[str]) -> None:
    (tmp_path / "01_raw").mkdir()
    with pytest.raises(UserError, match="there is no report") as error:
        CliRunner().invoke(command, ["--data", str(tmp_path)], catch_exceptions=False)
    assert "analyze" in str(error.value.hint) and opened == []
