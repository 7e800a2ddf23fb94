"""The cache folder: every file in it is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.cache import cache_root, once


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("A11Y_BENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_environment_names_the_folder(cache: Path) -> None:
    assert cache_root() == cache


def test_a_folder_is_made_once(cache: Path) -> None:
    made: list[Path] = []

    def make(folder: Path) -> str:
        made.append(folder)
        (folder / "file").write_text("whole")
        return "what it said"

    folder = cache / "tool" / "1"
    assert once(folder, make) == once(folder, make) == "what it said"
    assert made == [folder]
    assert (cache / "tool" / "1" / "file").read_text() == "whole"


def test_a_failure_leaves_no_incomplete_folder(cache: Path) -> None:
    def fail(folder: Path) -> None:
        (folder / "half").write_text("")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        once(cache / "tool" / "1", fail)
    once(cache / "tool" / "1", lambda folder: None)
    assert not (cache / "tool" / "1" / "half").exists()
