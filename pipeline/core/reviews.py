"""Ratings of candidates as all stages read them: append-only, the newest of each rater on each instance counts."""

from __future__ import annotations

from pipeline.core import journal
from pipeline.core.names import Repo
from pipeline.core.records import Review
from pipeline.core.store import Store


def newest_reviews(store: Store, repo: Repo) -> list[Review]:
    """The ratings that count, in the order in which instances were first rated.

    Of two of the same time the later line is the newer; one without a time is older than all that have one. Raises
    UserError with file, line and field.
    """
    found: dict[tuple[str, str], Review] = {}
    for one in journal.read(store.reviews(repo), Review):
        key = (one.instance_id, one.rater)
        if key not in found or one.time >= found[key].time:
            found[key] = one
    return list(found.values())
