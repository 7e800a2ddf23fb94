"""Who asks for whom: the packages of a lock file as a graph, and what the repository's manifests ask for in it.

The readers of lock files make it (`managers/*/lock.py`). Pure; edges to optional packages are left out, since an
install goes on without them, and so are packages of the repository itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pipeline.ecosystems.locked import Locked

#: tables of a package.json whose packages an install cannot do without
TABLES = ("dependencies", "devDependencies")


class Ask(NamedTuple):
    """A package that a package.json of the repository asks for: the folder of it, the table, the name."""

    folder: str
    table: str
    name: str


@dataclass(frozen=True)
class Graph:
    """`packages` and `needs` by the lock file's own keys; `asked` are the keys that the manifests' words stand for."""

    packages: Mapping[str, Locked]
    needs: Mapping[str, tuple[str, ...]]
    asked: Mapping[Ask, tuple[str, ...]]

    def reached(self, asks: Iterable[Ask]) -> list[Locked]:
        """The packages that an install of these fetches."""
        found = _closure([key for ask in asks for key in self.asked[ask]], self.needs)
        return [self.packages[key] for key in sorted(found) if key in self.packages]

    def chains(self, name: str, version: str = "") -> dict[Ask, tuple[str, ...]]:
        """What asks for a package, directly or not, each with the names on its way to it: the shortest one."""
        ends = [key for key, one in self.packages.items() if one.name == name and version in ("", one.version)]
        ways = _ways(ends, self._asking())
        found: dict[Ask, tuple[str, ...]] = {}
        for ask, keys in self.asked.items():
            if reaching := [ways[key] for key in keys if key in ways]:
                found[ask] = tuple(self.packages[key].name for key in min(reaching, key=len))
        return found

    def _asking(self) -> dict[str, list[str]]:
        asking = defaultdict[str, list[str]](list)
        for key, needed in self.needs.items():
            for one in needed:
                asking[one].append(key)
        return asking


def asks(manifests: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[Ask, str]]:
    """What the manifests, by folder, ask for and cannot do without, each with its version, range or address."""
    for folder, data in manifests.items():
        for table in TABLES:
            wanted = data.get(table)
            for name, version in wanted.items() if isinstance(wanted, dict) else ():
                if isinstance(version, str):
                    yield Ask(folder, table, name), version


def upwards(place: tuple[str, ...], name: str, there: Callable[[tuple[str, ...]], bool]) -> tuple[str, ...] | None:
    """Where Node finds a package that is asked for in a place: the nearest folder of packages above it that has it."""
    for depth in range(len(place), -1, -1):
        if there(found := (*place[:depth], name)):
            return found
    return None


def _closure(keys: Iterable[str], needs: Mapping[str, tuple[str, ...]]) -> set[str]:
    found, waiting = set[str](), list(keys)
    while waiting:
        if (key := waiting.pop()) not in found:
            found.add(key)
            waiting += needs.get(key, ())
    return found


def _ways(ends: Iterable[str], asking: Mapping[str, list[str]]) -> dict[str, tuple[str, ...]]:
    """The shortest way to one of the ends, from every key that has one."""
    ways: dict[str, tuple[str, ...]] = {key: (key,) for key in ends}
    waiting = list(ways)
    for key in waiting:
        for before in asking.get(key, ()):
            if before not in ways:
                ways[before] = (before, *ways[key])
                waiting.append(before)
    return ways
