"""Connections: pages of a sorted list by `first`/`after` or `last`/`before`, with cursors, page info and total.

The list holds positions (sort key, number); a node is made when its page is read.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from typing import Any

from github_double.cursors import Cursors, Position
from github_double.problems import NotModelled

Node = dict[str, Any]
#: GitHub's default where a connection has one
OWN_ORDER = {"field": "CREATED_AT", "direction": "ASC"}


class Listed:
    """A connection over a few items in their own order, such as the labels of an issue."""

    __slots__ = ("cursors", "items", "make")

    def __init__(self, cursors: Cursors, items: Sequence[Any], make: Callable[[Any], Node]) -> None:
        self.cursors, self.items, self.make = cursors, items, make

    def __call__(self, orderBy: Node | None = None, userLinkedOnly: bool = False, **window: Any) -> Node:
        if userLinkedOnly or orderBy not in (None, OWN_ORDER):
            raise NotModelled("this order or filter of a connection")
        positions = [("", index) for index in range(len(self.items))]
        return page(self.cursors, positions, lambda index: self.make(self.items[index]), **window)


def page(
    cursors: Cursors,
    positions: Sequence[Position],
    node: Callable[[int], Node],
    *,
    descending: bool = False,
    first: int | None = None,
    last: int | None = None,
    after: str | None = None,
    before: str | None = None,
    **other: Any,
) -> Node:
    """One page of `positions`, which are sorted upwards; `node` makes the item of a number.

    Raises Problem for a bad cursor, and NotModelled for an argument that is not modeled.
    """
    if other:
        raise NotModelled(f"the argument {', '.join(other)}")
    low, high = _bounds(cursors, positions, *((before, after) if descending else (after, before)))
    start, stop = _cut(low, high, *((last, first) if descending else (first, last)))
    chosen = positions[start:stop]
    if descending:
        chosen = chosen[::-1]
    more = (start > 0, stop < len(positions)) if descending else (stop < len(positions), start > 0)
    return _page(cursors, chosen, node, len(positions), *more)


def _bounds(cursors: Cursors, positions: Sequence[Position], lower: str | None, upper: str | None) -> tuple[int, int]:
    low = bisect_right(positions, cursors.read(lower)) if lower else 0
    high = bisect_left(positions, cursors.read(upper)) if upper else len(positions)
    return low, max(low, high)


def _cut(low: int, high: int, head: int | None, tail: int | None) -> tuple[int, int]:
    if head is not None:
        return low, min(high, low + head)
    return max(low, high - (tail or 0)), high


def _page(
    cursors: Cursors,
    chosen: Sequence[Position],
    node: Callable[[int], Node],
    total: int,
    has_next: bool,
    has_previous: bool,
) -> Node:
    return {
        "totalCount": total,
        "nodes": lambda: [node(number) for _, number in chosen],
        "edges": lambda: [{"cursor": cursors.write(row), "node": node(row[1])} for row in chosen],
        "pageInfo": {
            "hasNextPage": has_next,
            "hasPreviousPage": has_previous,
            "startCursor": cursors.write(chosen[0]) if chosen else None,
            "endCursor": cursors.write(chosen[-1]) if chosen else None,
        },
    }
