"""pnpm-lock.yaml. Its entries refer to each other and are not changed: versions are changed by `overrides`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from pipeline.core.records import Edit
from pipeline.ecosystems.graph import Graph, asks
from pipeline.ecosystems.locked import Locked, entries, table_in

#: `/name@1.0.0:`, `name@1.0.0:`, `/name/1.0.0:`, each possibly followed by its peers
_PACKAGE = r"/?((?:@[^/\s]+/)?[^/@\s']+)[@/]([^:('\s_]+)"
_KEY = re.compile(rf"^  '?{_PACKAGE}[^:\n]*:", re.MULTILINE)
#: a dependency under another name: `name: other@1.0.0`, among the importers with the requested range
_NAME = r"'?((?:@[^/\s'(:]+/)?[A-Za-z][^/@\s'(:]*)'?"
_ALIAS = re.compile(rf"^ +{_NAME}:(?: |\n +specifier: [^\n]*\n +version: )'?/?{_NAME}[@/](\d[^:('\s_]*)", re.MULTILINE)
#: an entry of a package among the importers, then among the packages; the group is the version
_ENTRIES = (
    r"^ +'?{name}'?:\n +specifier: [^\n]*\n +version: (\d[^\s(]*)",
    r"^ +'?{name}'?: (\d[^\s(_]*)",
    r"^ +'?/?{name}[@/](\d+\.\d+\.\d+)",
)
_SETTINGS = "pnpm-workspace.yaml"
#: the overrides in these settings: the key, the rest of its line, and the lines below; the blanks before an entry
_OVERRIDES = re.compile(
    r"^(?P<head>(['\"]?)overrides\2[ \t]*:)(?P<rest>[^\n]*)(?:\n|\Z)(?P<block>(?:[ \t}][^\n]*(?:\n|\Z)|\n)*)",
    re.MULTILINE,
)
_ENTRY = re.compile(r"^([ \t]+)[^\s#]", re.MULTILINE)
_EMPTY = re.compile(r"^[ \t]*(?:null|~)(?=[ \t]|$)")
#: levels of nesting that no lock file has; the C parser survives some 20,000
DEEPEST = 1000
_BRACKET = re.compile(r"[\[\]{}]")
_MARKS = re.compile(rf"(?:[-?:][ \t]+){{{DEEPEST}}}")


def read(text: str) -> Iterator[Locked]:
    """The packages that it holds, and aliases of them."""
    yield from (Locked(match[1], match[2]) for match in _KEY.finditer(text))
    aliases = dict.fromkeys(match.groups() for match in _ALIAS.finditer(text))
    yield from (Locked(name, version, (), source) for name, source, version in aliases if name != source)


def graph(text: str, manifests: Mapping[str, Mapping[str, Any]]) -> Graph:
    """The dependency graph: entries refer to each other by version or by key. Raises ValueError for invalid YAML."""
    data = _load(text)
    by_key = entries(data, "snapshots") or entries(data, "packages")
    packages = {key: Locked(match[1], match[2]) for key in by_key if (match := re.match(_PACKAGE, key))}

    def resolved(name: str, version: Any) -> tuple[str, ...]:
        target = version.get("version") if isinstance(version, dict) else version
        candidates = (f"{name}@{target}", f"/{name}@{target}", f"/{name}/{target}", str(target))
        return tuple(candidate for candidate in candidates if candidate in packages)[:1]

    requests = {key: _table(by_key[key]).items() for key in packages}
    needs = {key: tuple(target for row in rows for target in resolved(*row)) for key, rows in requests.items()}
    importers = entries(data, "importers") or {".": data}
    locked = {ask: _table(importers.get(ask.folder or "."), ask.table).get(ask.name) for ask, _ in asks(manifests)}
    return Graph(packages, needs, {ask: resolved(ask.name, version) for ask, version in locked.items()})


def _load(text: str) -> Any:
    """Parse YAML, with the fast C parser if it is available: lock files can have a megabyte. Deep nesting would end the
    whole process there."""
    if _is_deep(text):
        raise ValueError("it nests too deep")
    try:
        return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"invalid YAML: {error}") from error


def _is_deep(text: str) -> bool:
    """Whether brackets, or marks of lists in one line, nest deeper than any lock file's."""
    depth = 0
    for bracket in _BRACKET.findall(text):
        depth = max(0, depth + (1 if bracket in "[{" else -1))
        if depth > DEEPEST:
            return True
    return bool(_MARKS.search(text))


def _table(data: Any, table: str = "dependencies") -> dict[str, Any]:
    value = data.get(table) if isinstance(data, dict) else None
    return value if isinstance(value, dict) else {}


def version(text: str, package: str, wanted: str) -> str:
    """The version of a package that the repository requests, else of any; empty if there is none."""
    for entry in _ENTRIES:
        if match := re.search(entry.replace("{name}", re.escape(package)), text, re.MULTILINE):
            return match[1]
    return ""


def pin(text: str, name: str, old: str, new: str, registry: str) -> str:
    """The same text: `overrule` changes versions."""
    return text


def overrule(
    edit: Edit, manifest: dict[str, Any], files: Mapping[str, bytes], found: bool
) -> Iterator[tuple[str, str]]:
    """Override a version in the root's package.json, and in pnpm's settings, which take precedence since pnpm 10."""
    table_in(table_in(manifest, "pnpm"), "overrides")[_selector(edit)] = edit.new
    if _SETTINGS in files:
        yield _SETTINGS, _overruled(files[_SETTINGS].decode(errors="replace"), edit)


def _selector(edit: Edit) -> str:
    """The key of an override: a version or range of a package, or all versions if it is requested by an address."""
    return f"{edit.name}@{edit.old}" if re.match(r"[\^~<>=\d]", edit.old) else edit.name


def _overruled(settings: str, edit: Edit) -> str:
    """pnpm's settings with an override added, in place of one with the same key."""
    key, before = f"'{_selector(edit)}'", _OVERRIDES.search(settings)
    if not before:
        return f"{settings.rstrip()}\noverrides:\n  {key}: {edit.new}\n"
    head, rest, block = before["head"], before["rest"], before["block"]
    if rest.lstrip().startswith("{"):
        after = f"{head}{rest.replace('{', f'{{ {key}: {edit.new}, ', 1)}\n{block}"
    else:
        same = re.compile(rf"^[ \t]+(['\"]?){re.escape(_selector(edit))}\1[ \t]*:[^\n]*\n?", re.MULTILINE)
        indent = match[1] if (match := _ENTRY.search(block)) else "  "
        after = f"{head}{_EMPTY.sub('', rest)}\n{indent}{key}: {edit.new}\n{same.sub('', block)}"
    return settings[: before.start()] + after + settings[before.end() :]
