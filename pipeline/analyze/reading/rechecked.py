"""Ratings of patches by people who did not know which model wrote them."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from pipeline.analyze.handcheck.records import newest_checks
from pipeline.analyze.reading.rows import Rows
from pipeline.core.store import Store


class HandRating(NamedTuple):
    """The ratings of a patch by hand. `fixes` is the opinion of the majority, None without a majority."""

    checks: int
    fixes: bool | None


#: by the patch's key
HandRatings = dict[str, HandRating]


def read(rows: Rows, store: Store) -> HandRatings:
    """Add `handchecks`; returns the ratings of each patch."""
    by_patch: dict[str, list[bool]] = defaultdict(list)
    for check in newest_checks(store):
        if check.instance_id in rows.known:
            rows.add("handchecks", HandCheck=check)
            by_patch[check.patch].append(check.rating == "fixes")
    return {patch: HandRating(len(votes), _majority(votes)) for patch, votes in by_patch.items()}


def _majority(votes: list[bool]) -> bool | None:
    yes = sum(votes)
    return None if 2 * yes == len(votes) else 2 * yes > len(votes)
