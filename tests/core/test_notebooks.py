"""Notebooks open with the existing data."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.errors import UserError
from pipeline.core.notebooks import DEMOS, PAGES, RESULTS, data_folder
from pipeline.core.store import write_bytes

FILES = {RESULTS: "02_dataset/acme__ui.jsonl", PAGES: "03_predictions/pages/friday/run.json"}


@pytest.fixture(autouse=True)
def _nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("A11Y_BENCH_DATA", raising=False)


@pytest.mark.parametrize(("needed", "recipe"), [(RESULTS, "demo"), (PAGES, "pages-demo")])
def test_without_data_an_error_names_the_demo(tmp_path: Path, needed: str, recipe: str) -> None:
    """On a fresh checkout, the first cell failed with an error about collecting, or with a missing file."""
    with pytest.raises(UserError, match=f"there is nothing to show yet\n  run (just|a11y-bench) {recipe} first"):
        data_folder(needed, tmp_path)


@pytest.mark.parametrize("needed", [RESULTS, PAGES])
def test_the_demos_data_are_shown_if_there_are_no_others(
    tmp_path: Path, needed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    demo = tmp_path / DEMOS[needed][0]
    write_bytes(demo / FILES[needed], b"{}")
    assert data_folder(needed, tmp_path) == demo
    assert "these are the demo's" in capsys.readouterr().err
    write_bytes(tmp_path / FILES[needed], b"{}")
    assert data_folder(needed, tmp_path) == tmp_path
    assert capsys.readouterr().err == ""


def test_a_named_directory_is_used_whatever_it_contains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_bytes(tmp_path / "demo/out" / FILES[RESULTS], b"{}")
    monkeypatch.setenv("A11Y_BENCH_DATA", "elsewhere")
    assert data_folder(RESULTS, tmp_path) == Path("elsewhere")
