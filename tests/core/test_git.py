"""Reading clones: diffs are exact to the byte, and neither the host nor the clone's own state changes them."""

from __future__ import annotations

from pathlib import Path

import pytest
from histories import History, git

from pipeline.core.errors import UserError
from pipeline.core.git import changed_files, diff, has_commit, line_counts, list_files, open_clone, require_commit, show
from pipeline.core.patches import is_test_file

FILES = {
    "src/Menu.tsx": "one\ntwo\nthree\n",
    "src/Menu.test.tsx": "test\n" * 12,
    "src/logo.png": b"\x89PNG\0" + bytes(range(200)),
    "src/__snapshots__/a.snap": "snap",
    "scripts/run.sh": "#!/bin/sh\n",
    "src/gone.ts": "gone\n",
    "src/kept.ts": "kept\n",
}
#: name of a kind of change -> the files of the second commit
CHANGES = {
    "text": {"src/Menu.tsx": "one\n2\nthree\n", "src/Menu.test.tsx": "test\n" * 13},
    "no-newline": {"src/Menu.tsx": "one\ntwo\nthree", "src/__snapshots__/a.snap": "snap\n"},
    "binary": {"src/logo.png": b"\x89PNG\0" + bytes(range(199, 0, -1)), "test/new.png": bytes(range(256))},
    "deleted": {"src/gone.ts": None, "src/Menu.test.tsx": None},
    "empty": {"src/empty.ts": "", "test/empty.ts": "", "src/gone.ts": ""},
    "renamed": {
        "src/Menu.test.tsx": None,
        "src/Bar.test.tsx": "test\n" * 12,
        "src/Moved.ts": "gone\n",
        "src/gone.ts": None,
    },
    "names": {
        "src/a b.ts": "1\n",
        "src/ü.test.ts": "2\n",
        "src/[id].test.ts": "3\n",
        'src/"q".ts': "4\n",
        ":top.ts": "5\n",
    },
    "line-ends": {"src/Menu.tsx": "one\r\ntwo\r\nthree\r\n", "test/lone\rcr.ts": "a\rb\x0cc\n"},
    "folder-for-file": {"src/gone.ts": None, "src/gone.ts/index.ts": "folder\n"},
}


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "clone")


def split(history: History, base: str, head: str) -> tuple[str, str]:
    """The fix patch and the test patch of a commit, as collecting makes them."""
    clone = open_clone(history.folder)
    names = changed_files(clone, base, head)
    tests = [name for name in names if is_test_file(name)]
    return diff(clone, base, head, [name for name in names if name not in tests]), diff(clone, base, head, tests)


def tree_after(history: History, base: str, patches: tuple[str, ...], folder: Path) -> str:
    """The tree of a commit after the patches are applied in order."""
    git(history.folder, "worktree", "add", "-q", "--detach", str(folder), base)
    for index, patch in enumerate(patches):
        if patch:
            (folder.parent / f"{index}.patch").write_bytes(patch.encode())
            git(folder, "apply", "--index", "--whitespace=nowarn", str(folder.parent / f"{index}.patch"))
    return git(folder, "write-tree")


@pytest.mark.parametrize("kind", [*CHANGES, "executable", "link"])
def test_two_patches_make_exactly_the_merged_tree(history: History, tmp_path: Path, kind: str) -> None:
    """Each change of a pull request is in exactly one of its two patches."""
    base = history.commit("base", FILES)
    if kind == "executable":
        (history.folder / "scripts" / "run.sh").chmod(0o755)
    if kind == "link":
        (history.folder / "src" / "gone.ts").unlink()
        (history.folder / "src" / "gone.ts").symlink_to("kept.ts")
        (history.folder / "test").mkdir()
        (history.folder / "test" / "link").symlink_to("../src")
    head = history.commit("head", CHANGES.get(kind, {}))
    fix, test = split(history, base, head)
    assert tree_after(history, base, (test, fix), tmp_path / "work") == history.tree(head)


def test_a_diff_of_no_paths_is_empty(history: History) -> None:
    base, head = history.commit("base", FILES), history.commit("head", CHANGES["text"])
    assert diff(open_clone(history.folder), base, head, []) == ""


def test_a_path_is_not_read_as_a_pattern(history: History) -> None:
    """`[id].ts` and `*` are file names in real repositories."""
    base = history.commit("base")
    head = history.commit("head", {"src/[id].ts": "1\n", "src/i.ts": "2\n"})
    patch = diff(open_clone(history.folder), base, head, ["src/[id].ts"])
    assert "src/[id].ts" in patch and "src/i.ts" not in patch


