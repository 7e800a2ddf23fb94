"""What GitHub answers instead of data: one error of a GraphQL answer, with GitHub's type and words."""

from __future__ import annotations

from typing import Any


class Problem(Exception):
    """An error of the answer; raised in a field, it makes null of the nearest field that may be null."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.path: tuple[str | int, ...] = ()

    def entry(self) -> dict[str, Any]:
        """The error as it stands in an answer's `errors`."""
        return {"type": self.kind, "path": list(self.path), "message": str(self)}


class NotModelled(Exception):
    """The double lacks what GitHub has: the test's world is too small for its query (HTTP 501)."""


def not_found(what: str, name: str | int) -> Problem:
    """GitHub's words for what is not there, for example a repository of that name."""
    relation = "the name '{}'" if what == "Repository" else "the number of {}"
    article = "an" if what.startswith("Issue") else "a"
    return Problem("NOT_FOUND", f"Could not resolve to {article} {what} with {relation.format(name)}.")
