"""pnpm-lock.yaml. Its entries name each other and are not changed: pnpm is told by `overrides`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from pipeline.core.records import Edit
from pipeline.ecosystems.graph import Graph, asks
from pipeline.ecosystems.locked import Locked, entries

#: `/name@1.0.0:`, `name@1.0.0:`, `/name/1.0.0:`, each with what it is resolved by behind it
_PACKAGE = r"/?((?:@[^/\s]+/)?[^/@\s']+)[@/]([^:('\s_]+)"
_KEY = re.compile(rf"^  '?{_PACKAGE}[^:\n]*:", re.MULTILINE)
#: an entry of a package among the importers, then among the packages; the group is the version
_ENTRIES = (
    r"^ +'?{name}'?:\n +specifier: [^\n]*\n +version: (\d[^\s(]*)",
    r"^ +'?{name}'?: (\d[^\s(_]*)",
    r"^ +'?/?{name}[@/](\d+\.\d+\.\d+)",
)
_SETTINGS = "pnpm-workspace.yaml"


def read(text: str) -> Iterator[Locked]:
    """The packages that it holds."""
    return (Locked(match[1], match[2]) for match in _KEY.finditer(text))


def graph(text: str, manifests: Mapping[str, Mapping[str, Any]]) -> Graph:
    """Who asks for whom: entries name each other by version, or as a whole. Raises ValueError for what is no YAML."""
    data = _load(text)
    held = entries(data, "snapshots") or entries(data, "packages")
    packages = {key: Locked(match[1], match[2]) for key in held if (match := re.match(_PACKAGE, key))}

    def found(name: str, version: Any) -> tuple[str, ...]:
        words = version.get("version") if isinstance(version, dict) else version
        ways = (f"{name}@{words}", f"/{name}@{words}", f"/{name}/{words}", str(words))
        return tuple(way for way in ways if way in packages)[:1]

    needs = {key: tuple(one for asked in _table(held[key]).items() for one in found(*asked)) for key in packages}
    importers = entries(data, "importers") or {".": data}
    locked = {ask: _table(importers.get(ask.folder or "."), ask.table).get(ask.name) for ask, _ in asks(manifests)}
    return Graph(packages, needs, {ask: found(ask.name, version) for ask, version in locked.items()})


def _load(text: str) -> Any:
    """By the reader in C, where there is one: a lock file has a megabyte."""
    try:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError as error:
        raise ValueError(f"invalid YAML: {error}") from error


def _table(data: Any, table: str = "dependencies") -> dict[str, Any]:
    found = data.get(table) if isinstance(data, dict) else None
    return found if isinstance(found, dict) else {}


def version(text: str, package: str, wanted: str) -> str:
    """The version of a package that the repository asks for, or of any; empty where there is none."""
    for entry in _ENTRIES:
        if match := re.search(entry.replace("{name}", re.escape(package)), text, re.MULTILINE):
            return match[1]
    return ""


def pin(text: str, name: str, old: str, new: str, registry: str) -> str:
    """The same text: `overrule` tells pnpm."""
    return text


def overrule(
    edit: Edit, manifest: dict[str, Any], files: Mapping[str, bytes], found: bool
) -> Iterator[tuple[str, str]]:
    """Tell pnpm in the root's package.json, and in its settings, which go before it since pnpm 10."""
    manifest.setdefault("pnpm", {}).setdefault("overrides", {})[_selector(edit)] = edit.new
    if _SETTINGS in files:
        yield _SETTINGS, _overruled(files[_SETTINGS].decode(errors="replace"), edit)


def _selector(edit: Edit) -> str:
    """What pnpm overrules: a version or range of a package; of one that is asked for by an address, all."""
    return f"{edit.name}@{edit.old}" if re.match(r"[\^~<>=\d]", edit.old) else edit.name


def _overruled(settings: str, edit: Edit) -> str:
    """pnpm's settings, which overrule package.json since its version 10."""
    line = f"  '{_selector(edit)}': {edit.new}\n"
    if re.search(r"^overrides:\s*$", settings, re.MULTILINE):
        return re.sub(r"^(overrides:\s*\n)", rf"\1{line}", settings, count=1, flags=re.MULTILINE)
    return f"{settings.rstrip()}\noverrides:\n{line}"
