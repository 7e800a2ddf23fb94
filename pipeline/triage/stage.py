"""Ratings of candidates: add, import, undo, decide. Each change is appended with its time; nothing is rewritten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pipeline.core import journal
from pipeline.core.console import say
from pipeline.core.dataset import read_candidates
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.ratings import Review
from pipeline.core.reviews import all_reviews, decide_finally, newest_reviews, standings
from pipeline.core.store import Store, now
from pipeline.triage import exchange


def add(store: Store, repo: Repo, reviews: Iterable[Review]) -> list[Review]:
    """Append ratings, and report changed ones. A rating equal to the same rater's last one is not appended, nor is one
    that was appended before: a file may be imported again.

    Returns those that count. Raises UserError for an instance that is not a candidate; then nothing is written.
    """
    existing = set(map(_content, all_reviews(store, repo)))
    fresh = (rating for rating in reviews if _content(rating) not in existing)
    new = [rating if rating.time else rating.model_copy(update={"time": now()}) for rating in fresh]
    known = {rating.instance_id for rating in read_candidates(store, repo)}
    for rating in new:
        if rating.instance_id not in known:
            raise unknown("candidate", rating.instance_id, sorted(known))
    previous = {(rating.instance_id, rating.rater): rating for rating in newest_reviews(store, repo)}
    pairs = [(rating, previous.get((rating.instance_id, rating.rater))) for rating in new]
    append(store, repo, [rating for rating, old in pairs if not _same(rating, old)])
    for rating, old in pairs:
        if old and not _same(rating, old):
            change = f"{rating.rater} rated {old.status} before and {rating.status} now; the newest counts"
            say(f"{rating.instance_id}: {change}")
    return newest_reviews(store, repo)


def append(store: Store, repo: Repo, reviews: Sequence[Review]) -> None:
    """Append ratings of known candidates."""
    store.begin()
    journal.append(store.reviews(repo), reviews)


def undo(store: Store, repo: Repo, instance_id: str, rater: str) -> bool:
    """Undo a rater's last change on a candidate: the rating before it counts again, if there is one. Undoing twice
    goes two changes back. Returns whether there was a change. Both the change and its undoing stay in the file."""
    history = [
        review for review in all_reviews(store, repo) if (review.instance_id, review.rater) == (instance_id, rater)
    ]
    undoing = _undoing(history)
    append(store, repo, undoing)
    return bool(undoing)


def decide(store: Store, repo: Repo, final: Review) -> None:
    """Append the final rating of a candidate. Raises UserError for a candidate without ratings."""
    if final.instance_id not in standings(store, repo):
        raise UserError(f"{final.instance_id} has no ratings", hint="rate it first: a final rating needs others")
    decide_finally(store, repo, [final])


def undo_decision(store: Store, repo: Repo, instance_id: str) -> bool:
    """Undo the last decision on a candidate, whoever decided. Returns whether there was one."""
    undoing = _undoing(
        [review for review in journal.read(store.finals(repo), Review) if review.instance_id == instance_id]
    )
    decide_finally(store, repo, undoing)
    return bool(undoing)


def _undoing(history: Sequence[Review]) -> list[Review]:
    """The rating before the last change that was not undone, as a new line; none if there is none."""
    standing: list[Review] = []
    for review in history:
        if review.undo:
            del standing[-1:]  # a file that was imported may lack what was undone
        else:
            standing.append(review)
    if not standing:
        return []
    before = standing[-2] if len(standing) > 1 else standing[-1].model_copy(update={"withdrawn": True})
    return [before.model_copy(update={"undo": True, "time": now()})]


def _content(review: Review) -> str:
    """A rating with its time, whichever version of the program wrote it."""
    return review.model_dump_json(exclude={"tool", "schema_version"})


def _same(new: Review, old: Review | None) -> bool:
    return old is not None and new == old.model_copy(update={"time": new.time, "undo": new.undo})


def import_file(store: Store, repo: Repo, path: Path, rater: str = "") -> list[Review]:
    """Add the ratings of a file of any format that `exchange` reads. Raises UserError with file, line and field."""
    return add(store, repo, exchange.read(path, rater))
