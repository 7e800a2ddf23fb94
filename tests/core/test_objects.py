"""A clone belongs to somebody else: no operation on it runs a command from its configuration on this machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from histories import History, git
from hostile import graft, poison, sign

from pipeline.core import objects
from pipeline.core.errors import UserError
from pipeline.core.git import Clone, changed_files, checkout, diff, list_files, missing_files, open_clone, read_blobs
from pipeline.core.trees import UnsafeTree

FILES = {"src/Menu.tsx": "one\n", "src/Menu.test.tsx": "1\n"}


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "clone")
    made.commit("first", {"src/Menu.tsx": "0\n"})
    made.commit("Aria (#1)", FILES)
    return made


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A11Y_BENCH_CACHE", str(tmp_path / "cache"))


@pytest.mark.trap("clone-configuration-runs")
def test_reading_a_clone_runs_none_of_its_programs(history: History, tmp_path: Path) -> None:
    """Each of these commands used to run in the clone itself, with the clone's settings."""
    sign(history.folder)
    base, head = history.git("rev-parse", "HEAD~1"), history.git("rev-parse", "HEAD")
    history.lose(head, "src/Menu.test.tsx")
    poison(history.folder, tmp_path / "ran")
    clone = open_clone(history.folder)
    assert changed_files(clone, base, head) == ["src/Menu.test.tsx", "src/Menu.tsx"]
    assert "+one" in diff(clone, base, head, ["src/Menu.tsx"])
    assert missing_files(clone, head) == ["src/Menu.test.tsx"]
    assert dict(read_blobs(clone, head, lambda path: path == "src/Menu.tsx")) == {"src/Menu.tsx": b"one\n"}
    checkout(clone, head, tmp_path / "out")
    assert (tmp_path / "out" / "src" / "Menu.tsx").read_text() == "one\n"
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()


READERS: dict[str, Callable[[Clone, str, Path], object]] = {
    "list": lambda clone, sha, _: list_files(clone, sha),
    "read": lambda clone, sha, _: dict(read_blobs(clone, sha, lambda path: True)),
    "missing": lambda clone, sha, _: missing_files(clone, sha),
    "checkout": lambda clone, sha, folder: checkout(clone, sha, folder / "a" / "out"),
}


@pytest.mark.trap("dot-dot-in-a-tree")
@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("name", "mode", "content"),
    [("..", "100644", "evil"), (".GIT", "100644", "evil"), ("link", "120000", "../../../etc/passwd")],
)
def test_every_reader_refuses_an_unsafe_tree(
    history: History, tmp_path: Path, reader: str, name: str, mode: str, content: str
) -> None:
    commit = graft(history.folder, name, mode, content)
    before = sorted(str(path) for path in tmp_path.rglob("evil*"))
    with pytest.raises(UnsafeTree):
        READERS[reader](open_clone(history.folder), commit, tmp_path)
    assert sorted(str(path) for path in tmp_path.rglob("evil*")) == before


# -- our repository over its objects ---------------------------------------------------------------------------------
def contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_clone_is_followed_without_being_changed(history: History, tmp_path: Path) -> None:
    """Each clone gets one repository of ours that follows the clone's current HEAD; the clone itself is not changed."""
    before = contents(history.folder)
    first = open_clone(history.folder)
    assert contents(history.folder) == before
    assert first.place == history.folder / ".git"
    head = history.commit("later")
    second = open_clone(history.folder / ".git")
    assert (second.git_dir, second.git.rev_parse("HEAD")) == (first.git_dir, head)
    assert Path(first.git_dir).is_relative_to(tmp_path / "cache" / "clones")


@pytest.mark.parametrize(
    "form", ["bare", "packed", "li\u2028ne", "detached", "work tree", "sha256", 'na"me \\ ü', "borrowed"]
)
def test_every_form_of_clone_can_be_read(history: History, tmp_path: Path, form: str) -> None:
    folder, head = history.folder, history.git("rev-parse", "HEAD")
    if form == "bare":
        folder = tmp_path / "bare.git"
        git(tmp_path, "clone", "-q", "--bare", str(history.folder), str(folder))
    if form == "li\u2028ne":
        history.git("checkout", "-q", "-b", form)
    if form in ("packed", "li\u2028ne"):
        history.git("pack-refs", "--all")
        history.git("gc", "-q")
    if form == "detached":
        history.git("checkout", "-q", "--detach")
    if form == "work tree":
        folder = tmp_path / "tree"
        history.git("worktree", "add", "-q", "-b", "side", str(folder), "HEAD~1")
        head = history.git("rev-parse", "HEAD~1")
    if form == "sha256":
        folder = tmp_path / "sha256"
        git(tmp_path, "init", "-q", "--object-format=sha256", str(folder))
        git(folder, "commit", "-q", "--allow-empty", "-m", "first")
        head = git(folder, "rev-parse", "HEAD")
    if form.startswith("na"):
        folder = tmp_path / form
        shutil.copytree(history.folder, folder)
    if form == "borrowed":
        folder = tmp_path / "borrowed"
        git(tmp_path, "clone", "-q", "--shared", str(history.folder), str(folder))
    clone = open_clone(folder)
    assert clone.git.rev_parse("HEAD") == head
    assert list_files(clone, head) == git(folder, "ls-tree", "-r", "--name-only", head).splitlines()


def test_the_cached_repository_of_a_missing_clone_is_removed(history: History, tmp_path: Path) -> None:
    shutil.copytree(history.folder, tmp_path / "other")
    gone = Path(open_clone(tmp_path / "other").git_dir)
    shutil.rmtree(tmp_path / "other")
    kept = Path(open_clone(history.folder).git_dir)
    assert (gone.exists(), kept.exists()) == (False, True)


def test_unsupported_references_are_reported(history: History) -> None:
    (history.folder / ".git" / "reftable").mkdir()
    (history.folder / ".git" / "HEAD").write_text("ref: refs/heads/.invalid\n")
    with pytest.raises(UserError, match="no commit HEAD(?s:.)*reftable"):
        open_clone(history.folder)


def test_a_circular_head_names_no_commit(history: History) -> None:
    (history.folder / ".git" / "refs" / "heads" / "main").write_text("ref: refs/heads/main\n")
    with pytest.raises(UserError, match="no commit HEAD"):
        open_clone(history.folder)


def test_opening_a_clone_takes_one_process(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if ours exists already: `collect` opens clones again and again."""
    open_clone(history.folder)
    started, popen = list[object](), subprocess.Popen.__init__
    monkeypatch.setattr(subprocess.Popen, "__init__", lambda *a, **k: (started.append(a), popen(*a, **k))[1])
    open_clone(history.folder)
    assert len(started) <= 1
    assert os.environ["A11Y_BENCH_CACHE"] and objects.locate(history.folder)
