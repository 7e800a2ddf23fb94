"""Ratings of patches by people who did not know which model wrote them."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from pipeline.analyze.handcheck.records import newest_checks
from pipeline.analyze.reading.rows import Rows
from pipeline.core.store import Store


class Hand(NamedTuple):
    """The ratings of a patch by hand. `fixes` is what the majority says, None without a majority."""

    checks: int
    fixes: bool | None


#: by the patch's key
Hands = dict[str, Hand]


def read(rows: Rows, store: Store) -> Hands:
    """Add `handchecks`; returns the ratings of each patch."""
    said: dict[str, list[bool]] = defaultdict(list)
    for check in newest_checks(store):
        if check.instance_id in rows.known:
            rows.add("handchecks", HandCheck=check)
            said[check.patch].append(check.rating == "fixes")
    return {patch: Hand(len(votes), _most(votes)) for patch, votes in said.items()}


def _most(votes: list[bool]) -> bool | None:
    yes = sum(votes)
    return None if 2 * yes == len(votes) else 2 * yes > len(votes)
