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
    added = {(one.instance_id, one.rater): one for one in reviews}
    for name, _ in added:
        if name not in known:
            raise unknown("candidate", name, sorted(known))
    with store.lock("triage", repo):
        kept = {(one.instance_id, one.rater): one for one in read_records(store.reviews(repo), Review)} | added
        write_records(store.reviews(repo), kept.values())
        return list(kept.values())


def import_file(store: Store, repo: Repo, path: Path) -> list[Review]:
    """Add the ratings of a JSON Lines file. Raises UserError with file, line and field."""
    if not path.exists():
        raise UserError("no such file", path=path)
    return add(store, repo, read_records(path, Review))
