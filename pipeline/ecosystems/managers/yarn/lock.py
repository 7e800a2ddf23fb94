"""yarn.lock, of yarn 1 and of later ones: blocks of `name@range, name@range:` with indented lines below."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.core.records import Edit
from pipeline.ecosystems.graph import Graph, asks
from pipeline.ecosystems.locked import Locked, archive, is_archive

_BLOCK = re.compile(r"^(?P<header>\S[^\n]*@[^\n]*):\n(?P<body>(?:[ \t][^\n]*(?:\n|\Z))+)", re.MULTILINE)
_VERSION = re.compile(r"^  version:? \"?([^\"\n]+)\"?$", re.MULTILINE)
#: where an entry comes from: of yarn 2 and later the group is the package's own name, of an address it is empty
_RESOLUTION = re.compile(r"^  resolution: \"(?:((?:@[^/\"]+/)?[^@\"]+)@npm:[^:\"]+\"$)?", re.MULTILINE)
_RESOLVED = re.compile(r"^  resolved \"([^\"]+)\"$", re.MULTILINE)
_ALIAS = re.compile(r"((?:@[^/\s]+/)?[^@/\s:]+)@")
#: a table of an entry, a line of it, and what yarn 2 and later say of a package that an install goes on without
_TABLE = re.compile(r"^  (?P<name>\w+):\n(?P<lines>(?:    [^\n]*(?:\n|\Z))+)", re.MULTILINE)
_LINE = re.compile(r"^    \"?([^\s\":]+)\"?:? \"?([^\"\n]+)\"?$", re.MULTILINE)
_OPTIONAL = re.compile(r"^    \"?([^\s\":]+)\"?:\n      optional: true$", re.MULTILINE)
#: what yarn 2 and later write in place of a version for packages of the repository
_OWN = "0.0.0-use.local"
#: an entry of a package that is wanted by a range, then of any; the group is the version
_ENTRIES = (
    r'^"?(?:[^\n]*, "?)?{name}@(?:npm:)?{wanted}[",:][^\n]*\n  version:? "?([^"\s]+)',
    r'^"?(?:[^\n]*, "?)?{name}@[^\n]*\n  version:? "?([^"\s]+)',
)


def read(text: str) -> Iterator[Locked]:
    """The packages that it holds, without those of the repository itself."""
    blocks = map(_entry, _BLOCK.finditer(text))
    return (entry for entry in blocks if entry and entry.version != _OWN)


def graph(text: str, manifests: Mapping[str, Mapping[str, Any]]) -> Graph:
    """Who asks for whom: an entry's header says by which words it is asked for."""
    packages, wanted = dict[str, Locked](), dict[str, list[tuple[str, str]]]()
    keys, by_name = dict[str, str](), defaultdict[str, list[str]](list)
    for block in _BLOCK.finditer(text):
        if (entry := _entry(block)) and entry.version != _OWN:
            key = block["header"]
            packages[key], wanted[key] = _fetched(entry, block["body"]), list(_wanted(block["body"]))
            keys |= {_plain(one): key for one in key.split(",")}
            by_name[entry.name].append(key)

    def found(name: str, version: str) -> tuple[str, ...]:
        """The entry that is asked for in these words; where resolutions have changed them, every one of that name."""
        exact = keys.get(_plain(f"{name}@{version}"))
        return (exact,) if exact else tuple(by_name.get(name, ()))

    needs = {key: tuple(one for words in several for one in found(*words)) for key, several in wanted.items()}
    asked = {ask: found(ask.name, version) for ask, version in asks(manifests)}
    return Graph(packages, needs, asked)


def version(text: str, package: str, wanted: str) -> str:
    """The version of a package that is asked for as `wanted`, or of any; empty where there is none."""
    for entry in _ENTRIES:
        pattern = entry.replace("{name}", re.escape(package)).replace("{wanted}", re.escape(wanted))
        if match := re.search(pattern, text, re.MULTILINE):
            return match[1]
    return ""


def pin(text: str, name: str, old: str, new: str, registry: str) -> str:
    """With `new` in place of each entry of `name` whose version is `old`, or that is asked for by it.

    The entry keeps its dependencies, and loses its checksum.
    """
    return _BLOCK.sub(lambda block: _pin_block(block, name, old, new, registry), text)


def overrule(
    edit: Edit, manifest: dict[str, Any], files: Mapping[str, bytes], found: bool
) -> Iterator[tuple[str, str]]:
    """Tell yarn in the root's package.json of a version that no entry and no manifest held."""
    if not found:
        manifest.setdefault("resolutions", {})[edit.name] = edit.new
    yield from ()


def _plain(words: str) -> str:
    """`name@range` without what berry adds to it."""
    return words.strip().strip('"').replace("@npm:", "@", 1)


def _fetched(entry: Locked, body: str) -> Locked:
    """The package that the registry is asked for in its place: an alias has another name, an address no version."""
    berry, address = _RESOLUTION.search(body), _RESOLVED.search(body)
    if berry:
        return entry._replace(name=berry[1] or entry.name, version=entry.version if berry[1] else "")
    if address and not is_archive(address[1]):
        return entry._replace(version="")
    alias = _ALIAS.match(entry.asked[0]) if entry.asked else None
    return entry._replace(name=alias[1]) if alias else entry


def _wanted(body: str) -> Iterator[tuple[str, str]]:
    """What an entry depends on and cannot do without: name, range."""
    tables = {table["name"]: list(_LINE.finditer(table["lines"])) for table in _TABLE.finditer(body)}
    meta = next((table["lines"] for table in _TABLE.finditer(body) if table["name"] == "dependenciesMeta"), "")
    optional = {match[1] for match in _OPTIONAL.finditer(meta)}
    yield from ((line[1], line[2]) for line in tables.get("dependencies", ()) if line[1] not in optional)


def _entry(block: re.Match[str]) -> Locked | None:
    version = _VERSION.search(block["body"])
    asked = [one.strip() for one in block["header"].replace('"', "").split(",")]
    at = asked[0].find("@", 1)
    if not version or at < 0:
        return None
    ranges = (one[at + 1 :].removeprefix("npm:") for one in asked if one.startswith(asked[0][: at + 1]))
    return Locked(asked[0][:at], version[1], tuple(ranges))


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
