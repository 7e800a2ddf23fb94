"""A checkout for an agent or an image: one commit, and nothing that leads to later ones."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from histories import History, git

from pipeline.core.errors import UserError
from pipeline.core.git import checkout, commit_all, missing_files, open_clone

FILES = {
    "src/Menu.tsx": "one\r\ntwo\n",
    "src/logo.png": bytes(range(256)),
    "scripts/run.sh": "#!/bin/sh\n",
    "dist/kept.js": "ignored, but tracked\n",
    "fixtures/node_modules/dep/index.js": "tracked, too\n",
    ".gitignore": "dist\nnode_modules\n",
    "empty.ts": "",
}


@pytest.fixture
def history(tmp_path: Path) -> History:
    """A clone with three commits; the second is the base, and the last holds the fix."""
    made = History(tmp_path / "clone")
    made.commit("first", FILES)
    (made.folder / "scripts" / "run.sh").chmod(0o755)
    (made.folder / "link").symlink_to("src")
    made.commit("base", {"src/base.ts": "base\n"})
    made.commit("fix", {"src/fixed.ts": "the fix\n"})
    made.git("remote", "add", "origin", "https://example.org/acme/ui.git")
    made.git("tag", "v1")
    return made


def base_of(history: History) -> str:
    return history.git("rev-parse", "HEAD~1")


@pytest.mark.invariant(1)
@pytest.mark.trap("history-in-image")
def test_a_checkout_is_one_commit_without_history(history: History, tmp_path: Path) -> None:
    """The full history contains the fix: 21% of one model's runs took it from there."""
    target = tmp_path / "checkout"
    checkout(open_clone(history.folder), base_of(history), target)
    assert git(target, "rev-list", "--all", "--count") == "1"
    assert git(target, "remote") == git(target, "tag") == git(target, "status", "--porcelain") == ""
    assert {*git(target, "for-each-ref", "--format=%(objectname)").split()} == {git(target, "rev-parse", "HEAD")}
    assert git(target, "branch", "--show-current") == "main"
    assert not (target / ".git" / "logs").exists()
    assert not (target / ".git" / "objects" / "info" / "alternates").exists()
    fixed = history.git("rev-parse", "HEAD:src/fixed.ts")
    objects = git(target, "cat-file", "--batch-all-objects", "--batch-check=%(objectname)").split()
    assert fixed not in objects


@pytest.mark.parametrize("name", ["origin/main", "origin/master", "origin/develop", "master"])
def test_a_checkout_has_default_branches_without_changes(history: History, tmp_path: Path, name: str) -> None:
    """A runner's configuration asked git which packages had changed, and failed without such a branch."""
    target = tmp_path / "checkout"
    checkout(open_clone(history.folder), base_of(history), target)
    assert git(target, "diff", "--name-only", name, "HEAD") == ""


def test_the_tree_is_that_of_the_commit(history: History, tmp_path: Path) -> None:
    """Including tracked files that are ignored, links, modes and line endings."""
    target = tmp_path / "checkout"
    checkout(open_clone(history.folder), base_of(history), target)
    assert git(target, "rev-parse", "HEAD^{tree}") == history.tree(base_of(history))
    assert (target / "dist" / "kept.js").exists() and (
        target / "fixtures" / "node_modules" / "dep" / "index.js"
    ).exists()
    assert os.access(target / "scripts" / "run.sh", os.X_OK)
    assert (target / "link").is_symlink()
    assert (target / "src" / "Menu.tsx").read_bytes() == b"one\r\ntwo\n"


