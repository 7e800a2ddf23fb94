"""What LocalSandbox keeps in its cache folder, and its removal. Sizes are those of files; links are not followed.

Does not cover workspaces, which are emptied when their folder is used again.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import filelock

from pipeline.core.cache import lock
from pipeline.core.store import MANIFEST, Unit, write_bytes
from pipeline.sandbox.images import Kept, Kind

#: folder of the cache -> the kind of its content
KINDS: dict[str, Kind] = {"environments": "environment", "instances": "instance", "npm": "tools"}
#: the file of a workspace that names its instance
MARK = "instance"


def mark(workspace: Path, digest: str) -> None:
    """Note the instance of a workspace."""
    write_bytes(workspace / MARK, digest.encode())


def kept(cache: Path) -> list[Kept]:
    """All layers that are complete."""
    used = _used(cache)
    units = [Unit(path.parent) for name in KINDS for path in sorted(cache.glob(f"{name}/*/{MANIFEST}"))]
    return [_kept(cache, unit, used) for unit in units]


def _kept(cache: Path, unit: Unit, used: set[str]) -> Kept:
    name = str(unit.folder.relative_to(cache))
    kind, created = KINDS[unit.folder.parent.name], unit.path.stat().st_mtime
    return Kept(kind, name, unit.folder.name, _size(unit.folder), _under(cache, name), created, name in used)


def _under(cache: Path, name: str) -> str:
    """The layer below: of an instance its environment, of an environment its package manager."""
    unit = Unit(cache / name)
    if not name.startswith(("environments/", "instances/")) or not unit.path.exists():
        return ""
    result = unit.result()
    if name.startswith("instances/"):
        return f"environments/{result}"
    tools = tools_of(cache, unit)
    return str(tools.relative_to(cache).parents[1]) if tools.is_relative_to(cache) else ""


def tools_of(cache: Path, environment: Unit) -> Path:
    """The folder of the programs of an environment's tools. Earlier versions stored its whole path, which is elsewhere
    if the cache has moved since."""
    return cache / environment.result()["tools"]


def is_complete(cache: Path, environment: Path) -> bool:
    """Whether an environment is made, with its tools in this cache."""
    unit = Unit(environment)
    return unit.path.exists() and tools_of(cache, unit).is_relative_to(cache)


def settle(cache: Path, environment: Path) -> None:
    """Let an environment whose tools are elsewhere be made again."""
    with lock(environment.with_name(f"{environment.name}.lock")):
        if not is_complete(cache, environment):
            Unit(environment).path.unlink(missing_ok=True)


def remove(cache: Path, layer: Kept) -> bool:
    """Remove a layer; False if an open workspace uses it."""
    if layer.name in _used(cache):
        return False
    (cache / layer.name / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(cache / layer.name, ignore_errors=True)
    return True


def _used(cache: Path) -> set[str]:
    """The layers of open workspaces, whose folders are locked."""
    names = set()
    for path in cache.glob("workspaces/*.lock"):
        try:
            with lock(path).acquire(timeout=0):
                continue
        except filelock.Timeout:
            mark_file = path.with_suffix("") / MARK
            name = f"instances/{mark_file.read_text()}" if mark_file.exists() else ""
        while name:
            names.add(name)
            name = _under(cache, name)
    return names


def _size(folder: Path) -> int:
    return sum(os.lstat(Path(root, name)).st_size for root, _, names in os.walk(folder) for name in names)
