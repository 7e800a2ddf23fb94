"""Ratings of candidates: read, add, import. They are appended with their time; the newest of a rater counts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pipeline.core import journal
from pipeline.core.console import say
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Review
from pipeline.core.reviews import newest_reviews
from pipeline.core.store import Store, now, read_records


def add(store: Store, repo: Repo, reviews: Iterable[Review]) -> list[Review]:
    """Append ratings, and say which of the same rater they follow; what a rater said in the same words stays as it is.

    Returns those that count. Raises UserError for an instance that is not a candidate; then nothing is written.
    """
    new = [one if one.time else one.model_copy(update={"time": now()}) for one in reviews]
    known = {one.instance_id for one in read_records(store.raw(repo) / "candidates.jsonl", Candidate)}
    for one in new:
        if one.instance_id not in known:
            raise unknown("candidate", one.instance_id, sorted(known))
    store.begin()
    before = {(one.instance_id, one.rater): one for one in newest_reviews(store, repo)}
    pairs = [(one, before.get((one.instance_id, one.rater))) for one in new]
    journal.append(store.reviews(repo), [one for one, old in pairs if not _same(one, old)])
    for one, old in pairs:
        if old and not _same(one, old):
            say(f"{one.instance_id}: {one.rater} said {old.status} before, and now {one.status}; the newest counts")
    return newest_reviews(store, repo)


def _same(one: Review, old: Review | None) -> bool:
    return old is not None and one == old.model_copy(update={"time": one.time})


def import_file(store: Store, repo: Repo, path: Path) -> list[Review]:
    """Add the ratings of a JSON Lines file. Raises UserError with file, line and field."""
    if not path.exists():
        raise UserError("no such file", path=path)
    return add(store, repo, read_records(path, Review))
