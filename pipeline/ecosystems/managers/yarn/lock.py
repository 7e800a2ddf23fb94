"""yarn.lock, of yarn 1 and of later ones: blocks of `name@range, name@range:` with indented lines below."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.core.records import Edit
from pipeline.ecosystems.graph import Graph, asks
from pipeline.ecosystems.locked import Locked, archive, is_archive, table_in

_BLOCK = re.compile(r"^(?P<header>\S[^\n]*@[^\n]*):\n(?P<body>(?:[ \t][^\n]*(?:\n|\Z))+)", re.MULTILINE)
_VERSION = re.compile(r"^  version:? \"?([^\"\n]+)\"?$", re.MULTILINE)
#: the source of an entry of yarn 2 and later: the group is the package's own name, empty for an address
_RESOLUTION = re.compile(r"^  resolution: \"(?:((?:@[^/\"]+/)?[^@\"]+)@npm:[^:\"]+\"$)?", re.MULTILINE)
_RESOLVED = re.compile(r"^  resolved \"([^\"]+)\"$", re.MULTILINE)
#: the range of an alias, `npm:name@range`
_ALIAS = re.compile(r"npm:((?:@[^/\s]+/)?[^@/\s:]+)@")
#: a table of an entry, a line of it, and how yarn 2 and later mark optional packages
_TABLE = re.compile(r"^  (?P<name>\w+):\n(?P<lines>(?:    [^\n]*(?:\n|\Z))+)", re.MULTILINE)
_LINE = re.compile(r"^    \"?([^\s\":]+)\"?:? \"?([^\"\n]+)\"?$", re.MULTILINE)
_OPTIONAL = re.compile(r"^    \"?([^\s\":]+)\"?:\n      optional: true$", re.MULTILINE)
#: the version that yarn 2 and later write for packages of the repository
_OWN = "0.0.0-use.local"
#: an entry of a package with the wanted range, then with any; the group is the version
_ENTRIES = (
    r'^"?(?:[^\n]*, "?)?{name}@(?:npm:)?{wanted}[",:][^\n]*\n  version:? "?([^"\s]+)',
    r'^"?(?:[^\n]*, "?)?{name}@[^\n]*\n  version:? "?([^"\s]+)',
)


def read(text: str) -> Iterator[Locked]:
    """The packages that it holds, without those of the repository itself."""
    for block in _BLOCK.finditer(text):
        yield from (entry for entry in _entries(block) if entry.version != _OWN)


def graph(text: str, manifests: Mapping[str, Mapping[str, Any]]) -> Graph:
    """The dependency graph: an entry's header lists the requests that it fulfils."""
    packages, dependencies = dict[str, Locked](), dict[str, list[tuple[str, str]]]()
    keys, by_name = dict[str, str](), defaultdict[str, list[str]](list)
    for block in _BLOCK.finditer(text):
        if (entry := _entry(block)) and entry.version != _OWN:
            key = block["header"]
            packages[key], dependencies[key] = _fetched(entry, block["body"]), list(_required(block["body"]))
            keys |= {_plain(request): key for request in key.split(",")}
            by_name[entry.name].append(key)

    def resolved(name: str, version: str) -> tuple[str, ...]:
        """The entry that fulfils a request; if resolutions have changed the request, every entry of that name."""
        exact = keys.get(_plain(f"{name}@{version}"))
        return (exact,) if exact else tuple(by_name.get(name, ()))

    needs = {key: tuple(target for row in rows for target in resolved(*row)) for key, rows in dependencies.items()}
    requested = {ask: resolved(ask.name, version) for ask, version in asks(manifests)}
    return Graph(packages, needs, requested)


def version(text: str, package: str, wanted: str) -> str:
    """The version of a package requested as `wanted`, else of any; empty if there is none."""
    for entry in _ENTRIES:
        pattern = entry.replace("{name}", re.escape(package)).replace("{wanted}", re.escape(wanted))
        if match := re.search(pattern, text, re.MULTILINE):
            return match[1]
    return ""


def pin(text: str, name: str, old: str, new: str, registry: str) -> str:
    """With `new` in place of each entry of `name` whose version is `old`, or that is requested by it.

    The entry keeps its dependencies but loses its checksum.
    """
    return _BLOCK.sub(lambda block: _pin_block(block, name, old, new, registry), text)


def overrule(
    edit: Edit, manifest: dict[str, Any], files: Mapping[str, bytes], found: bool
) -> Iterator[tuple[str, str]]:
    """Override a version in the root's package.json if neither an entry nor a manifest has it."""
    if not found:
        table_in(manifest, "resolutions")[edit.name] = edit.new
    yield from ()


def _plain(request: str) -> str:
    """`name@range` without the quotes and the protocol of yarn 2 and later."""
    return request.strip().strip('"').replace("@npm:", "@", 1)


def _fetched(entry: Locked, body: str) -> Locked:
    """The package that is requested from the registry: an alias has another name, an address no version."""
    berry, address = _RESOLUTION.search(body), _RESOLVED.search(body)
    if berry:
        return entry._replace(name=berry[1] or entry.name, version=entry.version if berry[1] else "")
    if address and not is_archive(address[1]):
        return entry._replace(version="")
    return entry._replace(name=entry.package)


def _required(body: str) -> Iterator[tuple[str, str]]:
    """Name and range of an entry's required dependencies."""
    tables = {table["name"]: list(_LINE.finditer(table["lines"])) for table in _TABLE.finditer(body)}
    meta = next((table["lines"] for table in _TABLE.finditer(body) if table["name"] == "dependenciesMeta"), "")
    optional = {match[1] for match in _OPTIONAL.finditer(meta)}
    yield from ((line[1], line[2]) for line in tables.get("dependencies", ()) if line[1] not in optional)


def _entry(block: re.Match[str]) -> Locked | None:
    """An entry, by the first of its names."""
    return next(_entries(block), None)


def _entries(block: re.Match[str]) -> Iterator[Locked]:
    """An entry by each of its names: the requests of an alias and of its package are fulfilled by the same one."""
    requested = defaultdict[str, list[str]](list)
    for request in block["header"].replace('"', "").split(","):
        end = request.strip().find("@", 1)
        if end > 0:
            requested[request.strip()[:end]].append(request.strip()[end + 1 :])
    if not (version := _VERSION.search(block["body"])):
        return
    for name, ranges in requested.items():
        aliased = next(filter(None, (_ALIAS.match(wanted) for wanted in ranges)), None)
        source = aliased[1] if aliased and aliased[1] != name else ""
        yield Locked(name, version[1], tuple(wanted.removeprefix("npm:") for wanted in ranges), source)


def _pin_block(block: re.Match[str], name: str, old: str, new: str, registry: str) -> str:
    fitting = (entry for entry in _entries(block) if entry.package == name and old in (entry.version, *entry.requested))
    entry = next(fitting, None)
    if not entry:
        return block[0]
    body = re.sub(r"^  (?:integrity|checksum)\b.*\n", "", block["body"], flags=re.MULTILINE)
    body = _VERSION.sub(lambda line: line[0].replace(entry.version, new), body, count=1)
    body = re.sub(r"^  resolved .*$", f'  resolved "{archive(name, new, registry)}"', body, flags=re.MULTILINE)
    body, berry = re.subn(r"^  resolution: .*$", f'  resolution: "{name}@npm:{new}"', body, flags=re.MULTILINE)
    header = block["header"]
    if old in entry.requested and new not in entry.requested:
        # the manifest that requested exactly the old version now requests the new one
        header = f'"{name}@npm:{new}, {header[1:]}' if berry else f'"{name}@{new}", {header}'
    return f"{header}:\n{body}"
