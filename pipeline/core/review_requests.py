"""Requests for reviews, on either track: what people are asked to look at, and what they have answered.

Reads and appends to `00_viewer/requests/`; nothing there is rewritten. The answer itself is a record of its own kind (a
`Review` of a candidate, for example) and is stored with those; here is only that it was given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from pipeline.core import journal
from pipeline.core.records import Versioned
from pipeline.core.store import Store, digest

#: what can be reviewed
Kind = Literal["candidate", "instance", "patch", "case"]


class ReviewRequest(Versioned):
    """One thing that somebody should look at. Asking for the same again is no second request."""

    kind: Kind
    id: str = Field(description="of its kind: an instance id, a patch's key, a case's name")
    version: str = Field(description="digest of what is to be seen: a review of another version does not answer it")
    why: str = Field(description="in a sentence, for the reviewer")
    asked_by: str = Field(description="a person, or the command that asks")
    time: str = Field(description="when it was asked, UTC")

    @property
    def key(self) -> str:
        """What an answer names: who asks, and when, is no part of it."""
        return digest(self.kind, self.id, self.version, self.why)[:12]


class ReviewAnswer(Versioned):
    """That a request was answered, by one reviewer."""

    request: str = Field(description="the request's key")
    reviewer: str
    time: str = Field(description="when, UTC")
    note: str = ""


def ask(store: Store, requests: Iterable[ReviewRequest]) -> list[ReviewRequest]:
    """Append the requests that are new, and return them."""
    known = {one.key for one in requested(store)}
    new = {one.key: one for one in requests if one.key not in known}
    store.begin()
    journal.append(store.review_requests, new.values())
    return list(new.values())


def answer(store: Store, answers: Iterable[ReviewAnswer]) -> None:
    """Append answers. A reviewer may answer again; all answers stand."""
    store.begin()
    journal.append(store.review_answers, answers)


def requested(store: Store) -> list[ReviewRequest]:
    """All requests, the oldest first. Raises UserError with file, line and field."""
    found = journal.read(store.review_requests, ReviewRequest)
    return list({one.key: one for one in reversed(found)}.values())[::-1]


def answers(store: Store) -> dict[str, list[ReviewAnswer]]:
    """All answers by the request's key, the oldest first. Raises as `requested` does."""
    found: dict[str, list[ReviewAnswer]] = {}
    for one in journal.read(store.review_answers, ReviewAnswer):
        found.setdefault(one.request, []).append(one)
    return found


def queue(store: Store, reviewer: str = "") -> list[ReviewRequest]:
    """The requests that nobody has answered, or that one reviewer has not."""
    given = {key for key, found in answers(store).items() if any(reviewer in ("", one.reviewer) for one in found)}
    return [one for one in requested(store) if one.key not in given]
