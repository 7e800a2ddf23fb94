"""yarn.lock, of yarn 1 and of later ones: blocks of `name@range, name@range:` with indented lines below."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.core.records import Edit
from pipeline.ecosystems.locked import Locked, archive

_BLOCK = re.compile(r"^(?P<header>\S[^\n]*@[^\n]*):\n(?P<body>(?:[ \t][^\n]*(?:\n|\Z))+)", re.MULTILINE)
_VERSION = re.compile(r"^  version:? \"?([^\"\n]+)\"?$", re.MULTILINE)
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
