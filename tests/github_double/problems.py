"""GitHub's errors instead of data: one error of a GraphQL answer, with GitHub's type and message."""

from __future__ import annotations

from typing import Any


class Problem(Exception):
    """An error of the answer; if a field raises it, the nearest nullable field becomes null."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.path: tuple[str | int, ...] = ()

    def entry(self) -> dict[str, Any]:
        """The error in the form of an answer's `errors`."""
        return {"type": self.kind, "path": list(self.path), "message": str(self)}


class NotModelled(Exception):
    """The double lacks a feature of GitHub: the test's world is too small for its query (HTTP 501)."""


def not_found(what: str, name: str | int) -> Problem:
    """GitHub's message for something missing, for example a repository with that name."""
    relation = "the name '{}'" if what == "Repository" else "the number of {}"
    article = "an" if what.startswith("Issue") else "a"
    return Problem("NOT_FOUND", f"Could not resolve to {article} {what} with {relation.format(name)}.")
