"""Ratings of candidates: added, imported, undone, decided. They are appended with their time; nothing is rewritten."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pipeline.core import journal
from pipeline.core.console import say
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.ratings import Review
from pipeline.core.records import Candidate
from pipeline.core.reviews import all_reviews, decide_finally, newest_reviews, standings
from pipeline.core.store import Store, now, read_records
from pipeline.triage import exchange


def add(store: Store, repo: Repo, reviews: Iterable[Review]) -> list[Review]:
    """Append ratings, and say which of the same rater they follow; what a rater said in the same words stays as it is.

    Returns those that count. Raises UserError for an instance that is not a candidate; then nothing is written.
    """
    new = [one if one.time else one.model_copy(update={"time": now()}) for one in reviews]
    known = {one.instance_id for one in read_records(store.raw(repo) / "candidates.jsonl", Candidate)}
    for one in new:
        if one.instance_id not in known:
            raise unknown("candidate", one.instance_id, sorted(known))
    before = {(one.instance_id, one.rater): one for one in newest_reviews(store, repo)}
    pairs = [(one, before.get((one.instance_id, one.rater))) for one in new]
    append(store, repo, [one for one, old in pairs if not _same(one, old)])
    for one, old in pairs:
        if old and not _same(one, old):
            say(f"{one.instance_id}: {one.rater} rated {old.status} before and {one.status} now; the newest counts")
    return newest_reviews(store, repo)


def append(store: Store, repo: Repo, reviews: Sequence[Review]) -> None:
    """Append ratings of what is known to be candidates."""
    store.begin()
    journal.append(store.reviews(repo), reviews)


def undo(store: Store, repo: Repo, instance_id: str, rater: str) -> bool:
    """Take the last change of a rater on a candidate back: what stood before it counts again, else nothing. Undoing
    twice goes two changes back. Returns whether there was anything. The change stays in the file, and so does this."""
    said = [one for one in all_reviews(store, repo) if (one.instance_id, one.rater) == (instance_id, rater)]
    back = _before(said)
    append(store, repo, back)
    return bool(back)


def decide(store: Store, repo: Repo, final: Review) -> None:
    """Append the final value of a candidate. Raises UserError for one that nobody has rated."""
    if final.instance_id not in standings(store, repo):
        raise UserError(f"nobody has rated {final.instance_id}", hint="rate it first: a final value needs ratings")
    decide_finally(store, repo, [final])


def undo_decision(store: Store, repo: Repo, instance_id: str) -> bool:
    """Take the last decision on a candidate back, whoever decided. Returns whether there was any."""
    back = _before([one for one in journal.read(store.finals(repo), Review) if one.instance_id == instance_id])
    decide_finally(store, repo, back)
    return bool(back)


def _before(said: Sequence[Review]) -> list[Review]:
    """What stood before the last change that nothing takes back, as a new line; none where nothing stands."""
    standing: list[Review] = []
    for one in said:
        if one.undo:
            standing.pop()
        else:
            standing.append(one)
    if not standing:
        return []
    before = standing[-2] if len(standing) > 1 else standing[-1].model_copy(update={"withdrawn": True})
    return [before.model_copy(update={"undo": True, "time": now()})]


def _same(one: Review, old: Review | None) -> bool:
    return old is not None and one == old.model_copy(update={"time": one.time, "undo": one.undo})


def import_file(store: Store, repo: Repo, path: Path, rater: str = "") -> list[Review]:
    """Add the ratings of a file of any form that `exchange` reads. Raises UserError with file, line and field."""
    return add(store, repo, exchange.read(path, rater))
