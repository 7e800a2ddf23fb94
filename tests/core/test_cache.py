"""The cache folder: every file in it is complete."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.core.cache import cache_root, once
from pipeline.core.errors import UserError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("A11Y_BENCH_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_the_environment_names_the_folder(cache: Path) -> None:
    assert cache_root() == cache


@pytest.mark.rule("bad-input")
def test_a_user_without_a_home_is_told_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some containers run as a user that has none."""

    def homeless(*_: object) -> str:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("A11Y_BENCH_CACHE")
    monkeypatch.setattr("platformdirs.user_cache_dir", homeless)
    with pytest.raises(UserError, match="set HOME, or A11Y_BENCH_CACHE"):
        cache_root()


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
