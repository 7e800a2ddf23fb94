"""The dependency graph: the packages of a lock file, and which of them the repository's manifests request.

It is made by the readers of lock files (`managers/*/lock.py`). Pure. Optional dependencies are left out, since an
install continues without them, and so are packages of the repository itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pipeline.ecosystems.locked import Locked

#: tables of a package.json with packages that an install requires
TABLES = ("dependencies", "devDependencies")


class Ask(NamedTuple):
    """A package that a package.json of the repository requests: the folder of the file, the table, the name."""

    folder: str
    table: str
    name: str


@dataclass(frozen=True)
class Graph:
    """`packages` and their dependencies (`needs`) by the lock file's keys; `requested` has the manifests' requests with
    the keys that fulfil them."""

    packages: Mapping[str, Locked]
    needs: Mapping[str, tuple[str, ...]]
    requested: Mapping[Ask, tuple[str, ...]]

    def reached(self, asks: Iterable[Ask]) -> list[Locked]:
        """The packages that an install of these requests fetches."""
        reachable = _closure([key for ask in asks for key in self.requested[ask]], self.needs)
        return [self.packages[key] for key in sorted(reachable) if key in self.packages]

    def chains(self, name: str, version: str = "") -> dict[Ask, tuple[str, ...]]:
        """The requests that lead to a package, directly or not, each with the names on the shortest path to it."""
        matching = {key: package for key, package in self.packages.items() if package.name == name}
        ends = [key for key, package in matching.items() if version in ("", package.version)]
        paths = _shortest_paths(ends, self._dependents())
        result: dict[Ask, tuple[str, ...]] = {}
        for ask, keys in self.requested.items():
            if candidates := [paths[key] for key in keys if key in paths]:
                result[ask] = tuple(self.packages[key].name for key in min(candidates, key=len))
        return result

    def _dependents(self) -> dict[str, list[str]]:
        dependents = defaultdict[str, list[str]](list)
        for key, dependencies in self.needs.items():
            for dependency in dependencies:
                dependents[dependency].append(key)
        return dependents


def asks(manifests: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[Ask, str]]:
    """The packages that the manifests (by folder) request and require, each with its version, range or address."""
    for folder, data in manifests.items():
        for table in TABLES:
            packages = data.get(table)
            for name, version in packages.items() if isinstance(packages, dict) else ():
                if isinstance(version, str):
                    yield Ask(folder, table, name), version


def upwards(location: tuple[str, ...], name: str, exists: Callable[[tuple[str, ...]], bool]) -> tuple[str, ...] | None:
    """The location at which Node finds a package that `location` imports: in the nearest node_modules folder above
    it."""
    for depth in range(len(location), -1, -1):
        if exists(candidate := (*location[:depth], name)):
            return candidate
    return None


def _closure(keys: Iterable[str], needs: Mapping[str, tuple[str, ...]]) -> set[str]:
    reachable, waiting = set[str](), list(keys)
    while waiting:
        if (key := waiting.pop()) not in reachable:
            reachable.add(key)
            waiting += needs.get(key, ())
    return reachable


def _shortest_paths(ends: Iterable[str], dependents: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """The shortest path to one of the ends, for every key that has a path."""
    paths: dict[str, tuple[str, ...]] = {key: (key,) for key in ends}
    waiting = list(paths)
    for key in waiting:
        for dependent in dependents.get(key, ()):
            if dependent not in paths:
                paths[dependent] = (dependent, *paths[key])
                waiting.append(dependent)
    return paths
