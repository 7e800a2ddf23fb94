"""Patches applied to a commit without a checkout: exactly git's tree, an error for a patch that does not apply, and an
untouched clone."""

from __future__ import annotations

from pathlib import Path

import pytest
from histories import History

from pipeline.core.git import changed_files, diff, open_clone
from pipeline.dataset.applied import DoesNotApply, apply

BASE = {"src/a b.ts": "one\ntwo\n", "src/ü.png": bytes(range(256)), "gone.ts": "gone\n", "run.sh": "#!/bin/sh\n"}
HEAD = {"src/a b.ts": "one\r\n2", "src/ü.png": bytes(range(255, 0, -1)), "gone.ts": None, "new/deep/file.ts": "new\n"}


@pytest.fixture
def history(tmp_path: Path) -> History:
    """Two commits: the second one changes texts, a binary file, a mode, and the set of files."""
    made = History(tmp_path / "clone")
    made.commit("base", BASE)
    (made.folder / "run.sh").chmod(0o755)
    made.commit("head", HEAD)
    return made


def test_both_patches_make_the_tree(history: History) -> None:
    clone = open_clone(history.folder)
    names = changed_files(clone, "HEAD~1", "HEAD")
    before = history.git("count-objects", "-v")
    made = apply(
        clone,
        "HEAD~1",
        {name: diff(clone, "HEAD~1", "HEAD", part) for name, part in {"a": names[:2], "b": names[2:]}.items()},
    )
    assert made.tree == history.tree("HEAD")
    assert made.files == {"src/a b.ts", "src/ü.png", "new/deep/file.ts", "run.sh"}
    assert (history.git("count-objects", "-v"), history.git("status", "--porcelain")) == (before, "")


def test_an_empty_patch_changes_nothing(history: History) -> None:
    assert apply(open_clone(history.folder), "HEAD", {"fix": "", "test": "\n"}).tree == history.tree("HEAD")


@pytest.mark.trap("two-patches-one-apply")
def test_the_patch_that_does_not_apply_is_named(history: History) -> None:
    """With two patches in one `git apply`, nobody could tell which of them failed."""
    clone = open_clone(history.folder)
    patch = diff(clone, "HEAD~1", "HEAD", ["src/a b.ts"])
    with pytest.raises(DoesNotApply, match="the fix patch does not apply: error: patch failed: src/a b.ts:1"):
        apply(clone, "HEAD~1", {"test": patch, "fix": patch})
