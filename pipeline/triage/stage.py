"""Ratings of candidates: read, add, import. One rater has one rating of one instance; a later one replaces it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.records import Candidate, Review
from pipeline.core.store import Store, read_records, write_records


def add(store: Store, repo: Repo, reviews: Iterable[Review]) -> list[Review]:
    """Add ratings; returns all of the repository. Raises UserError for an instance that is not a candidate."""
    known = {one.instance_id for one in read_records(store.raw(repo) / "candidates.jsonl", Candidate)}
    with store.lock("triage", repo):
        kept = {(one.instance_id, one.rater): one for one in read_records(store.reviews(repo), Review)}
        for one in reviews:
            if one.instance_id not in known:
                raise unknown("candidate", one.instance_id, sorted(known))
            kept[one.instance_id, one.rater] = one
        write_records(store.reviews(repo), kept.values())
        return list(kept.values())


def import_file(store: Store, repo: Repo, path: Path) -> list[Review]:
    """Add the ratings of a JSON Lines file. Raises UserError with file, line and field."""
    if not path.exists():
        raise UserError("no such file", path=path)
    return add(store, repo, read_records(path, Review))
