"""A bare repository of ours over the objects of a clone, through which git reads commits and nothing else of the clone.

A clone's configuration, hooks, attributes and remotes come from its maker and can contain commands (file system
monitors, filters, fetching missing objects), so git is never started in a clone. Our repository is in the cache folder,
one per clone. It has the clone's objects as alternates, only our own settings, and the clone's HEAD. Reads of the
clone: its HEAD and references, and whether it is shallow. Does not cover references in a reftable.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pipeline.core.cache import cache_root, lock
from pipeline.core.errors import UserError
from pipeline.core.store import digest, write_bytes

_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
#: references that name others, at most
_MOST = 5
#: the configuration of ours, by the length of an object's name
_CONFIG = {
    40: "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
    64: "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n",
}
#: bytes that a file in place of a clone's folder has fewer of
_POINTER = 8192
#: a file of ours that says whose objects it reads
_OF = "a11y-bench-of"


class Place(NamedTuple):
    """A clone's own folders: `git` has its HEAD, `common` objects and references (the same but for a work tree)."""

    git: Path
    common: Path

    @property
    def is_shallow(self) -> bool:
        path = self.common / "shallow"
        return path.is_file() and path.stat().st_size > 0

    @property
    def config(self) -> Path:
        return self.common / "config"


def locate(path: Path) -> Place | None:
    """The folders of the clone at `path`: bare, with files, or a work tree of another; None where there is none."""
    for folder in (path / ".git", path):
        git = _linked(folder)
        common = git / _text(git / "commondir").strip() if (git / "commondir").is_file() else git
        if (git / "HEAD").is_file() and (common / "objects").is_dir() and (common / "refs").is_dir():
            return Place(git, common)
    return None


def _linked(folder: Path) -> Path:
    """A file in place of the folder says where it is."""
    said = _text(folder) if folder.is_file() and folder.stat().st_size < _POINTER else ""
    return folder.parent / said.removeprefix("gitdir:").strip() if said.startswith("gitdir:") else folder


def over(place: Path, found: Place) -> Path:
    """Our repository over the objects of a clone, at the clone's HEAD, made unless it is there.

    Raises UserError for a clone whose HEAD names no commit. Those of clones that are gone are removed.
    """
    head = _head(found)
    if not head:
        form = "the form of its references (reftable) is not read here" if (found.common / "reftable").exists() else ""
        hint = f"{form or 'fetch it (git fetch --all)'}, or collect from another clone (just collect-run)"
        raise UserError("the clone has no commit HEAD", path=place, hint=hint)
    clones = cache_root() / "clones"
    ours, objects = clones / digest(str(found.git.resolve())), str((found.common / "objects").resolve())
    wanted = {
        _OF: f"{place}\n",
        "config": _CONFIG[len(head)],
        "objects/info/alternates": f"{_quoted(objects)}\n",
        "HEAD": f"{head}\n",
    }
    if any(_text(ours / name) != text for name, text in wanted.items()):
        with lock(clones / "lock"):
            _forget(clones)
            (ours / "refs").mkdir(parents=True, exist_ok=True)
            for name, text in wanted.items():
                write_bytes(ours / name, text.encode(errors="surrogateescape"))
    return ours


def _forget(clones: Path) -> None:
    """Remove ours of clones that are gone."""
    for path in clones.glob(f"*/{_OF}"):
        if not Path(_text(path).removesuffix("\n")).exists():
            shutil.rmtree(path.parent, ignore_errors=True)


def _head(found: Place) -> str:
    """The commit that HEAD names, empty for none."""
    said = _text(found.git / "HEAD").strip()
    for _ in range(_MOST):
        if not said.startswith("ref:"):
            break
        name = said.removeprefix("ref:").strip()
        said = next(_named(found, name), "")
    return said if _COMMIT.fullmatch(said) else ""


def _named(found: Place, name: str) -> Iterator[str]:
    """What a reference says: a file of its own counts before the list."""
    for folder in (found.git, found.common):
        if (folder / name).is_file():
            yield _text(folder / name).strip()
    for line in _text(found.common / "packed-refs").splitlines():
        commit, _, other = line.partition(" ")
        if other == name:
            yield commit


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape") if path.is_file() else ""


def _quoted(path: str) -> str:
    """As git reads a path that may hold anything."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
