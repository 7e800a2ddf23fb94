"""The rating of one patch by one person. It belongs to the patch, not to a model, so equal patches share it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from pipeline.core import journal
from pipeline.core.records import Versioned
from pipeline.core.store import Store, digest

Rating = Literal["fixes", "partly", "no", "harms"]

#: rating -> its meaning
RATINGS: dict[str, str] = {
    "fixes": "the issue is solved, as a maintainer would accept it",
    "partly": "some of the issue is solved, and nothing is worse",
    "no": "the issue is not solved",
    "harms": "something is less accessible, or broken, with the patch",
}


class HandCheck(Versioned):
    """One rating. `patch` is the patch's key."""

    instance_id: str
    patch: str
    rater: str
    rating: Rating
    note: str = ""
    time: str = Field(default="", description="when it was given, UTC; a rater's newest rating counts")


def newest_checks(store: Store) -> list[HandCheck]:
    """The ratings that count: the newest of each rater on each patch. Raises UserError with file and line."""
    return journal.newest(store.handchecks, HandCheck, ("patch", "rater"))


def patch_key(instance_id: str, patch: str) -> str:
    """The name of a patch on a sheet: a digest of its text, which does not reveal the model."""
    return digest(instance_id, patch)[:12]
