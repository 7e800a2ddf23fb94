"""Units of work in a merge: what is read, what is equal, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pipeline.core.errors import UserError
from pipeline.core.store import MANIFEST
from pipeline.remote.sides import Sides
from pipeline.remote.units import result, same, sha256, walk


def unit(folder: Path, inputs: object, **files: str) -> Path:
    """A finished unit with these inputs."""
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / MANIFEST).write_text(json.dumps({"inputs": inputs, "made": str(folder)}))
    return folder


def write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def walked(root: Path) -> list[str]:
    return [str(path.relative_to(root)) for path in walk(root)]


def test_units_are_whole_and_other_files_are_single(tmp_path: Path) -> None:
    unit(tmp_path / "02_dataset/acme__ui/units/one", {"a": 1}, log="x")
    write(tmp_path / "02_dataset/acme__ui.jsonl")
    write(tmp_path / "01_raw/acme__ui/candidates.jsonl")
    assert walked(tmp_path) == [
        "01_raw/acme__ui/candidates.jsonl",
        "02_dataset/acme__ui/units/one",
        "02_dataset/acme__ui.jsonl",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "01_raw/acme__ui/collect.sqlite",
        "01_raw/acme__ui/collect.sqlite-wal",
        "05_analysis/report.html",
        "archive/x",
        ".locks/x",
        "02_dataset/.x.half",
        "costs.csv",
    ],
)
def test_local_files_are_not_walked(tmp_path: Path, path: str) -> None:
    write(tmp_path / path)
    assert walked(tmp_path) == []


def test_an_unfinished_unit_is_its_files(tmp_path: Path) -> None:
    write(tmp_path / "02_dataset/acme__ui/units/one/log")
    assert walked(tmp_path) == ["02_dataset/acme__ui/units/one/log"]


@pytest.mark.parametrize("target", ["somewhere", "."])
def test_a_link_is_refused(tmp_path: Path, target: str) -> None:
    (tmp_path / "02_dataset").mkdir()
    link = tmp_path / "02_dataset/link"
    link.symlink_to(target)
    with pytest.raises(UserError, match="neither a file nor a folder") as error:
        walked(tmp_path)
    assert error.value.path == link


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    (tmp_path / "02_dataset").mkdir()
    os.mkfifo(tmp_path / "02_dataset/pipe")
    with pytest.raises(UserError):
        walked(tmp_path)


# -- what is equal -----------------------------------------------------------------------------------------------------
def test_units_of_the_same_inputs_are_equal_whenever_they_were_made(tmp_path: Path) -> None:
    ours, theirs = unit(tmp_path / "a", {"x": 1}, log="1"), unit(tmp_path / "b", {"x": 1}, log="2")
    assert same(ours, theirs) and sha256(ours) != sha256(theirs)
    assert not same(ours, unit(tmp_path / "c", {"x": 2}))


def test_the_result_of_a_unit_may_be_missing(tmp_path: Path) -> None:
    made = unit(tmp_path / "a", {})
    assert result(made) is None
    (made / MANIFEST).write_text(json.dumps({"inputs": {}, "result": [1]}))
    assert result(made) == [1]


@pytest.mark.parametrize(
    ("ours", "theirs", "equal"), [("x", "x", True), ("x", "y", False), ("x", "xy", False), ("", "", True)]
)
def test_files_are_equal_by_content(tmp_path: Path, ours: str, theirs: str, equal: bool) -> None:
    assert same(write(tmp_path / "a", ours), write(tmp_path / "b", theirs)) is equal


def test_a_file_is_equal_to_itself_under_another_name(tmp_path: Path) -> None:
    path = write(tmp_path / "a")
    os.link(path, tmp_path / "b")
    assert same(path, tmp_path / "b")


def test_a_unit_is_not_equal_to_a_file(tmp_path: Path) -> None:
    made, file = unit(tmp_path / "a", {}), write(tmp_path / "b")
    assert not same(made, file) and not same(file, made)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("text", ["", "{", "[]", "{}", "3", "null"])
def test_a_broken_manifest_is_named(tmp_path: Path, text: str) -> None:
    """A manifest is written last, so an incomplete unit has none; a broken one was edited."""
    ours, theirs = unit(tmp_path / "a", {}), unit(tmp_path / "b", {})
    (theirs / MANIFEST).write_text(text)
    with pytest.raises(UserError, match="not a manifest of a unit") as error:
        same(ours, theirs)
    assert error.value.path == theirs / MANIFEST and "makes it again" in str(error.value.hint)


def test_both_sides_of_a_file_are_read_once(tmp_path: Path) -> None:
    ours, theirs = write(tmp_path / "a", "ours"), write(tmp_path / "b", "theirs")
    sides = Sides(ours, theirs, {})
    assert list(sides.contents()) == [(ours, b"ours"), (theirs, b"theirs")]
    ours.unlink()
    assert sides.our_data == b"ours"
