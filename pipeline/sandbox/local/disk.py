"""What LocalSandbox keeps in its cache folder, and removing it. Sizes are what files hold, links not followed.

Does not cover workspaces: they are emptied by whoever takes their place.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import filelock

from pipeline.core.cache import lock
from pipeline.core.store import Unit, write_bytes
from pipeline.sandbox.images import Kept, Kind

#: folder of the cache -> the kind of what is in it
KINDS: dict[str, Kind] = {"environments": "environment", "instances": "instance", "npm": "tools"}
#: the file of a workspace that names its instance
MARK = "instance"


def mark(workspace: Path, digest: str) -> None:
    """Note what a workspace was opened of."""
    write_bytes(workspace / MARK, digest.encode())


def kept(cache: Path) -> list[Kept]:
    """All layers that were made whole."""
    used = _used(cache)
    units = [Unit(path.parent) for name in KINDS for path in sorted(cache.glob(f"{name}/*/manifest.json"))]
    return [_kept(cache, unit, used) for unit in units]


def _kept(cache: Path, unit: Unit, used: set[str]) -> Kept:
    name = str(unit.folder.relative_to(cache))
    kind, created = KINDS[unit.folder.parent.name], unit.path.stat().st_mtime
    return Kept(kind, name, unit.folder.name, _size(unit.folder), _under(cache, name), created, name in used)


def _under(cache: Path, name: str) -> str:
    """What a layer stands on: an instance on its environment, an environment on its package manager."""
    made = Unit(cache / name)
    if not name.startswith(("environments/", "instances/")) or not made.path.exists():
        return ""
    result = made.result()
    if name.startswith("instances/"):
        return f"environments/{result}"
    return str(Path(result["tools"]).relative_to(cache).parents[1])


def remove(cache: Path, one: Kept) -> bool:
    """Remove a layer; False when an open workspace uses it."""
    if one.name in _used(cache):
        return False
    (cache / one.name / "manifest.json").unlink(missing_ok=True)
    shutil.rmtree(cache / one.name, ignore_errors=True)
    return True


def _used(cache: Path) -> set[str]:
    """The layers of open workspaces: somebody holds the locks of their folders."""
    names = set()
    for path in cache.glob("workspaces/*.lock"):
        try:
            with lock(path).acquire(timeout=0):
                continue
        except filelock.Timeout:
            marked = path.with_suffix("") / MARK
            name = f"instances/{marked.read_text()}" if marked.exists() else ""
        while name:
            names.add(name)
            name = _under(cache, name)
    return names


def _size(folder: Path) -> int:
    return sum(os.lstat(Path(root, name)).st_size for root, _, names in os.walk(folder) for name in names)
