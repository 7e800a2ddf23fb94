"""Ratings of patches by hand, from people who did not know whose they were."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from pipeline.analyze.handcheck.records import newest_checks
from pipeline.analyze.reading.rows import Rows
from pipeline.core.store import Store


class Hand(NamedTuple):
    """What people say of a patch: `fixes` is what most of them say, None when they are divided."""

    checks: int
    fixes: bool | None


#: by the patch's key
Hands = dict[str, Hand]


def read(rows: Rows, store: Store) -> Hands:
    """Add `handchecks`; returns what is said of each patch."""
    said: dict[str, list[bool]] = defaultdict(list)
    for one in newest_checks(store):
        if one.instance_id in rows.known:
            rows.add("handchecks", HandCheck=one)
            said[one.patch].append(one.rating == "fixes")
    return {patch: Hand(len(votes), _most(votes)) for patch, votes in said.items()}


def _most(votes: list[bool]) -> bool | None:
    yes = sum(votes)
    return None if 2 * yes == len(votes) else 2 * yes > len(votes)
