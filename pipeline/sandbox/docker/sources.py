"""The sources of an instance as a difference from those of another instance of the same environment.

The first instance of an environment is its *reference*. A listing of its sources is kept in the cache folder, and the
layers of further instances are made on its image. Times need no comparison, since a source's time follows from its
content (`core.git.checkout`). Does not cover checkouts with generated files, whose order in time must not change.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from pipeline.core.names import folder_name
from pipeline.core.store import read_object, write_bytes

#: path -> kind, permissions and digest of the content
Listing = Mapping[str, str]
_FOLDER = "folder "


class Difference(NamedTuple):
    """The paths to write, and the files and folders to remove; a folder stays if it is not empty then."""

    written: list[str]
    files: list[str]
    folders: list[str]


class Reference(NamedTuple):
    """An environment's reference: the name and the id of its image, and what is in it."""

    name: str
    image: str
    paths: Listing


def recorded(cache: Path, environment: str) -> Reference | None:
    """The reference of an environment; None if it has none. The engine may have removed its image since."""
    path = _record(cache, environment)
    return Reference(**read_object(path, *Reference._fields)) if path.exists() else None


def record(cache: Path, environment: str, reference: Reference) -> None:
    """Remember the reference of an environment."""
    write_bytes(_record(cache, environment), json.dumps(reference._asdict()).encode())


def _record(cache: Path, environment: str) -> Path:
    return cache / "sources" / f"{folder_name(environment)}.json"


def listing(folder: Path) -> dict[str, str]:
    """What is in a folder, by path."""
    return dict(_listed(folder, ""))


def _listed(folder: Path, under: str) -> Iterator[tuple[str, str]]:
    with os.scandir(folder / under) as entries:
        for entry in entries:
            path = f"{under}{entry.name}"
            mode = entry.stat(follow_symlinks=False).st_mode
            if entry.is_symlink():
                yield path, f"link {Path(entry.path).readlink()}"
            elif entry.is_dir():
                yield path, f"{_FOLDER}{stat.S_IMODE(mode):o}"
                yield from _listed(folder, f"{path}/")
            else:
                content = hashlib.sha256(Path(entry.path).read_bytes()).hexdigest()
                yield path, f"file {stat.S_IMODE(mode):o} {content}"


def difference(before: Listing, after: Listing) -> Difference | None:
    """From one listing to another; None if a folder takes the place of a file, or a file that of a folder."""
    if any(_is_folder(before[path]) != _is_folder(after[path]) for path in before.keys() & after.keys()):
        return None
    gone = sorted(before.keys() - after.keys(), reverse=True)  # a folder comes after what is in it
    return Difference(
        sorted(path for path, entry in after.items() if before.get(path) != entry),
        [path for path in gone if not _is_folder(before[path])],
        [path for path in gone if _is_folder(before[path])],
    )


def _is_folder(entry: str) -> bool:
    return entry.startswith(_FOLDER)