def test_more_paths_than_a_command_may_name(history: History) -> None:
    """A pull request that commits `node_modules` changes tens of thousands of files with long names."""
    folder = "node_modules/" + "d" * 200
    base = history.commit("base")
    head = history.commit("head", {f"{folder}/{number:05}.js": "1\n" for number in range(12000)})
    names = [f"{folder}/{number:05}.js" for number in range(12000)]
    assert diff(open_clone(history.folder), base, head, names).count("\ndiff --git ") == len(names) - 1


def test_text_that_is_not_utf8_raises(history: History) -> None:
    base, head = history.commit("base"), history.commit("head", {"src/a.ts": "caf\xe9\n".encode("latin-1")})
    with pytest.raises(UnicodeDecodeError):
        diff(open_clone(history.folder), base, head, ["src/a.ts"])


@pytest.mark.invariant(3)
@pytest.mark.parametrize(
    "setting",
    ["diff.noprefix true", "diff.mnemonicPrefix true", "diff.context 0", "diff.algorithm patience", "color.ui always"],
)
def test_settings_of_the_clone_change_no_patch(history: History, setting: str) -> None:
    """A patch's digest names verdicts, so it must not depend on how somebody prefers to read diffs."""
    base, head = history.commit("base", FILES), history.commit("head", CHANGES["text"])
    before = split(history, base, head)
    history.git("config", *setting.split())
    assert split(history, base, head) == before


@pytest.mark.invariant(3)
def test_settings_of_the_host_change_no_patch(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host's prefixes, drivers and attributes, and a surrounding git command, would all change the bytes."""
    base, head = history.commit("base", FILES), history.commit("head", CHANGES["text"])
    before = split(history, base, head)
    (tmp_path / ".gitconfig").write_text("[diff]\nnoprefix = true\nexternal = /bin/false\n")
    (tmp_path / "xdg" / "git").mkdir(parents=True)
    (tmp_path / "xdg" / "git" / "attributes").write_text("* binary\n")
    for name, value in {
        "HOME": tmp_path,
        "XDG_CONFIG_HOME": tmp_path / "xdg",
        "GIT_CONFIG_GLOBAL": tmp_path / ".gitconfig",
        "GIT_EXTERNAL_DIFF": "/bin/false",
        "GIT_DIR": tmp_path / "elsewhere",
    }.items():
        monkeypatch.setenv(name, str(value))
    assert split(history, base, head) == before


@pytest.mark.invariant(3)
def test_the_checked_out_files_change_no_patch(history: History, tmp_path: Path) -> None:
    """A bare clone has no attributes at hand; another clone has those of whatever is checked out."""
    base = history.commit("base", FILES | {".gitattributes": "*.tsx -diff\n"})
    head = history.commit("head", CHANGES["text"])
    git(tmp_path, "clone", "-q", "--bare", str(history.folder), "bare.git")
    bare, names = open_clone(tmp_path / "bare.git"), ["src/Menu.tsx"]
    assert diff(open_clone(history.folder), base, head, names) == diff(bare, base, head, names)
    assert "\n+2\n" in diff(bare, base, head, names)


def test_files_and_commits(history: History) -> None:
    sha = history.commit("base", {"a b.ts": "x\n\n", "src/ü.ts": "y"})
    clone = open_clone(history.folder)
    assert sorted(list_files(clone, sha)) == ["a b.ts", "src/ü.ts"]
    assert (show(clone, sha, "a b.ts"), show(clone, sha, "none")) == ("x\n\n", None)
    assert has_commit(clone, sha) and not has_commit(clone, "0" * 40)


def test_lines_of_a_file_with_a_line_separator_in_its_name_count(history: History) -> None:
    base = history.commit("base", {"src/a\u2028b.ts": "one\n"})
    head = history.commit("head", {"src/a\u2028b.ts": "two\nthree\n"})
    assert line_counts(open_clone(history.folder), base, head) == (2, 1)


def test_a_missing_commit_is_refused(history: History) -> None:
    history.commit("base", FILES)
    with pytest.raises(UserError, match="no commit 0000") as error:
        require_commit(open_clone(history.folder), "0" * 40)
    assert "git fetch" in str(error.value)


@pytest.mark.rule("bad-input")
def test_an_unusable_clone_is_refused(history: History, tmp_path: Path) -> None:
    """No clone, a clone without history, or one without a commit: each error says what to do."""
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(UserError, match="not a git clone"):
            open_clone(path)
    with pytest.raises(UserError, match="no commit"):
        open_clone(history.folder)
    history.commit("one")
    history.commit("two")
    git(tmp_path, "clone", "-q", "--depth=1", history.folder.as_uri(), "shallow")
    with pytest.raises(UserError, match="shallow clone.*(?s:.)*--unshallow"):
        open_clone(tmp_path / "shallow")
