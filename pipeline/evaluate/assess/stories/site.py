"""Built stories in Storybook's static format, read from an archive. Nothing is written to disk."""

from __future__ import annotations

import io
import json
import posixpath
import tarfile
from typing import Any, NamedTuple

from pipeline.core.errors import A11yBenchError

#: the most bytes of a site, unpacked
LARGEST = 512 * 2**20
#: the file that lists the stories -> its field, for Storybook 7 and later, and for earlier versions
INDEXES = {"index.json": "entries", "stories.json": "stories"}


class NoSite(A11yBenchError):
    """An archive that is not a site of stories; the message says why."""


class Story(NamedTuple):
    """One story. Its files are paths from the repository's root, if the site names them."""

    id: str
    file: str = ""
    component: str = ""


class Site(NamedTuple):
    """The files of a site by path, and its stories in the order of their ids."""

    files: dict[str, bytes]
    stories: tuple[Story, ...]


def open_site(archive: bytes, folder: str, largest: int = LARGEST) -> Site:
    """Read an archive that was built in a folder of the repository. Raises NoSite."""
    files = _files(archive, largest)
    if "iframe.html" not in files:
        raise NoSite("there is no iframe.html")
    return Site(files, tuple(sorted(_stories(files, folder))))


def _files(archive: bytes, largest: int) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as members:
        size = 0
        for member in members:
            size += member.size
            if size > largest:
                raise NoSite(f"unpacked it has more than {largest} bytes")
            if member.isreg() and (content := members.extractfile(member)):
                contents[posixpath.normpath(member.name)] = content.read()
    return contents


def _stories(files: dict[str, bytes], folder: str) -> list[Story]:
    name = next((name for name in INDEXES if name in files), None)
    if name is None:
        raise NoSite(f"there is no {' and no '.join(INDEXES)}")
    try:
        rows = json.loads(files[name])[INDEXES[name]].values()
        return [_story(row, folder) for row in rows if row.get("type", "story") == "story"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise NoSite(f"{name} is not in Storybook's format") from None


def _story(row: dict[str, Any], folder: str) -> Story:
    paths = (row.get("importPath", ""), row.get("componentPath", ""))
    return Story(str(row["id"]), *(posixpath.normpath(posixpath.join(folder, path)) if path else "" for path in paths))
