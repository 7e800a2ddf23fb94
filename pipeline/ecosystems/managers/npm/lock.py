"""package-lock.json and npm-shrinkwrap.json, in npm's three forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pipeline.core.records import Edit
from pipeline.core.texts import parse_json
from pipeline.ecosystems.graph import Graph, asks, upwards
from pipeline.ecosystems.locked import Locked, archive, edited_json, entries, is_archive, table_in

#: the names on the path to a package; a folder of the repository begins with `./`
Location = tuple[str, ...]
_OWN = "./"
#: tables of an entry whose packages are installed with it, apart from optional ones
_TABLES = ("dependencies", "peerDependencies")


def read(text: str) -> Iterator[Locked]:
    """The packages that it holds. Raises ValueError for invalid JSON."""
    data = parse_json(text)
    for path, entry in entries(data, "packages").items():
        version = entry.get("version")
        if isinstance(version, str) and "node_modules/" in path:
            name, own = _name_of(path), entry.get("name")
            source = own if isinstance(own, str) and own != name else ""
            yield Locked(name, version, _texts(entry.get("resolved")), source)
    for name, entry in _npm_1(data):
        version, requested = str(entry.get("version", "")), (entry.get("resolved"), entry.get("from"))
        source, _, aliased = (
            version.removeprefix("npm:").rpartition("@") if version.startswith("npm:") else ("", "", "")
        )
        yield Locked(name, aliased or version, _texts(*requested), source)


def graph(text: str, manifests: Mapping[str, Mapping[str, Any]]) -> Graph:
    """The dependency graph. A package is resolved as by Node, in the nearest node_modules above. Raises ValueError."""
    data = parse_json(text)
    current_form: dict[Location, tuple[dict[str, Any], tuple[str, ...]]] = {
        _location(path): (entry, _TABLES) for path, entry in entries(data, "packages").items()
    }
    by_location = current_form or {location: (entry, ("requires",)) for location, entry in _nested(data, ())}

    def resolved(location: Location, name: str) -> tuple[str, ...]:
        target = upwards(location, name, by_location.__contains__)
        return (_key(target),) if target and not by_location[target][0].get("link") else ()

    packages, needs = dict[str, Locked](), dict[str, tuple[str, ...]]()
    for location, (entry, tables) in by_location.items():
        if location and not location[-1].startswith(_OWN) and isinstance(entry.get("version"), str):
            packages[_key(location)] = Locked(str(entry.get("name") or location[-1]), _fetched(entry))
            required = _required(entry, tables)
            needs[_key(location)] = tuple(key for name in required for key in resolved(location, name))
    requested = {ask: resolved((_OWN + ask.folder,) if ask.folder else (), ask.name) for ask, _ in asks(manifests)}
    return Graph(packages, needs, requested)


def version(text: str, package: str, wanted: str) -> str:
    """The version of a package at the top level; empty if there is none."""
    try:
        data = parse_json(text)
    except ValueError:
        return ""
    entry = entries(data, "packages").get(f"node_modules/{package}") or entries(data, "dependencies").get(package)
    return str(entry.get("version", "")) if entry else ""


def pin(text: str, name: str, old: str, new: str, registry: str) -> str:
    """With `new` in place of each entry of `name` whose version or address is `old`, without its checksum."""
    return edited_json(text, lambda data: _pin(data, name, old, new, registry))


def overrule(
    edit: Edit, manifest: dict[str, Any], files: Mapping[str, bytes], found: bool
) -> Iterator[tuple[str, str]]:
    """Override a version in the root's package.json if neither an entry nor a manifest has it."""
    if not found:
        table_in(manifest, "overrides")[edit.name] = edit.new
    yield from ()


def _texts(*values: Any) -> tuple[str, ...]:
    """The values that are texts, and not empty."""
    return tuple(value for value in values if value and isinstance(value, str))


def _npm_1(data: Any) -> Iterator[tuple[str, Any]]:
    """The entries of npm's first form, which nests dependencies."""
    for name, entry in entries(data, "dependencies").items():
        yield name, entry
        yield from _npm_1(entry)


def _nested(data: Any, location: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The entries of npm's first form by the names on the path to them."""
    for name, entry in entries(data, "dependencies").items():
        yield (*location, name), entry
        yield from _nested(entry, (*location, name))


def _location(path: str) -> Location:
    """`a/node_modules/b/node_modules/c` as `./a`, `b`, `c`, where `./` marks a folder of the repository."""
    folder, *names = path.split("node_modules/")
    return tuple(filter(None, (folder and _OWN + folder.rstrip("/"), *(name.rstrip("/") for name in names))))


def _key(location: Location) -> str:
    return " > ".join(location)


def _fetched(entry: Mapping[str, Any]) -> str:
    """The version requested from the registry; empty for a package from elsewhere, or bundled in another package."""
    address = entry.get("resolved") or ""
    elsewhere = isinstance(address, str) and address and not is_archive(address)
    return "" if elsewhere or entry.get("inBundle") or entry.get("bundled") else str(entry["version"])


def _required(entry: Mapping[str, Any], tables: Iterable[str]) -> Iterator[str]:
    """The names of an entry's required dependencies."""
    optional = {name for name, meta in entries(entry, "peerDependenciesMeta").items() if meta.get("optional")}
    for table in tables:
        dependencies = entry.get(table)
        yield from (name for name in dependencies if name not in optional) if isinstance(dependencies, dict) else ()


def _pin(data: Any, name: str, old: str, new: str, registry: str) -> None:
    packages = [(_name_of(path), entry) for path, entry in entries(data, "packages").items() if path]
    for entry_name, entry in (*packages, *_npm_1(data)):
        versions = (entry.get("version"), entry.get("resolved"), entry.get("from"))
        if entry_name == name and old in versions:
            entry.update(version=new, resolved=archive(name, new, registry))
            entry.pop("integrity", None)
            entry.pop("from", None)


def _name_of(path: str) -> str:
    return path.rpartition("node_modules/")[2]
