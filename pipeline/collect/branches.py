"""The branches that a history merged: which commits each merge brought in, and what their messages say.

The order of all commits comes from one `git log`, and their messages from one process that reads objects. Reads no
files.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from pipeline.collect.patterns import shipped
from pipeline.collect.references import references
from pipeline.core.git import Clone
from pipeline.core.records import PullRequest

#: the format of a log that only shows how commits follow each other, with their subjects
_LINES = "%H%x00%P%x00%s"
#: the most commits of one branch whose messages are read: its first ones
_MOST = 100
#: what every reference contains, for a quick look at messages
_REFERENCE = re.compile(r"(?:#|gh-|/issues/|/pull/)\d", re.IGNORECASE)


class Message(NamedTuple):
    """The message of a commit: its first paragraph as one line, and the rest."""

    subject: str
    body: str

    @property
    def item(self) -> str:
        """The message as an item of a list, as GitHub writes it into the message of a squash."""
        return f"* {self.subject}\n\n{self.body}".strip()


class Graph:
    """All commits behind a clone's HEAD, newest first: their parents and their subjects. Ends where the clone lacks a
    commit."""

    def __init__(self, clone: Clone) -> None:
        self._clone = clone
        lines = str(clone.git.log(f"--format={_LINES}", with_exceptions=False)).split("\n")
        rows = (line.split("\0") for line in lines if line)
        self.commits = {sha: (parents.split(), subject) for sha, parents, subject in rows}

    def brought(self, line: Collection[str]) -> dict[str, list[str]]:
        """The commits that each merge on a line of history brought in, oldest first, without merges: what neither is on
        the line nor came with an earlier merge."""
        known, branches = set(line), {}
        places = {sha: place for place, sha in enumerate(self.commits)}
        for merge in reversed(self.commits):
            parents, _ = self.commits[merge]
            if merge in line and len(parents) > 1:
                branch, waiting = [], parents[1:]
                while waiting:
                    sha = waiting.pop()
                    if sha in places and sha not in known:
                        known.add(sha)
                        branch.append(sha)
                        waiting += self.commits[sha][0]
                branch.sort(key=places.__getitem__, reverse=True)
                branches[merge] = [sha for sha in branch if len(self.commits[sha][0]) < 2]
        return branches

    def messages(self, branch: list[str]) -> list[Message]:
        """The messages of a branch's commits, as far as the clone has them."""
        found = (self._clone.reader.read(sha) for sha in branch[:_MOST])
        return [_message(commit.data) for commit in found if commit]


def closes(message: Message, pull: PullRequest) -> bool:
    """Whether a commit of a pull request says that it closes an issue. GitHub closes it once the commit is merged."""
    if not _REFERENCE.search("\n".join(message)):
        return False
    found = references(pull.model_copy(update={"title": message.subject, "body": message.body}), shipped())
    return bool(found.closed or found.closed_elsewhere)


def _message(commit: bytes) -> Message:
    text = commit.partition(b"\n\n")[2].decode("utf-8", "replace").strip()
    subject, _, body = re.sub(r"\r\n?", "\n", text).partition("\n\n")
    return Message(" ".join(subject.split("\n")), body.strip())