@pytest.mark.invariant(3)
def test_settings_of_the_host_change_no_commit(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Line endings, identities, ignore rules, hooks and a surrounding git command would each change the commit."""
    clone = open_clone(history.folder)
    checkout(clone, base_of(history), tmp_path / "one")
    settings = "[core]\nautocrlf = true\nexcludesFile = /ignore\n[user]\nname = Host\n[commit]\ngpgSign = true\n"
    (tmp_path / "host").write_text(settings + "[init]\ntemplateDir = /nowhere\ndefaultBranch = trunk\n")
    (tmp_path / "xdg" / "git").mkdir(parents=True)
    (tmp_path / "xdg" / "git" / "attributes").write_text("* text eol=crlf\n")
    for name, value in {
        "GIT_CONFIG_GLOBAL": tmp_path / "host",
        "XDG_CONFIG_HOME": tmp_path / "xdg",
        "GIT_AUTHOR_NAME": "Host",
        "GIT_DIR": tmp_path / "elsewhere",
        "GIT_INDEX_FILE": tmp_path / "index",
        "GIT_WORK_TREE": tmp_path,
        "TZ": "Asia/Tokyo",
    }.items():
        monkeypatch.setenv(name, str(value))
    checkout(open_clone(history.folder), base_of(history), tmp_path / "two")
    assert not (tmp_path / "elsewhere").exists()
    assert git(tmp_path / "one", "rev-parse", "HEAD") == git(tmp_path / "two", "rev-parse", "HEAD")


def test_content_missing_in_the_clone_is_left_out_and_listed(history: History, tmp_path: Path) -> None:
    """Clones of real repositories lack their largest files; everything else can still be tested."""
    history.lose("HEAD", "src/logo.png")
    clone = open_clone(history.folder)
    checkout(clone, base_of(history), tmp_path / "checkout")
    assert missing_files(clone, base_of(history)) == ["src/logo.png"]
    files = git(tmp_path / "checkout", "ls-files").splitlines()
    assert set(files) == {*FILES, "link", "src/base.ts"} - {"src/logo.png"}


def test_submodules_are_left_out(history: History, tmp_path: Path) -> None:
    """A clone never contains them, so nothing is missing."""
    history.git("update-index", "--add", "--cacheinfo", f"160000,{base_of(history)},vendor/sub")
    history.git("commit", "-q", "-m", "submodule")
    head = history.git("rev-parse", "HEAD")
    clone = open_clone(history.folder)
    checkout(clone, head, tmp_path / "checkout")
    assert missing_files(clone, head) == []
    assert git(tmp_path / "checkout", "ls-files", "vendor") == ""


def test_a_bare_clone_serves_as_well_and_is_not_changed(history: History, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(history.folder), "bare.git")
    bare = tmp_path / "bare.git"
    before = sorted((path, path.stat().st_mtime_ns) for path in bare.rglob("*"))
    checkout(open_clone(bare), base_of(history), tmp_path / "checkout")
    assert sorted((path, path.stat().st_mtime_ns) for path in bare.rglob("*")) == before


def test_a_missing_commit_leaves_no_folder(history: History, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no commit"):
        checkout(open_clone(history.folder), "0" * 40, tmp_path / "checkout")
    assert not (tmp_path / "checkout").exists()


def test_a_folder_becomes_the_same_commit_wherever_it_is(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "src" / "a.ts").write_text("a\n")
    first, second = (commit_all(tmp_path / name) for name in ("one", "two"))
    assert first == second
    (tmp_path / "one" / "node_modules").mkdir()
    (tmp_path / "one" / "node_modules" / "x.js").touch()
    assert git(tmp_path / "one", "status", "--porcelain") == ""


# -- whether a file is still the same ---------------------------------------------------------------------------------
@pytest.fixture
def copied(history: History, tmp_path: Path) -> Path:
    """A checkout copied as an engine does: other inodes, owners and change times."""
    checkout(open_clone(history.folder), base_of(history), tmp_path / "checkout")
    subprocess.run(
        ["cp", "-R", "--preserve=mode,timestamps,links", tmp_path / "checkout", tmp_path / "copy"], check=True
    )
    return tmp_path / "copy"


def changed(folder: Path) -> list[str]:
    return git(folder, "diff", "--name-only", "HEAD").splitlines()


def test_a_copy_is_not_read_again(copied: Path) -> None:
    """Every verdict used to read all files of a fresh container, which took 1.5 s for a large repository. Forged files
    are still noticed."""
    for path in (copied / "src").iterdir():
        kept = path.stat().st_mtime_ns
        path.write_bytes(bytes(path.stat().st_size))
        os.utime(path, ns=(kept, kept))
    assert changed(copied) == []


@pytest.mark.parametrize("copies", [False, True])
def test_a_write_in_the_second_of_the_checkout_is_detected(copied: Path, tmp_path: Path, copies: bool) -> None:
    """A file of the same size, on a system that stores whole seconds only."""
    folder = copied if copies else tmp_path / "checkout"
    (folder / "src" / "base.ts").write_text("esab\n")
    assert changed(folder) == ["src/base.ts"]


def test_file_times_depend_on_the_content(history: History, tmp_path: Path) -> None:
    """If all times were the same, a runner's cache that relies on them would take another instance's files for
    these."""
    clone, head = open_clone(history.folder), history.commit("more", {"src/base.ts": "esab\n"})
    checkout(clone, base_of(history), tmp_path / "one")
    checkout(clone, head, tmp_path / "other")
    times = [[int((tmp_path / one / path).stat().st_mtime) for path in FILES] for one in ("one", "other")]
    assert times[0] == times[1] and len(set(times[0])) == len(FILES)
    assert (tmp_path / "one/src/base.ts").stat().st_mtime != (tmp_path / "other/src/base.ts").stat().st_mtime
    assert max(times[0]) < time.time() - 10 * 365 * 24 * 3600
