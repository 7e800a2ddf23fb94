"""Ratings of candidates as all stages read them: append-only, the newest of each rater on each instance counts."""

from __future__ import annotations

from pipeline.core import journal
from pipeline.core.names import Repo
from pipeline.core.records import Review
from pipeline.core.store import Store


def newest_reviews(store: Store, repo: Repo) -> list[Review]:
    """The ratings that count, in the order in which instances were first rated. Raises UserError with file and line."""
    return journal.newest(store.reviews(repo), Review, ("instance_id", "rater"))
