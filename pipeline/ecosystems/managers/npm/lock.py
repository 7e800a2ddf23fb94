"""package-lock.json and npm-shrinkwrap.json, in npm's three forms."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pipeline.core.records import Edit
from pipeline.ecosystems.graph import Graph, asks, upwards
from pipeline.ecosystems.locked import Locked, archive, edited_json, entries, is_archive

#: the names on the way to a package; one of the repository's own folders begins with `./`
Place = tuple[str, ...]
_OWN = "./"
#: tables of an entry whose packages are installed with it, optional ones aside
_TABLES = ("dependencies", "peerDependencies")


def read(text: str) -> Iterator[Locked]:
    """The packages that it holds. Raises ValueError for what is no JSON."""
    data = json.loads(text)
    for place, entry in entries(data, "packages").items():
        if "version" in entry and "node_modules/" in place:
            yield Locked(_name_of(place), entry["version"], tuple(filter(None, [entry.get("resolved")])))
    for name, entry in _npm_1(data):
        yield Locked(name, entry.get("version", ""), tuple(filter(None, [entry.get("resolved"), entry.get("from")])))


def graph(text: str, manifests: Mapping[str, Mapping[str, Any]]) -> Graph:
    """Who asks for whom: a package is found as Node finds it, in the nearest node_modules above. Raises ValueError."""
    data = json.loads(text)
    held: dict[Place, tuple[dict[str, Any], tuple[str, ...]]] = {
        _place(path): (entry, _TABLES) for path, entry in entries(data, "packages").items()
    }
    places = held or {place: (entry, ("requires",)) for place, entry in _nested(data, ())}

    def found(place: Place, name: str) -> tuple[str, ...]:
        at = upwards(place, name, places.__contains__)
        return (_key(at),) if at and not places[at][0].get("link") else ()

    packages, needs = dict[str, Locked](), dict[str, tuple[str, ...]]()
    for place, (entry, tables) in places.items():
        if place and not place[-1].startswith(_OWN) and isinstance(entry.get("version"), str):
            packages[_key(place)] = Locked(str(entry.get("name") or place[-1]), _fetched(entry))
            needs[_key(place)] = tuple(one for name in _wanted(entry, tables) for one in found(place, name))
    asked = {ask: found((_OWN + ask.folder,) if ask.folder else (), ask.name) for ask, _ in asks(manifests)}
    return Graph(packages, needs, asked)


def version(text: str, package: str, wanted: str) -> str:
    """The version of a package at the top; empty where there is none."""
    try:
        data = json.loads(text)
    except ValueError:
        return ""
    found = entries(data, "packages").get(f"node_modules/{package}") or entries(data, "dependencies").get(package)
    return str(found.get("version", "")) if found else ""


def pin(text: str, name: str, old: str, new: str, registry: str) -> str:
    """With `new` in place of each entry of `name` whose version or address is `old`; it loses its checksum."""
    return edited_json(text, lambda data: _pin(data, name, old, new, registry))


def overrule(
    edit: Edit, manifest: dict[str, Any], files: Mapping[str, bytes], found: bool
) -> Iterator[tuple[str, str]]:
    """Tell npm in the root's package.json of a version that no entry and no manifest held."""
    if not found:
        manifest.setdefault("overrides", {})[edit.name] = edit.new
    yield from ()


def _npm_1(data: Any) -> Iterator[tuple[str, Any]]:
    """npm's first form: dependencies in dependencies."""
    for name, entry in entries(data, "dependencies").items():
        yield name, entry
        yield from _npm_1(entry)


def _nested(data: Any, place: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The entries of npm's first form by the names on the way to them."""
    for name, entry in entries(data, "dependencies").items():
        yield (*place, name), entry
        yield from _nested(entry, (*place, name))


def _place(path: str) -> Place:
    """`a/node_modules/b/node_modules/c` as `./a`, `b`, `c`: the repository's own folders are told from packages."""
    own, *names = path.split("node_modules/")
    return tuple(filter(None, (own and _OWN + own.rstrip("/"), *(name.rstrip("/") for name in names))))


def _key(place: Place) -> str:
    return " > ".join(place)


def _fetched(entry: Mapping[str, Any]) -> str:
    """The version that the registry is asked for; empty for what comes from elsewhere, or within another package."""
    address = entry.get("resolved") or ""
    elsewhere = isinstance(address, str) and address and not is_archive(address)
    return "" if elsewhere or entry.get("inBundle") or entry.get("bundled") else str(entry["version"])


def _wanted(entry: Mapping[str, Any], tables: Iterable[str]) -> Iterator[str]:
    """The names of what an entry depends on and cannot do without."""
    optional = {name for name, one in entries(entry, "peerDependenciesMeta").items() if one.get("optional")}
    for table in tables:
        wanted = entry.get(table)
        yield from (name for name in wanted if name not in optional) if isinstance(wanted, dict) else ()


def _pin(data: Any, name: str, old: str, new: str, registry: str) -> None:
    packages = [(_name_of(place), entry) for place, entry in entries(data, "packages").items() if place]
    for found, entry in (*packages, *_npm_1(data)):
        known = (entry.get("version"), entry.get("resolved"), entry.get("from"))
        if found == name and old in known:
            entry.update(version=new, resolved=archive(name, new, registry))
            entry.pop("integrity", None)
            entry.pop("from", None)


def _name_of(place: str) -> str:
    return place.rpartition("node_modules/")[2]
