"""bun.lock: JSON with trailing commas, `location: [name@version, registry, {dependencies}, checksum]`.

A location is the path to a package: `a/b` is the `b` that only `a` uses. Does not cover `bun.lockb`, the binary form.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.core.records import Edit
from pipeline.core.texts import parse_json
from pipeline.ecosystems.graph import Graph, asks
from pipeline.ecosystems.locked import Locked, entries, table_in

#: a string, or a trailing comma, which JSON does not allow
_COMMA = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
#: the last name of a location
_LAST = re.compile(r"(?:@[^/]+/)?[^/]+$")
_TABLES = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")


def read(text: str) -> Iterator[Locked]:
    """The packages that it holds, without those of the repository itself. Raises ValueError for invalid JSON."""
    data = _load(text)
    packages, requested = _packages(data), _requests(data)
    for location, (name, version, *_) in packages.items():
        if version.startswith("workspace:"):
            continue
        ranges = requested[location]
        alias = last[0] if (last := _LAST.search(location)) else name
        package = Locked(alias, version, ranges, name if alias != name else "")
        yield package if version[:1].isdigit() else package._replace(version="", requested=(version, *ranges))


def graph(text: str, manifests: Mapping[str, Mapping[str, Any]]) -> Graph:
    """The dependency graph, by location. Raises ValueError for invalid JSON."""
    locked = _packages(_load(text))
    released = {location: entry for location, entry in locked.items() if entry[1][:1].isdigit()}
    packages = {location: Locked(name, version) for location, (name, version, *_) in released.items()}

    def resolved(location: str, name: str) -> tuple[str, ...]:
        target = _resolve(location, name, locked)
        return (target,) if target in packages else ()

    needs = {
        location: tuple(key for name in _required(info) for key in resolved(location, name))
        for location, (_, _, info, _) in released.items()
    }
    names = {folder: str(data.get("name", "")) for folder, data in manifests.items()}
    requested = {ask: resolved(names[ask.folder] if ask.folder else "", ask.name) for ask, _ in asks(manifests)}
    return Graph(packages, needs, requested)


def _required(info: Mapping[str, Any]) -> Iterator[str]:
    """The names of dependencies that an install requires."""
    optional = info.get("optionalPeers") or ()
    tables = (info.get(table) for table in ("dependencies", "peerDependencies"))
    return (name for table in tables if isinstance(table, dict) for name in table if name not in optional)


def version(text: str, package: str, wanted: str) -> str:
    """The version of a package at the top level, else of any; empty if there is none."""
    try:
        packages = _packages(_load(text))
    except ValueError:
        return ""
    versions = [packages[package][1]] if package in packages else []
    versions += [version for name, version, *_ in packages.values() if name == package]
    return next((version for version in versions if version[:1].isdigit()), "")


def pin(text: str, name: str, old: str, new: str, registry: str) -> str:
    """With `new` in place of each entry of `name` whose version is `old`, or that is requested by it."""
    try:
        data = _load(text)
    except ValueError:
        return text
    requested = _requests(data)
    for location, (entry_name, version, info, _) in _packages(data).items():
        if entry_name == name and old in (version, *requested[location]):
            data["packages"][location] = [f"{name}@{new}", "", info, ""]
    for workspace in entries(data, "workspaces").values():
        for table in _dependency_tables(workspace):
            if table.get(name) == old:
                table[name] = new
    return json.dumps(data, indent=2) + "\n"


def overrule(
    edit: Edit, manifest: dict[str, Any], files: Mapping[str, bytes], found: bool
) -> Iterator[tuple[str, str]]:
    """Override a version in the root's package.json if neither an entry nor a manifest has it."""
    if not found:
        table_in(manifest, "overrides")[edit.name] = edit.new
    yield from ()


def _load(text: str) -> Any:
    return parse_json(_COMMA.sub(lambda match: match[1] or "", text))


def _packages(data: Any) -> dict[str, tuple[str, str, dict[str, Any], str]]:
    """By location: name, version (or address), dependencies, checksum. Invalid entries are left out."""
    table = data.get("packages") if isinstance(data, dict) else None
    packages: dict[str, tuple[str, str, dict[str, Any], str]] = {}
    for location, entry in table.items() if isinstance(table, dict) else ():
        if isinstance(entry, list) and entry and isinstance(entry[0], str) and "@" in entry[0][1:]:
            name, _, version = entry[0][1:].partition("@")
            info = next((part for part in entry if isinstance(part, dict)), {})
            checksum = entry[-1] if len(entry) > 1 and isinstance(entry[-1], str) else ""
            packages[location] = (entry[0][0] + name, version, info, checksum)
    return packages


def _requests(data: Any) -> dict[str, tuple[str, ...]]:
    """By location: the ranges by which packages, including the repository's own, request the package there."""
    packages = _packages(data)
    requesters = [("", workspace) for workspace in entries(data, "workspaces").values()]
    requesters += [(location, info) for location, (_, _, info, _) in packages.items()]
    requests: dict[str, tuple[str, ...]] = defaultdict(tuple)
    for location, tables in requesters:
        for name, requested in (row for table in _dependency_tables(tables) for row in table.items()):
            target = _resolve(location, name, packages)
            if isinstance(requested, str) and requested not in requests[target]:
                requests[target] += (requested,)
    return requests


def _dependency_tables(tables: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    return (tables[table] for table in _TABLES if isinstance(tables.get(table), dict))


def _resolve(location: str, name: str, packages: Mapping[str, Any]) -> str:
    """The location at which a package finds another one: the nearest one above it, else the top level."""
    parts = location.split("/") if location else []
    candidates = ("/".join([*parts[:count], name]) for count in range(len(parts), -1, -1))
    return next((candidate for candidate in candidates if candidate in packages), name)
