"""How many commits of the history belong to a pull request: one, or several that were rebased onto the branch.

The merge commit that a host names is only the last of them. The host's number of commits and counts of lines say how
far back the pull request begins. All sources use this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from pipeline.collect.sources import Merged, Unavailable

#: so many beginnings are tried
_TRIES = 12


class Span(NamedTuple):
    """The change from a commit to the merge commit: its paths, and how many lines it adds and removes."""

    base: str
    files: frozenset[str]
    added: int
    removed: int


def whole(merged: Merged, span: Callable[[int], Span | None], commits: Callable[[], int]) -> Span:
    """The whole change; `span(n)` is that of the last n commits, None where a merge or the root is among them.

    `commits` says how many there were on the branch, and is asked where the last one does not fit. The change of one
    commit is taken where its lines are the pull request's, else the longer one whose lines are; where none fits to the
    line (the branch had moved on), the nearest. Raises Unavailable where no change has all its paths.
    """
    first = span(1)
    if first is None:
        raise Unavailable("base_missing", f"{merged.pull.merge_sha} has no parent")
    wanted = set(merged.files)
    spans = [one for one in _tried(merged, first, span, commits) if wanted <= one.files]
    if not spans:
        raise Unavailable("spread", "; ".join(sorted(wanted - first.files)[:5]))
    return min(spans, key=lambda one: _distance(merged, one))


def _tried(
    merged: Merged, first: Span, span: Callable[[int], Span | None], commits: Callable[[], int]
) -> Iterator[Span]:
    """The change of one commit, then, until one fits, those of more: all commits first, fewer where some were empty."""
    yield first
    if _distance(merged, first) == 0 and set(merged.files) <= first.files:
        return
    most = commits()
    for number in range(most, max(1, most - _TRIES), -1):
        if one := span(number):
            yield one
            if _distance(merged, one) == 0:
                return


def _distance(merged: Merged, span: Span) -> int:
    """By how many lines a change differs from what the host counts; 0 where it counts none."""
    if merged.added is None or merged.removed is None:
        return 0
    return abs(merged.added - span.added) + abs(merged.removed - span.removed)
