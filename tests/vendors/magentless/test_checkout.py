"""Reading the commit, checking paths, making patches."""

from __future__ import annotations

import pytest
from magentless.causes import Ended
from magentless.checkout import Checkout

from .conftest import FILES, git


def test_only_tracked_regular_files_are_read(make_checkout):
    root = make_checkout(FILES, links={"link.tsx": "src/IconButton.tsx"})
    (root / "untracked.tsx").write_text("x")
    checkout = Checkout(root)
    assert set(checkout.files) == set(FILES)
    assert checkout.text("untracked.tsx") is None
    assert checkout.text("link.tsx") is None


def test_binary_and_malformed_files_are_skipped(make_checkout):
    checkout = Checkout(make_checkout({"a.tsx": b"\xff\xfe\x00", "b.tsx": b"a\0b", "c.tsx": "ü"}))
    assert [checkout.text(path) for path in ("a.tsx", "b.tsx", "c.tsx")] == [None, None, "ü"]


@pytest.mark.trap("one-missing-file")
def test_a_file_missing_in_the_clone_is_skipped(make_checkout):
    """In MagentLess, one missing file aborts the batch; real clones lack some of their largest files."""
    root = make_checkout(FILES)
    sha = git(root, "rev-parse", "HEAD:src/theme.css").decode().strip()
    (root / ".git/objects" / sha[:2] / sha[2:]).unlink()
    checkout = Checkout(root)
    assert checkout.text("src/theme.css") is None
    assert b"+b" in checkout.diff({"src/IconButton.tsx": "b\n"})


@pytest.mark.trap("path-escape")
@pytest.mark.parametrize(
    "path",
    [
        "", "/etc/passwd", "../out.tsx", "src/../../out.tsx", "./src/a.tsx", "src//a.tsx", ".git/hooks/pre-commit",
        "src/.GIT/config", "link/a.tsx", "outside/a.tsx", "src/IconButton.tsx/a.tsx", "src", "a\0b.tsx", "a\nb.tsx",
        "C:\\a.tsx", "src/IconButton.tsx",
    ],
)  # fmt: skip
def test_a_new_file_outside_or_in_place_of_another_is_refused(make_checkout, tmp_path, path):
    """A model's path is never trusted: not absolute, not upwards, not through a link, not into git's own folder."""
    root = make_checkout(FILES, links={"link": "/tmp"})
    (root / "outside").symlink_to(tmp_path)
    assert not Checkout(root).may_be_new(path)


def test_a_new_file_may_be_made_inside(checkout):
    assert checkout.may_be_new("src/new/[id].tsx")


@pytest.mark.parametrize("content", ["a\r\nb\r\n", "a\nb", "a\r\nb", "\ufeffa\nb\n", "ä\u2028b\nb\n"])
def test_a_patch_applies_and_keeps_line_ends(make_checkout, content):
    root = make_checkout({"src/a.ts": content})
    changed = content.replace("a", "changed", 1).replace("ä", "changed")
    patch = Checkout(root).diff({"src/a.ts": changed, "src/b.ts": "new"})
    git(root, "apply", "-", stdin=patch)
    assert (root / "src/a.ts").read_bytes() == changed.encode()
    assert (root / "src/b.ts").read_bytes() == b"new"


@pytest.mark.trap("deletion-and-new-file")
def test_a_file_without_text_is_removed(make_checkout):
    """In MagentLess a pure deletion never matches."""
    root = make_checkout(FILES)
    git(root, "apply", "-", stdin=Checkout(root).diff({"src/theme.css": ""}))
    assert not (root / "src/theme.css").exists()


def test_a_patch_keeps_the_file_mode_and_ignores_the_users_configuration(make_checkout):
    root = make_checkout({"run.js": "a\n"})
    (root / "run.js").chmod(0o755)
    git(root, "commit", "--quiet", "--all", "--message", "mode")
    git(root, "config", "diff.noprefix", "true")
    patch = Checkout(root).diff({"run.js": "b\n"})
    assert b"--- a/run.js" in patch and b"old mode" not in patch


def test_files_that_exclude_each_other_are_refused(checkout):
    with pytest.raises(Ended, match="INVALID_PATCH"):
        checkout.diff({"new": "a\n", "new/b.ts": "b\n"})
