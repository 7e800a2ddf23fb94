"""A package in a lock file: the result of all readers of lock files, and helpers that their writers share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from pipeline.core.texts import parse_json


class Locked(NamedTuple):
    """A locked package: its version, and the ranges or addresses by which it is requested. Of an alias, `name` is what
    programs import, and `source` is the package that it stands for."""

    name: str
    version: str
    requested: tuple[str, ...] = ()
    source: str = ""

    @property
    def package(self) -> str:
        """The package's own name."""
        return self.source or self.name


def archive(name: str, version: str, registry: str) -> str:
    """The address of a version in a registry."""
    return f"{registry}{name}/-/{name.rpartition('/')[2]}-{version}.tgz"


def is_archive(address: str) -> bool:
    """Whether an address is that of an archive in a registry of any kind."""
    return "/-/" in address or "/download/" in address


def entries(data: Any, key: str) -> dict[str, dict[str, Any]]:
    """The objects under a key of JSON data, by name; values of another form are left out."""
    table = data.get(key) if isinstance(data, dict) else None
    return {name: value for name, value in table.items() if isinstance(value, dict)} if isinstance(table, dict) else {}


def table_in(data: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under a key of JSON data, to be changed; a new one in place of a value of another form."""
    if not isinstance(data.get(key), dict):
        data[key] = {}
    return data[key]


def edited_json(text: str, edit: Callable[[Any], None]) -> str:
    """A JSON text after an edit of its data; invalid JSON is returned unchanged."""
    try:
        data = parse_json(text)
    except ValueError:
        return text
    edit(data)
    return json.dumps(data, indent=2) + "\n"
