"""A package as a lock file holds it: what all readers of lock files give, and what their writers share."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple


class Locked(NamedTuple):
    """A package as it is locked: its version, and the ranges or addresses by which it is asked for."""

    name: str
    version: str
    asked: tuple[str, ...] = ()


def archive(name: str, version: str, registry: str) -> str:
    """The address of a version in a registry."""
    return f"{registry}{name}/-/{name.rpartition('/')[2]}-{version}.tgz"


def is_archive(address: str) -> bool:
    """Whether an address is that of an archive in a registry, of whichever kind."""
    return "/-/" in address or "/download/" in address


def entries(data: Any, key: str) -> dict[str, dict[str, Any]]:
    """The objects under a key of JSON data, by name: what has another form than it should is not there."""
    found = data.get(key) if isinstance(data, dict) else None
    return {name: one for name, one in found.items() if isinstance(one, dict)} if isinstance(found, dict) else {}


def edited_json(text: str, edit: Callable[[Any], None]) -> str:
    """A JSON text after an edit of its data; what is no JSON stays as it is."""
    try:
        data = json.loads(text)
    except ValueError:
        return text
    edit(data)
    return json.dumps(data, indent=2) + "\n"
