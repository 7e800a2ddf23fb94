"""The world of a double: repositories with their pull requests and issues, made by hand or generated.

Works in memory only; a repository's `clone` is read for diffs (rest.py). Lists are sorted and filtered here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from github_double.clones import changed_files, commit_pulls
from github_double.cursors import Cursors, Position
from github_double.generate import Generator, Outline, Recipe
from github_double.records import File, Issue, Pull, made_up


class World:
    """Repositories by name; an old name leads to its new one."""

    def __init__(self) -> None:
        self.cursors = Cursors()
        self._repositories: dict[str, Repository] = {}
        self._renamed: dict[str, str] = {}

    def repository(self, name: str, clone: Path | None = None, **facts: Any) -> Repository:
        """Add an empty repository. `facts` are stars, pushed_at, language, topics, archived, fork, description."""
        made = self._repositories[name.lower()] = Repository(name, self.cursors, facts, clone=clone)
        return made

    def generate(
        self, name: str, pulls: int, seed: int = 0, clone: Path | None = None, evidence: float = 0.1, **facts: Any
    ) -> Repository:
        """Add a generated repository; with `clone` (a new folder) its merged pull requests are commits there.

        `evidence` is the share of pull requests, and of issues, that mention accessibility themselves.
        """
        generator = Generator(name, seed, evidence)
        made = self._repositories[name.lower()] = Repository(name, self.cursors, facts, generator, clone)
        made.grow(pulls)
        return made

    def rename(self, old: str, new: str) -> None:
        """Move a repository; the old name keeps leading to it."""
        found = self._repositories.pop(old.lower())
        found.name = new
        self._repositories[new.lower()] = found
        self._renamed[old.lower()] = new.lower()

    def find(self, name: str) -> Repository | None:
        """The repository of a name, old or new, in any case."""
        return self._repositories.get(self._renamed.get(name.lower(), name.lower()))


class Repository:
    """One repository: generated content, and what was written or changed by hand over it."""

    def __init__(
        self,
        name: str,
        cursors: Cursors,
        facts: dict[str, Any],
        generator: Generator | None = None,
        clone: Path | None = None,
    ) -> None:
        self.name, self.cursors, self.facts, self.clone = name, cursors, facts, clone
        self._generator = generator
        self._by_hand: dict[int, Pull | Issue] = {}
        self._outlines: dict[int, Outline] = {}
        self._positions: dict[tuple[Any, ...], list[Position]] = {}
        self._commits: dict[str, int] = {}

    def issue(self, number: int, **fields: Any) -> Issue:
        """Add or replace an issue; the fields are those of `records.Issue`."""
        return self._put(Issue(number, **_tuples(fields)))

    def pull(self, number: int, files: Iterable[str | File] = (), **fields: Any) -> Pull:
        """Add or replace a pull request; the fields are those of `records.Pull`, and a file may be just its path.

        With a clone, `base`, `merge` and the files are git's.
        """
        if self.clone and not files:
            files = changed_files(self.clone, fields["base"], fields["merge"])
        changed = tuple(File(file) if isinstance(file, str) else file for file in files)
        return self._put(Pull(number, files=changed, **_tuples(fields)))

    def change(self, number: int, **fields: Any) -> None:
        """Change some fields; the number becomes the last updated one, unless `updated_at` is given."""
        record = self.get(number)
        if record is None:
            raise KeyError(f"{self.name} has no #{number}")
        self._put(replace(record, **{"updated_at": self._next_moment(), **_tuples(fields)}))

    def grow(self, pulls: int) -> None:
        """Add this many generated pull requests, newer than all others, with issues between them."""
        if self._generator is None:
            raise ValueError(f"{self.name} is written by hand: only generated repositories grow")
        before = len(self._generator.outline)
        self._generator.extend(pulls)
        fresh = {number: outline for number, outline in self._generator.outline.items() if number > before}
        self._outlines |= fresh
        self._forget()
        if self.clone:
            commit_pulls(self, [number for number, one in fresh.items() if one[:2] == ("pull", "MERGED")])

    def recipe(self, number: int) -> Recipe:
        """What was put into a generated pull request."""
        if self._generator is None:
            raise ValueError(f"{self.name} is written by hand: it has no recipes")
        return self._generator.recipe(number)

    def get(self, number: int) -> Pull | Issue | None:
        """The pull request or issue of a number."""
        if number in self._by_hand:
            return self._by_hand[number]
        return self._generator.make(number) if self._generator and number in self._outlines else None

    def merged_by(self, commit: str) -> Pull | None:
        """The pull request that a commit merged."""
        if not self._commits:
            by_hand = {one.merge: n for n, one in self._by_hand.items() if isinstance(one, Pull) and one.merge}
            generated = (n for n, outline in self._outlines.items() if outline[:2] == ("pull", "MERGED"))
            self._commits = {made_up("merge", n): n for n in generated if n not in self._by_hand} | by_hand
        number = self._commits.get(commit)
        return self.get(number) if number else None

    def numbers(self, kind: str, states: Sequence[str] = ()) -> list[int]:
        """Numbers of one kind (`pull`, `issue`), in order of creation."""
        return sorted(number for _, number in self.positions(kind, tuple(states)))

    def positions(self, kind: str, states: tuple[str, ...] = (), by: str = "created_at") -> list[Position]:
        """The positions of a connection: (time, number) of everything in one of the states, sorted by time."""
        key = kind, states, by
        if key not in self._positions:
            chosen = (
                (n, outline)
                for n, outline in self._outlines.items()
                if outline.kind == kind and _in(outline.state, states)
            )
            self._positions[key] = sorted((getattr(one, by), number) for number, one in chosen)
        return self._positions[key]

    def _put(self, record: Any) -> Any:
        kind = "pull" if isinstance(record, Pull) else "issue"
        self._by_hand[record.number] = record
        self._outlines[record.number] = Outline(kind, record.state, record.created_at, record.updated_at)
        self._forget()
        return record

    def _forget(self) -> None:
        """Forget what was derived from the outlines."""
        self._positions, self._commits = {}, {}

    def _next_moment(self) -> str:
        newest = max(outline.updated_at for outline in self._outlines.values())
        moment = datetime.strptime(newest, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC) + timedelta(seconds=1)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _in(state: str, states: tuple[str, ...]) -> bool:
    return not states or state in states


def _tuples(fields: dict[str, Any]) -> dict[str, Any]:
    """Lists become tuples, so that a record is not changed behind the world's back."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
