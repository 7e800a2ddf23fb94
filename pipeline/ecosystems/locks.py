"""What lock files say, in the four forms that there are, and how a single entry of them is changed.

Pure functions on texts; an entry is known by the package's name and its version, or the address in its place. Does not
cover pnpm's entries, which name each other: pnpm is told by `overrides`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

#: a block of yarn's lock files: `name@range, name@range:` and the indented lines below it
_BLOCK = re.compile(r"^(?P<header>\S[^\n]*@[^\n]*):\n(?P<body>(?:[ \t][^\n]*(?:\n|\Z))+)", re.MULTILINE)
_VERSION = re.compile(r"^  version:? \"?([^\"\n]+)\"?$", re.MULTILINE)
#: pnpm's keys: `/name@1.0.0:`, `name@1.0.0:`, `/name/1.0.0:`, each with what it is resolved by behind it
_PNPM_KEY = re.compile(r"^  '?/?((?:@[^/\s]+/)?[^@/\s']+)[@/]([^:('\s]+)[^:\n]*:$", re.MULTILINE)
#: an address of a registry's archive, in each registry's own way of writing it
_ARCHIVE = (
    r"((?:@[^/\s\"']+(?:/|%2[fF]))?[^/\s\"']+)/(?:-|download)/(?:@[^/\s\"']+/)?([^/\s\"'?#,}}]+)(?:\?[^\s\"'#]*)?"
)


class Locked(NamedTuple):
    """A package as it is locked: its version, and the ranges or addresses by which it is asked for."""

    name: str
    version: str
    asked: tuple[str, ...] = ()


def is_lock(path: str) -> bool:
    """Whether a path is a lock file of a known form."""
    return path.rpartition("/")[2] in _READERS


def locked(path: str, text: str) -> list[Locked]:
    """The packages that a lock file holds; none when it is not a lock file, or one that nobody can read."""
    reader = _READERS.get(path.rpartition("/")[2])
    try:
        return list(reader(text)) if reader else []
    except ValueError:
        return []


def pin(path: str, text: str, name: str, old: str, new: str, registry: str) -> str:
    """The lock file with `new` in place of each entry of `name` whose version is `old`, or that is asked for by it.

    The entry keeps its dependencies, and loses its checksum.
    """
    file = path.rpartition("/")[2]
    if file == "yarn.lock":
        return _BLOCK.sub(lambda block: _pin_block(block, name, old, new, registry), text)
    if file in _NPM_FILES:
        return _edited_json(text, lambda data: _pin_npm(data, name, old, new, registry))
    return text


def rehost(text: str, host: str, registry: str) -> str:
    """The lock file with its archives at `registry` in place of the registry `host`."""
    archive = re.compile(rf"https?://{re.escape(host)}/(?:[^\s\"']*?/)??{_ARCHIVE}")
    return archive.sub(lambda match: f"{registry}{match[1]}/-/{match[2]}", text)


def archive(name: str, version: str, registry: str) -> str:
    """The address of a version in a registry."""
    return f"{registry}{name}/-/{name.rpartition('/')[2]}-{version}.tgz"


def _entry(block: re.Match[str]) -> Locked | None:
    version = _VERSION.search(block["body"])
    asked = [one.strip() for one in block["header"].replace('"', "").split(",")]
    at = asked[0].find("@", 1)
    if not version or at < 0:
        return None
    ranges = (one[at + 1 :].removeprefix("npm:") for one in asked if one.startswith(asked[0][: at + 1]))
    return Locked(asked[0][:at], version[1], tuple(ranges))


def _yarn(text: str) -> Iterator[Locked]:
    return (entry for block in _BLOCK.finditer(text) if (entry := _entry(block)))


def _npm(text: str) -> Iterator[Locked]:
    data = json.loads(text)
    for place, entry in data.get("packages", {}).items():
        if "version" in entry and "node_modules/" in place:
            yield Locked(_name_of(place), entry["version"], tuple(filter(None, [entry.get("resolved")])))
    for name, entry in _npm_1(data):
        yield Locked(name, entry.get("version", ""), tuple(filter(None, [entry.get("resolved"), entry.get("from")])))


def _npm_1(data: Any) -> Iterator[tuple[str, Any]]:
    """npm's first form: dependencies in dependencies."""
    for name, entry in data.get("dependencies", {}).items():
        if isinstance(entry, dict):
            yield name, entry
            yield from _npm_1(entry)


def _pnpm(text: str) -> Iterator[Locked]:
    return (Locked(match[1], match[2]) for match in _PNPM_KEY.finditer(text))


_NPM_FILES = ("package-lock.json", "npm-shrinkwrap.json")
_READERS: dict[str, Callable[[str], Iterator[Locked]]] = {
    "yarn.lock": _yarn,
    "pnpm-lock.yaml": _pnpm,
    **dict.fromkeys(_NPM_FILES, _npm),
}


def _pin_block(block: re.Match[str], name: str, old: str, new: str, registry: str) -> str:
    entry = _entry(block)
    if not entry or entry.name != name or old not in (entry.version, *entry.asked):
        return block[0]
    body = re.sub(r"^  (?:integrity|checksum)\b.*\n", "", block["body"], flags=re.MULTILINE)
    body = _VERSION.sub(lambda line: line[0].replace(entry.version, new), body, count=1)
    body = re.sub(r"^  resolved .*$", f'  resolved "{archive(name, new, registry)}"', body, flags=re.MULTILINE)
    body, berry = re.subn(r"^  resolution: .*$", f'  resolution: "{name}@npm:{new}"', body, flags=re.MULTILINE)
    header = block["header"]
    if old in entry.asked and new not in entry.asked:
        # what asked for exactly the old one now asks for the new one, in the manifest
        header = f'"{name}@npm:{new}, {header[1:]}' if berry else f'"{name}@{new}", {header}'
    return f"{header}:\n{body}"


def _pin_npm(data: Any, name: str, old: str, new: str, registry: str) -> None:
    packages = [(_name_of(place), entry) for place, entry in data.get("packages", {}).items() if place]
    for found, entry in (*packages, *_npm_1(data)):
        known = (entry.get("version"), entry.get("resolved"), entry.get("from"))
        if found == name and old in known:
            entry.update(version=new, resolved=archive(name, new, registry))
            entry.pop("integrity", None)
            entry.pop("from", None)


def _name_of(place: str) -> str:
    return place.rpartition("node_modules/")[2]


def _edited_json(text: str, edit: Callable[[Any], None]) -> str:
    try:
        data = json.loads(text)
    except ValueError:
        return text
    edit(data)
    return json.dumps(data, indent=2) + "\n"
