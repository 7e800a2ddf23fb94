"""One git process answers all reads of objects, exactly as git lists and shows them, for several threads."""

from __future__ import annotations

import hashlib
import os
import subprocess
import threading
import zlib
from pathlib import Path

import pytest
from histories import History, git
from hostile import commit_tree

from pipeline.core.git import committed, has_commit, list_files, open_clone, show, tree
from pipeline.core.reader import Reader
from pipeline.core.trees import UnsafeTree

FILES = {f"src/{folder}/{name}.ts": f"{folder}{name}\n" for folder in "abc" for name in ("x", "y-z", "ü")}


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "clone")
    made.commit("first", {**FILES, "src-a.ts": "before src/ in git's order\n", "run.sh": "#!/bin/sh\n"})
    (made.folder / "run.sh").chmod(0o755)
    (made.folder / "link").symlink_to("src/a/x.ts")
    made.commit("second")
    made.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module")
    made.git("commit", "-q", "-m", "third")
    return made


def test_a_tree_has_the_entries_that_git_lists(history: History) -> None:
    listed = history.git("ls-tree", "-r", "-z", "HEAD").split("\0")
    wanted = [(path, *about.split()) for about, _, path in (row.partition("\t") for row in listed if row)]
    clone = open_clone(history.folder)
    assert [tuple(entry) for entry in tree(clone, history.git("rev-parse", "HEAD"))] == wanted
    assert {entry[2] for entry in wanted} == {"blob", "commit"} and {entry[1] for entry in wanted} >= {
        "100755",
        "120000",
    }


def nested(history: History, levels: int, copies: int) -> str:
    """A commit with folders in folders, each with `copies` of the next one."""
    rows, name = [("100644", "a.ts")], history.git("rev-parse", ":src/a/x.ts")
    for _ in range(levels):
        data = b"".join(f"{mode} {part}\0".encode() + bytes.fromhex(name) for mode, part in rows)
        data = b"tree %d\0%s" % (len(data), data)
        name = hashlib.sha1(data).hexdigest()
        path = history.folder / ".git" / "objects" / name[:2] / name[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(data))
        rows = [("40000", f"d{number}") for number in range(copies)]
    return commit_tree(history.folder, name, "HEAD", "nested")


def test_a_tree_that_no_disk_can_hold_is_unsafe(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small clone can have folders without end. Each path was read by a function that called itself."""
    with pytest.raises(UnsafeTree, match="it is too long for a disk"):
        list_files(open_clone(history.folder), nested(history, 4000, 1))
    (path,) = list_files(open_clone(history.folder), nested(history, 1200, 1))
    assert path.count("/") == 1199
    for module in ("git", "trees"):
        monkeypatch.setattr(f"pipeline.core.{module}.MOST_FILES", 5000)
    with pytest.raises(UnsafeTree, match="there are more than 5000 files"):
        list_files(open_clone(history.folder), nested(history, 12, 10))


def test_files_are_read_as_they_are(history: History) -> None:
    head, clone = history.commit("bytes", {"odd.ts": b"\xff\r\n\n", "empty.ts": ""}), open_clone(history.folder)
    assert show(clone, head, "odd.ts").encode(errors="surrogateescape") == b"\xff\r\n\n"
    assert show(clone, head, "empty.ts") == ""
    assert [show(clone, head, path) for path in ("none.ts", "src", "module", "a\nb", "x missing")] == [None] * 5
    assert show(clone, "0" * 40, "odd.ts") is None and not has_commit(clone, "0" * 40)


@pytest.mark.parametrize("when", ["2024-05-06T23:30:00-0330", "2024-05-06T00:10:00+1400", "2024-02-29T12:00:00Z"])
def test_the_day_of_a_commit_is_that_of_its_place(history: History, when: str) -> None:
    git(history.folder, "commit", "-q", "--allow-empty", "-m", "committer x <y> 1 +0000", GIT_COMMITTER_DATE=when)
    assert committed(open_clone(history.folder), history.git("rev-parse", "HEAD")) == when[:10]


def test_hundreds_of_files_take_one_process(history: History, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planning used to start fifteen processes for each candidate."""
    head, clone, started = history.git("rev-parse", "HEAD"), open_clone(history.folder), list[object]()
    popen = subprocess.Popen.__init__
    monkeypatch.setattr(subprocess.Popen, "__init__", lambda *a, **k: (started.append(a), popen(*a, **k))[1])
    for _ in range(20):
        assert [show(clone, head, path) for path in FILES] == list(FILES.values())
        assert has_commit(clone, head) and committed(clone, head) and list_files(clone, head)
    assert len(started) <= 2  # the links of the tree are one more


def test_threads_and_forks_read_independently(history: History) -> None:
    """If two readers shared a pipe, neither would get its own answers."""
    head, clone, wrong = history.git("rev-parse", "HEAD"), open_clone(history.folder), list[str]()

    def read() -> None:
        for path, text in [*FILES.items()] * 20:
            if show(clone, head, path) != text:
                wrong.append(path)

    read()
    child = os.fork()
    if child == 0:
        read()
        os._exit(len(wrong) > 0)
    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert os.waitpid(child, 0)[1] == 0 and wrong == []


def test_a_broken_object_is_missing_and_affects_no_other(history: History) -> None:
    blob = history.git("rev-parse", ":src/a/x.ts")
    path = history.folder / ".git" / "objects" / blob[:2] / blob[2:]
    path.chmod(0o644)
    path.write_bytes(b"broken")
    reader = Reader(str(history.folder / ".git"), dict(os.environ))
    assert reader.read("HEAD:src/a/x.ts") is None
    assert reader.read("HEAD:src/b/x.ts").data == b"bx\n"


def test_a_deleted_reader_leaves_no_process(history: History) -> None:
    reader = Reader(str(history.folder / ".git"), dict(os.environ))
    assert list(reader.files("HEAD^{tree}"))
    process = reader._local.process._popen
    del reader
    assert process.returncode is not None


def test_a_clone_that_is_opened_again_starts_no_process(history: History) -> None:
    """`collect` opens clones again and again."""
    first, again = open_clone(history.folder), open_clone(history.folder)
    assert first.reader is again.reader
