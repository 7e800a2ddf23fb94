"""Git objects by content: all objects of the named commits, and none twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from histories import History

from pipeline.core import packs
from pipeline.core.git import list_files, missing_files, open_clone, show


@pytest.fixture
def history(tmp_path: Path) -> History:
    history = History(tmp_path / "clone")
    for number in range(5):
        history.commit(f"commit {number}", {f"file{number}.txt": f"{number}\n" * 1000, "a/same.txt": "same"})
    return history


def commits(history: History) -> list[str]:
    return history.git("rev-list", "--reverse", "HEAD").split()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "copies" / "one.git"


def test_only_commits_are_found_by_name(history: History) -> None:
    commit, blob = commits(history)[2], history.git("rev-parse", "HEAD:a/same.txt")
    data = f"base {commit} index {blob}..{'0' * 40} and {commit}0".encode()
    assert packs.commits_named(history.folder / ".git", data) == (commit,)


def test_a_copy_reads_as_the_clone_does(history: History, copy: Path) -> None:
    clone, commit = history.folder / ".git", commits(history)[2]
    packs.add(copy, packs.pack(clone, [commit]), [commit])
    copied = open_clone(copy)
    assert list_files(copied, commit) == list_files(open_clone(history.folder), commit)
    assert show(copied, commit, "file2.txt") == "2\n" * 1000
    assert copied.git.rev_list("--count", commit) == "3"
    assert missing_files(copied, commit) == []
    assert packs.held(copy) == (commit,)


def test_a_copy_has_no_later_history(history: History, copy: Path) -> None:
    """A copy for a unit contains the gold patch's commit only if the unit names it."""
    clone, (before, last) = history.folder / ".git", commits(history)[-2:]
    packs.add(copy, packs.pack(clone, [before]), [before])
    assert last not in open_clone(copy).git.cat_file("--batch-all-objects", "--batch-check")


def test_a_second_pack_contains_only_new_objects(history: History, copy: Path) -> None:
    clone, known = history.folder / ".git", commits(history)
    packs.add(copy, packs.pack(clone, [known[3]]), [known[3]])
    further = packs.pack(clone, [known[4]], [known[3]])
    assert len(further) < len(packs.pack(clone, [known[4]]))
    packs.add(copy, further, [known[4]])
    assert show(open_clone(copy), known[4], "file4.txt") == "4\n" * 1000
    assert packs.held(copy) == tuple(sorted(known[3:]))


def test_objects_missing_in_the_clone_are_missing_in_the_copy(history: History, copy: Path) -> None:
    """Clones of some repositories come without their largest files."""
    clone, commit = history.folder / ".git", commits(history)[4]
    blob = history.git("rev-parse", "HEAD:file4.txt")
    (clone / "objects" / blob[:2] / blob[2:]).unlink()
    packs.add(copy, packs.pack(clone, [commit]), [commit])
    assert missing_files(open_clone(copy), commit) == missing_files(open_clone(history.folder), commit) == ["file4.txt"]
