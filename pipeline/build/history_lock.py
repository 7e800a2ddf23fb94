"""What the repository's own history says about versions: the lock file that is nearest in time to an old commit.

Without a lock file, a manager installs the newest versions that the manifests allow. If the registry does not know
which of them existed on the day of the commit, these are today's, and may no longer work together. Many repositories
added a lock file later, with versions of that time. Reads the clone. Does not cover lock files outside the root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from pipeline.core.git import Clone, show, writers
from pipeline.core.records import Edit
from pipeline.ecosystems import locks, versions
from pipeline.ecosystems.manager_folder import all_managers


@dataclass(frozen=True)
class HistoryLock:
    """A lock file of another commit: its path, its text, and the commit with its date (ISO)."""

    path: str
    text: str
    commit: str
    day: str

    def version(self, name: str, wanted: str) -> str:
        """The version of a package that it locks for a range, or else the newest within it; empty if there is none."""
        same = locks.version(self.path, self.text, name, wanted)
        locked = [package.version for package in self.locked if package.package == name == package.name]
        fits = [version for version in (same, *locked) if versions.satisfies(version, wanted)]
        return same if same in fits else max(fits, key=versions.order, default="")

    @cached_property
    def locked(self) -> list[locks.Locked]:
        return locks.locked(self.path, self.text)


def nearest(clone: Clone, day: str) -> HistoryLock | None:
    """The lock file in the root that a commit wrote at the time nearest to a day (ISO, or empty if it is unknown); None
    if no commit wrote one."""
    names = [name for manager in all_managers().values() for name in manager.locks]
    written = writers(clone, names) if day else []
    if not written:
        return None
    commit, then = min(written, key=lambda row: (_days(row[1], day), row))
    texts = ((name, show(clone, commit, name)) for name in names)
    return next((HistoryLock(name, text, commit, then) for name, text in texts if text), None)


def pins(lock: HistoryLock, requested: Iterable[tuple[str, str]]) -> Iterator[Edit]:
    """The edits that give packages, with the ranges by which they are requested, the versions of a lock file."""
    for name, wanted in sorted(set(requested)):
        version = lock.version(name, wanted)
        if version and version != wanted:
            yield Edit(kind="pin", name=name, old=wanted, new=version)


def _days(one: str, other: str) -> int:
    """The days between two dates."""
    return abs((date.fromisoformat(one) - date.fromisoformat(other)).days)
