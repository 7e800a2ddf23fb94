"""A pull request's patches: the difference of its merge commit and that commit's first parent, split by test files.

If a pull request was rebased onto the branch commit by commit, the merge commit holds only its last part: then the
difference starts at the parent of its first commit (whole.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from github import GithubException

from pipeline.collect.github.limits import lacks_diff
from pipeline.collect.github.rest import Rest
from pipeline.collect.sources import BINARY, Merged, Patches, Unavailable
from pipeline.collect.sources.clone import clone_patches
from pipeline.collect.whole import Span, whole
from pipeline.core.git import Clone, ancestors, changed_files, has_commit, line_counts
from pipeline.core.patches import diff_counts, is_test_file, paths, select

IsTest = Callable[[str], bool]
Commits = Callable[[], int]

#: the diff in a mail of `git format-patch`: everything from its first file to the signature
_MAIL = re.compile(r"^(diff --git .*?)(?:^-- \n[^\n]*\n\n?)?(?=^From [0-9a-f]{40} |\Z)", re.MULTILINE | re.DOTALL)
#: statuses of REST -> the funnel's reason
_REFUSED = {404: "base_missing", 422: "base_missing", 406: "too_large"}


def clone_changes(clone: Clone, merged: Merged, commits: Commits, is_test: IsTest = is_test_file) -> Patches:
    """Both patches from a clone, exact to the byte; `commits` returns how many the branch had. Raises Unavailable."""
    merge = merged.pull.merge_sha
    if not merge or not has_commit(clone, merge) or not has_commit(clone, f"{merge}^1"):
        raise Unavailable("base_missing", f"the clone lacks the merge commit {merge} or its parent")

    def span(number: int) -> Span | None:
        line = ancestors(clone, merge, number)
        if number >= len(line):
            return None
        counts = line_counts(clone, line[number], merge)
        return Span(line[number], frozenset(changed_files(clone, line[number], merge)), *counts)

    change = whole(merged, span, commits)
    return clone_patches(clone, change.base, merge, change.files, is_test)


def rest_changes(rest: Rest, name: str, merged: Merged, commits: Commits, is_test: IsTest = is_test_file) -> Patches:
    """Both patches as GitHub prints them; `commits` returns how many the branch had. Raises Unavailable."""
    merge = merged.pull.merge_sha
    if not merge:
        raise Unavailable("base_missing", "GitHub names no merge commit")
    line, texts = Line(rest, name, merge), {}

    def span(number: int) -> Span | None:
        base = line.parent(number)
        if not base:
            return None
        texts[base] = rest.compare(name, base, merge, "diff")
        return Span(base, frozenset(paths(texts[base])), *diff_counts(texts[base]))

    try:
        base = whole(merged, span, commits).base
        patch = _with_binaries(rest, name, base, merge, texts[base])
    except GithubException as error:
        reason = "too_large" if lacks_diff(str(error)) else _REFUSED.get(error.status)
        if reason is None:
            raise
        raise Unavailable(reason, str(error)) from None
    if "\ufffd" in patch:
        raise Unavailable("not_utf8", "GitHub's diff replaces letters that it cannot read")
    return Patches(base, select(patch, lambda path: not is_test(path)), select(patch, is_test))


class Line:
    """The first-parent line of a commit, fetched one by one. It ends at a merge or a root; its start may be a merge."""

    def __init__(self, rest: Rest, name: str, merge: str) -> None:
        self._rest, self._name, self._known, self._ended = rest, name, [merge], False

    def parent(self, number: int) -> str:
        """The commit `number` steps back; empty if there is none."""
        while len(self._known) <= number and not self._ended:
            parents = self._rest.parents(self._name, self._known[-1])
            self._ended = len(parents) != 1
            if parents and (len(self._known) == 1 or not self._ended):
                self._known.append(parents[0])
        return self._known[number] if number < len(self._known) else ""


def _with_binaries(rest: Rest, name: str, base: str, merge: str, plain: str) -> str:
    """The whole difference. GitHub's diffs lack the content of binary files; its mail of a single commit has it.

    Raises Unavailable, GithubException.
    """
    lost = BINARY.search(plain)
    if not lost:
        return plain
    mails = _MAIL.findall(rest.compare(name, base, merge, "patch"))
    if len(mails) != 1 or paths(mails[0]) != paths(plain):
        raise Unavailable("binary", lost[0])
    return mails[0]
