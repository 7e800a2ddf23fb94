"""package-lock.json and npm-shrinkwrap.json, in npm's three forms."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.core.records import Edit
from pipeline.ecosystems.locked import Locked, archive, edited_json, entries


def read(text: str) -> Iterator[Locked]:
    """The packages that it holds. Raises ValueError for what is no JSON."""
    data = json.loads(text)
    for place, entry in entries(data, "packages").items():
        if "version" in entry and "node_modules/" in place:
            yield Locked(_name_of(place), entry["version"], tuple(filter(None, [entry.get("resolved")])))
    for name, entry in _npm_1(data):
        yield Locked(name, entry.get("version", ""), tuple(filter(None, [entry.get("resolved"), entry.get("from")])))


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
