"""How many commits of the history belong to a pull request: one, or several that were rebased onto the branch.

The merge commit that a host names is only the last of them. The host's numbers of commits and of changed lines show
where the pull request begins. All sources use this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pipeline.collect.sources import Merged, Unavailable

#: the largest number of beginnings that are tried
_TRIES = 12


class Span(NamedTuple):
    """The change from a commit to the merge commit: its paths, and how many lines it adds and removes."""

    base: str
    files: frozenset[str]
    added: int
    removed: int


def whole(merged: Merged, span: Callable[[int], Span | None], commits: Callable[[], int]) -> Span:
    """The whole change. `span(n)` is that of the last n commits; None if a merge or the root is among them.

    `commits` returns how many commits the branch had; it is called only if the last commit alone does not fit. A change
    fits if it has all paths of the pull request and the same numbers of lines. If none has the same numbers (the branch
    had changed in between), the nearest is taken. Raises Unavailable if no change has all paths.
    """
    shortest = span(1)
    if shortest is None:
        raise Unavailable("base_missing", f"{merged.pull.merge_sha} has no parent")
    paths = set(merged.files)
    changes = [change for change in _changes(merged, shortest, span, commits) if paths <= change.files]
    if not changes:
        raise Unavailable("spread", "; ".join(sorted(paths - shortest.files)[:5]))
    return min(changes, key=lambda change: _distance(merged, change))


def _changes(
    merged: Merged, shortest: Span, span: Callable[[int], Span | None], commits: Callable[[], int]
) -> Iterator[Span]:
    """The change of the last commit, then, until one fits, of more: all commits first, fewer if some were empty."""
    yield shortest
    if _distance(merged, shortest) == 0 and set(merged.files) <= shortest.files:
        return
    total = commits()
    for number in range(total, max(1, total - _TRIES), -1):
        if change := span(number):
            yield change
            if _distance(merged, change) == 0:
                return


def _distance(merged: Merged, span: Span) -> int:
    """By how many lines a change differs from the host's numbers; 0 if the host has none."""
    if merged.added is None or merged.removed is None:
        return 0
    return abs(merged.added - span.added) + abs(merged.removed - span.removed)
