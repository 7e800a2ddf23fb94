"""Reading and editing the lock files of all managers, by each manager's `lock.py`.

Pure functions on texts. An entry is identified by the package's name and its version, or the address in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pipeline.ecosystems.graph import Graph
from pipeline.ecosystems.locked import Locked
from pipeline.ecosystems.manager_folder import Manager, all_managers

__all__ = ["Locked", "graph", "is_lock", "locked", "manager_of", "pin", "rehost", "version"]

#: the address of an archive, as different registries write it
_ARCHIVE = (
    r"((?:(?:@|%40)[^/\s\"']+(?:/|%2[fF]))?[^/\s\"']+)/(?:-|(?<!/releases/)download)/"
    r"(?:@[^/\s\"']+/)?([^/\s\"'?#,}}]+)(?:\?[^\s\"'#]*)?"
)


def manager_of(path: str) -> Manager | None:
    """The manager whose lock file this is, by its name; None for any other file."""
    name = path.rpartition("/")[2]
    return next((manager for manager in all_managers().values() if name in manager.locks), None)


def is_lock(path: str) -> bool:
    """Whether a path is a lock file of a known form."""
    return manager_of(path) is not None


def locked(path: str, text: str) -> list[Locked]:
    """The packages that a lock file holds; empty if it is not a lock file or is unreadable."""
    manager = manager_of(path)
    try:
        return list(manager.lock.read(text)) if manager else []
    except ValueError:
        return []


def graph(path: str, text: str, manifests: Mapping[str, Mapping[str, Any]]) -> Graph:
    """The graph of a lock file, with the requests of package.json files (by folder); empty as for `locked`."""
    manager = manager_of(path)
    try:
        return manager.lock.graph(text, manifests) if manager else Graph({}, {}, {})
    except ValueError:
        return Graph({}, {}, {})


def version(path: str, text: str, package: str, wanted: str) -> str:
    """The version that a lock file has for a package requested as `wanted`; empty if it has none."""
    manager = manager_of(path)
    return manager.lock.version(text, package, wanted) if manager else ""


def pin(path: str, text: str, name: str, old: str, new: str, registry: str) -> str:
    """The lock file with `new` in place of each entry of `name` whose version is `old`, or that is requested by it."""
    manager = manager_of(path)
    return manager.lock.pin(text, name, old, new, registry) if manager else text


def rehost(text: str, host: str, registry: str) -> str:
    """The lock file with archives from `registry` in place of the registry `host`."""
    archive = re.compile(rf"https?://{re.escape(host)}(?::\d+)?/(?:[^\s\"']*?/)??{_ARCHIVE}")
    return archive.sub(lambda match: f"{registry}{_plain(match[1])}/-/{match[2]}", text)


def _plain(name: str) -> str:
    """A name without the escapes of addresses, such as `%40scope%2fname`."""
    return re.sub("%2[fF]", "/", re.sub("^%40", "@", name))
