"""The content of a repository, before it takes the form of GraphQL or REST: pull requests, issues, files."""

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
    """A pull request; `base` and `merge` are commits, derived from the number if there is no clone.

    `closes` are the closing references that GitHub knows: numbers, or `other/place#12`. `commits` is the number of
    commits on its branch; each of them was rebased if `merge` has one parent and is not the whole change.
    """

    state: str = "MERGED"
    files: tuple[File, ...] = ()
    closes: tuple[int | str, ...] = ()
    merged_at: str | None = None
    base: str = ""
    merge: str | None = None
    branch: str = "main"
    commits: int = 1

    @property
    def merged(self) -> bool:
        return self.state == "MERGED"

    def __post_init__(self) -> None:
        self.base = self.base or made_up("base", self.number)
        if self.merged:
            self.merged_at = self.merged_at or self.updated_at
            self.merge = self.merge or made_up("merge", self.number)


def made_up(role: str, number: int) -> str:
    """The name of a commit that does not exist: a pull request's `base` or `merge`."""
    return sha1(f"{role} of {number}".encode(), usedforsecurity=False).hexdigest()
