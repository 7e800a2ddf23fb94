"""What remedies look at: the manifests and lock files as they would be installed, and what the registry has.

`Situation.after` gives the situation after an environment's edits. Asks the registry only through `releases` and
`look_up`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from pipeline.build.infer import Tree, focus
from pipeline.build.infer.tree import Manifest, Unsupported
from pipeline.core.records import Edit, Environment
from pipeline.ecosystems import edits, locks
from pipeline.ecosystems.graph import Ask, Graph
from pipeline.ecosystems.registry import LookUp, elsewhere


def _no_lookup(packages: Iterable[locks.Locked]) -> LookUp:
    return LookUp()


@dataclass(frozen=True)
class Situation:
    """What remedies look at: the manifests as they would be installed, and the versions that the registry has.

    `look_up` says which locked versions are gone, `tests` are the touched test files, `day` is the commit's date (ISO).
    """

    files: Mapping[str, bytes]
    releases: Callable[[str], list[str]]
    look_up: Callable[[Iterable[locks.Locked]], LookUp] = _no_lookup
    tests: tuple[str, ...] = ()
    day: str = ""
    _after: dict[tuple[Edit, ...], Situation] = field(init=False, default_factory=dict, compare=False, repr=False)

    def after(self, environment: Environment) -> Situation:
        """The situation after the edits of an environment. Each step is kept, since there may be many edits."""
        return self._edited(environment.edits)

    def _edited(self, changes: tuple[Edit, ...]) -> Situation:
        if not changes:
            return self
        if changes not in self._after:
            before = self._edited(changes[:-1])
            files = edits.apply(changes[-1:], before.files, lambda: "https://registry/")
            self._after[changes] = replace(before, files=files)
        return self._after[changes]

    def members(self) -> dict[str, Manifest]:
        """The packages of the workspace by folder, with the root; empty if the root's manifest cannot be read."""
        tree = Tree(self.files, lambda path: self.files[path].decode(errors="replace"))
        try:
            return focus.members(tree)
        except Unsupported:
            return {}

    def graph(self, members: Mapping[str, Manifest]) -> Graph:
        """The dependency graph of the lock file at the root, for these packages of the workspace."""
        path = next((path for path in sorted(self.files) if "/" not in path and locks.is_lock(path)), "")
        text = self.files[path].decode(errors="replace") if path else ""
        return locks.graph(path, text, {folder: manifest.data for folder, manifest in members.items()})

    def places(self, environment: Environment) -> Iterator[Place]:
        """The root, and the folders that have a lock file of their own."""
        yield Place("", self, environment.focus)
        yield from (Place(nested.folder, self._inside(f"{nested.folder}/"), ()) for nested in environment.nested)

    def _inside(self, start: str) -> Situation:
        """The situation of a folder, with paths from there."""
        files = {path.removeprefix(start): text for path, text in self.files.items() if path.startswith(start)}
        tests = tuple(test.removeprefix(start) for test in self.tests if test.startswith(start))
        return replace(self, files=files, tests=tests)

    def fetched(self, environment: Environment) -> list[locks.Locked]:
        """The locked packages that an install fetches from the registry and cannot do without."""
        return [package for place in self.places(environment) for package in place.situation._fetched(place.focus)]

    def _fetched(self, packages: Collection[str]) -> list[locks.Locked]:
        graph = self.graph(focus.installed(self.members(), packages))
        is_elsewhere = elsewhere(self.files)
        return [package for package in graph.reached(graph.requested) if not is_elsewhere(package.name)]

    def chains(self, environment: Environment, name: str, version: str = "") -> Iterator[Chain]:
        """What leads to a package in the lock files of an environment's installs."""
        for place in self.places(environment):
            members = place.situation.members()
            needed = place.situation.needed(members, place.focus)
            for ask, path in sorted(place.situation.graph(members).chains(name, version).items()):
                folder = posixpath.join(place.folder, ask.folder).rstrip("/")
                yield Chain(ask._replace(folder=folder), path, ask.folder in needed)

    def needed(self, members: Mapping[str, Manifest], packages: Collection[str]) -> set[str]:
        """The folders of the packages that the tests need: all that are installed, if the touched tests do not tell."""
        chosen = focus.installed(dict(members), packages)
        touched = focus.touched(dict(members), self.tests)
        return focus.needed(dict(members), touched) if touched else set(chosen)

    def locked(self) -> Iterator[locks.Locked]:
        """Every package of every lock file."""
        for path in filter(locks.is_lock, self.files):
            yield from locks.locked(path, self.files[path].decode(errors="replace"))

    def requested(self) -> Iterator[tuple[str, str, str]]:
        """What the package.json files ask for: table, name, and version, range or address."""
        for _, data in edits.packages(self.files):
            for table, requests in edits.dependency_tables(data):
                yield from ((table, name, version) for name, version in requests.items() if isinstance(version, str))

    def has(self, name: str, version: str = "") -> bool:
        """Whether a package is requested or locked, in this version or by this range if one is given."""
        requested = ((package, (wanted,)) for _, package, wanted in self.requested())
        locked = ((package.name, (package.version, *package.requested)) for package in self.locked())
        known = (texts for package, texts in (*requested, *locked) if package == name)
        return any(not version or version in texts for texts in known)


class Place(NamedTuple):
    """A folder with a lock file, its situation with paths from there, and its packages that are installed (all, if
    there are none)."""

    folder: str
    situation: Situation
    focus: tuple[str, ...]


class Chain(NamedTuple):
    """A request of a manifest, the names on the shortest path from it to a package, and whether the tests need the
    manifest's package."""

    ask: Ask
    path: tuple[str, ...]
    is_needed: bool
