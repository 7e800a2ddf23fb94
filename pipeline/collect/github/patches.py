"""A pull request's patches: the difference of its merge commit and that commit's first parent, split by test files.

Of a pull request that was rebased onto the branch commit by commit the merge commit holds the last part only: it is
told by paths that the pull request changes and this difference does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import git
from github import GithubException

from pipeline.collect.github.rest import Rest
from pipeline.collect.sources import Merged, Patches, Unavailable
from pipeline.collect.sources.clone import clone_patches
from pipeline.core.git import changed_files, has_commit
from pipeline.core.patches import is_test_file, paths, select

_BINARY = re.compile(r"^Binary files .* differ$", re.MULTILINE)
#: the diff in a mail of `git format-patch`: all from its first file to the signature
_MAIL = re.compile(r"^(diff --git .*?)(?:^-- \n[^\n]*\n\n?)?(?=^From [0-9a-f]{40} |\Z)", re.MULTILINE | re.DOTALL)
#: statuses of REST -> the funnel's reason
_REFUSED = {404: "base_missing", 422: "base_missing", 406: "too_large"}


def clone_changes(clone: git.Repo, merged: Merged) -> Patches:
    """From a clone, exact to the byte. Raises Unavailable."""
    merge = merged.pull.merge_sha
    if not merge or not has_commit(clone, merge) or not has_commit(clone, f"{merge}^1"):
        raise Unavailable("base_missing", f"the clone lacks the merge commit {merge} or its parent")
    base = clone.git.rev_parse(f"{merge}^1")
    changed = changed_files(clone, base, merge)
    _complete(merged, changed)
    return clone_patches(clone, base, merge, changed)


def rest_changes(rest: Rest, name: str, merged: Merged) -> Patches:
    """As GitHub prints it. Raises Unavailable."""
    merge = merged.pull.merge_sha
    if not merge:
        raise Unavailable("base_missing", "GitHub names no merge commit")
    try:
        base = rest.parent(name, merge)
        patch = _compared(rest, name, base, merge)
    except GithubException as error:
        if error.status not in _REFUSED:
            raise
        raise Unavailable(_REFUSED[error.status], str(error)) from None
    if "\ufffd" in patch:
        raise Unavailable("not_utf8", "GitHub's diff replaces letters that it can not read")
    _complete(merged, paths(patch))
    return Patches(base, select(patch, lambda path: not is_test_file(path)), select(patch, is_test_file))


def _compared(rest: Rest, name: str, base: str, merge: str) -> str:
    """The whole difference. GitHub's diff leaves binary content out; its mail of a single commit has it.

    Raises Unavailable, GithubException.
    """
    plain = rest.compare(name, base, merge, "diff")
    lost = _BINARY.search(plain)
    if not lost:
        return plain
    mails = _MAIL.findall(rest.compare(name, base, merge, "patch"))
    if len(mails) != 1 or paths(mails[0]) != paths(plain):
        raise Unavailable("binary", lost[0])
    return mails[0]


def _complete(merged: Merged, changed: Iterable[str]) -> None:
    missing = sorted(set(merged.files) - set(changed))
    if missing:
        raise Unavailable("spread", "; ".join(missing[:5]))
