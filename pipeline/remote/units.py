"""Units of work in a merge: whole folders, each finished by its manifest.

Units that were made from the same inputs on both sides count as equal, whenever they were made: the first one wins, as
with two processes on one machine.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pipeline.core.errors import UserError
from pipeline.core.store import MANIFEST
from pipeline.remote.areas import travels


def walk(root: Path, top: Path | None = None) -> Iterator[Path]:
    """Every file to transfer and every finished unit (a folder) below a folder, in order. Raises UserError for a
    link, or anything that is not a file."""
    for path in sorted(root.iterdir()):
        if not travels(str(path.relative_to(top or root))):
            continue
        if path.is_symlink() or not (path.is_dir() or path.is_file()):
            raise UserError("neither a file nor a folder", path=path, hint="remove it on the other side")
        if path.is_file() or (path / MANIFEST).is_file():
            yield path
        else:
            yield from walk(path, top or root)


def sha256(path: Path) -> str:
    """The digest of a file, or of a unit's manifest, which is written last."""
    with (path / MANIFEST if path.is_dir() else path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def same(ours: Path, theirs: Path) -> bool:
    """Whether two files are equal, or two units have equal inputs. Raises UserError for a broken manifest."""
    if ours.is_dir() != theirs.is_dir():
        return False
    if ours.is_dir():
        return _manifest(ours)["inputs"] == _manifest(theirs)["inputs"]
    our_stat, their_stat = ours.stat(), theirs.stat()
    if (our_stat.st_dev, our_stat.st_ino) == (their_stat.st_dev, their_stat.st_ino):
        return True
    return our_stat.st_size == their_stat.st_size and sha256(ours) == sha256(theirs)


def result(unit: Path) -> object:
    """The result that a unit's manifest names, None without one. Raises UserError for a broken manifest."""
    return _manifest(unit).get("result")


def _manifest(unit: Path) -> dict[str, Any]:
    path = unit / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
    except (OSError, ValueError):
        manifest = None
    if not isinstance(manifest, dict) or "inputs" not in manifest:
        raise UserError("not a manifest of a unit", path=path, hint="remove this folder: its stage makes it again")
    return manifest
