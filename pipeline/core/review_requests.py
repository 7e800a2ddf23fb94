"""Requests for reviews, on either track: what people are asked to review, and which requests they have answered.

Reads and appends to `00_viewer/requests/`; nothing there is rewritten. The review itself, such as a `Review` of a
candidate, is stored elsewhere; this module only records that it was given.
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
    """One thing that somebody should review. Asking for the same again does not make a second request."""

    kind: Kind
    id: str = Field(description="of its kind: an instance id, a patch's key, a case's name")
    version: str = Field(description="digest of what is to be seen: a review of another version does not answer it")
    why: str = Field(description="in a sentence, for the reviewer")
    asked_by: str = Field(description="a person, or the command that asks")
    time: str = Field(description="when it was asked, UTC")

    @property
    def key(self) -> str:
        """The key that an answer names. It does not depend on who asks and when."""
        return digest(self.kind, self.id, self.version, self.why)[:12]


class ReviewAnswer(Versioned):
    """A note that one reviewer answered a request."""

    request: str = Field(description="the request's key")
    reviewer: str
    time: str = Field(description="when, UTC")
    note: str = ""


def ask(store: Store, requests: Iterable[ReviewRequest]) -> list[ReviewRequest]:
    """Append the requests that are new, and return them."""
    existing = {request.key for request in requested(store)}
    new = {request.key: request for request in requests if request.key not in existing}
    store.begin()
    journal.append(store.review_requests, new.values())
    return list(new.values())


def answer(store: Store, answers: Iterable[ReviewAnswer]) -> None:
    """Append answers. A reviewer may answer again; all answers are kept."""
    store.begin()
    journal.append(store.review_answers, answers)


def requested(store: Store) -> list[ReviewRequest]:
    """All requests, the oldest first. Raises UserError with file, line and field."""
    found = journal.read(store.review_requests, ReviewRequest)
    return list({request.key: request for request in reversed(found)}.values())[::-1]


def answers(store: Store) -> dict[str, list[ReviewAnswer]]:
    """All answers by the request's key, the oldest first. Raises as `requested` does."""
    by_request: dict[str, list[ReviewAnswer]] = {}
    for reply in journal.read(store.review_answers, ReviewAnswer):
        by_request.setdefault(reply.request, []).append(reply)
    return by_request


def queue(store: Store, reviewer: str = "") -> list[ReviewRequest]:
    """The requests that nobody has answered, or that one reviewer has not."""
    reviewers = {key: {reply.reviewer for reply in replies} for key, replies in answers(store).items()}
    answered = {key for key, names in reviewers.items() if not reviewer or reviewer in names}
    return [request for request in requested(store) if request.key not in answered]
