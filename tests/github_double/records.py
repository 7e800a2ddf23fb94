"""What a repository holds, before it is dressed as GraphQL or REST: pull requests, issues, files."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha1


@dataclass(slots=True)
class File:
    """A path that a pull request changes; `change` is GitHub's PatchStatus, `previous` the path before a rename."""

    path: str
    change: str = "MODIFIED"
    additions: int = 1
    deletions: int = 1
    previous: str = ""


@dataclass(slots=True)
class Issue:
    """An issue. `author` None is a deleted user; times are ISO 8601 in UTC."""

    number: int
    title: str
    body: str = ""
    state: str = "CLOSED"
    author: str | None = "ann"
    labels: tuple[str, ...] = ()
    created_at: str = "2024-01-01T00:00:00Z"
    updated_at: str = "2024-01-01T00:00:00Z"


@dataclass(slots=True)
class Pull(Issue):
    """A pull request; `base` and `merge` are commits, made up from the number where there is no clone."""

    state: str = "MERGED"
    files: tuple[File, ...] = ()
    closes: tuple[int, ...] = ()
    merged_at: str | None = None
    base: str = ""
    merge: str | None = None
    branch: str = "main"

    @property
    def merged(self) -> bool:
        return self.state == "MERGED"

    def __post_init__(self) -> None:
        self.base = self.base or made_up(f"base of {self.number}")
        if self.merged:
            self.merged_at = self.merged_at or self.updated_at
            self.merge = self.merge or made_up(f"merge of {self.number}")


def made_up(text: str) -> str:
    """A commit's name that belongs to nothing."""
    return sha1(text.encode(), usedforsecurity=False).hexdigest()
