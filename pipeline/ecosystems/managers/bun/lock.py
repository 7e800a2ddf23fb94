"""bun.lock: JSON with a comma behind every last entry, `place: [name@version, registry, {dependencies}, checksum]`.

A place is the way to a package: `a/b` is the `b` that `a` has for itself. Does not cover `bun.lockb`, the binary form.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.core.records import Edit
from pipeline.ecosystems.graph import Graph, asks
from pipeline.ecosystems.locked import Locked, entries

#: a string, or a comma that JSON does not know
_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_TABLES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")


def read(text: str) -> Iterator[Locked]:
    """The packages that it holds, without those of the repository itself. Raises ValueError for what is no JSON."""
    data = _load(text)
    packages, asked = _packages(data), _asked(data)
    for place, (name, version, *_) in packages.items():
        if version.startswith("workspace:"):
            continue
        ranges = asked[place]
        yield Locked(name, version, ranges) if version[:1].isdigit() else Locked(name, "", (version, *ranges))


def graph(text: str, manifests: Mapping[str, Mapping[str, Any]]) -> Graph:
    """Who asks for whom, by place. Raises ValueError for what is no JSON."""
    held = _packages(_load(text))
    packages = {place: Locked(name, version) for place, (name, version, *_) in held.items() if version[:1].isdigit()}

    def found(place: str, name: str) -> tuple[str, ...]:
        there = _place(place, name, held)
        return (there,) if there in packages else ()

    needs = {place: tuple(one for name in _needed(held[place][2]) for one in found(place, name)) for place in packages}
    names = {folder: str(data.get("name", "")) for folder, data in manifests.items()}
    asked = {ask: found(names[ask.folder] if ask.folder else "", ask.name) for ask, _ in asks(manifests)}
    return Graph(packages, needs, asked)


def _needed(info: Mapping[str, Any]) -> Iterator[str]:
    """The names that an install cannot do without."""
    optional = info.get("optionalPeers") or ()
    tables = (info.get(table) for table in ("dependencies", "peerDependencies"))
    return (name for table in tables if isinstance(table, dict) for name in table if name not in optional)


def version(text: str, package: str, wanted: str) -> str:
    """The version of a package at the top, else of any; empty where there is none."""
    try:
        packages = _packages(_load(text))
    except ValueError:
        return ""
    versions = [packages[package][1]] if package in packages else []
    versions += [version for name, version, *_ in packages.values() if name == package]
    return next((version for version in versions if version[:1].isdigit()), "")


def pin(text: str, name: str, old: str, new: str, registry: str) -> str:
    """With `new` in place of each entry of `name` whose version is `old`, or that is asked for by it."""
    try:
        data = _load(text)
    except ValueError:
        return text
    asked = _asked(data)
    for place, (found, version, info, _) in _packages(data).items():
        if found == name and old in (version, *asked[place]):
            data["packages"][place] = [f"{name}@{new}", "", info, ""]
    for table in (table for one in entries(data, "workspaces").values() for table in _wanted(one)):
        if table.get(name) == old:
            table[name] = new
    return json.dumps(data, indent=2) + "\n"


def overrule(
    edit: Edit, manifest: dict[str, Any], files: Mapping[str, bytes], found: bool
) -> Iterator[tuple[str, str]]:
    """Tell bun in the root's package.json of a version that no entry and no manifest held."""
    if not found:
        manifest.setdefault("overrides", {})[edit.name] = edit.new
    yield from ()


def _load(text: str) -> Any:
    return json.loads(_COMMA.sub(lambda match: match[1] or "", text))


def _packages(data: Any) -> dict[str, tuple[str, str, dict[str, Any], str]]:
    """By place: name, version (or address), what it depends on, checksum. What is no entry is not there."""
    held = data.get("packages") if isinstance(data, dict) else None
    found: dict[str, tuple[str, str, dict[str, Any], str]] = {}
    for place, entry in held.items() if isinstance(held, dict) else ():
        if isinstance(entry, list) and entry and isinstance(entry[0], str) and "@" in entry[0][1:]:
            name, _, version = entry[0][1:].partition("@")
            info = next((part for part in entry if isinstance(part, dict)), {})
            checksum = entry[-1] if len(entry) > 1 and isinstance(entry[-1], str) else ""
            found[place] = (entry[0][0] + name, version, info, checksum)
    return found


def _asked(data: Any) -> dict[str, tuple[str, ...]]:
    """By place: the ranges by which the repository's packages and the others ask for what is there."""
    packages = _packages(data)
    wanted = [(name, one) for name, one in (("", one) for one in entries(data, "workspaces").values())]
    wanted += [(place, info) for place, (_, _, info, _) in packages.items()]
    found: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for place, tables in wanted:
        for name, asked in (row for table in _wanted(tables) for row in table.items()):
            there = _place(place, name, packages)
            if isinstance(asked, str) and asked not in found[there]:
                found[there] += (asked,)
    return found


def _wanted(tables: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return (tables[table] for table in _TABLES if isinstance(tables.get(table), dict))


def _place(place: str, name: str, packages: Mapping[str, Any]) -> str:
    """Where a package finds another one: its own, else that of a package on the way, else the one at the top."""
    parts = place.split("/") if place else []
    ways = ("/".join([*parts[:count], name]) for count in range(len(parts), -1, -1))
    return next((way for way in ways if way in packages), name)
