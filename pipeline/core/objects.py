"""A bare repository of our own over a clone's objects: git reads commits through it, and nothing else of the clone.

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
#: the longest chain of references that name each other
_MOST = 5
#: the configuration of our repository, by the length of an object's name
_CONFIG = {
    40: "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
    64: "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = sha256\n",
}
#: bytes; a file in place of a clone's git folder is smaller
_POINTER = 8192
#: the file in our repository that names the clone it reads
_OF = "a11y-bench-of"


class GitFolders(NamedTuple):
    """A clone's own folders: `git` has HEAD, `common` objects and references. They differ only in linked work trees."""

    git: Path
    common: Path

    @property
    def is_shallow(self) -> bool:
        path = self.common / "shallow"
        return path.is_file() and path.stat().st_size > 0

    @property
    def config(self) -> Path:
        return self.common / "config"


def locate(path: Path) -> GitFolders | None:
    """The folders of the clone at `path` (bare, with files, or a linked work tree), or None if there is none."""
    for folder in (path / ".git", path):
        git = _linked(folder)
        common = git / _text(git / "commondir").strip() if (git / "commondir").is_file() else git
        if (git / "HEAD").is_file() and (common / "objects").is_dir() and (common / "refs").is_dir():
            return GitFolders(git, common)
    return None


def _linked(folder: Path) -> Path:
    """The git folder itself, or the one that a file in its place names."""
    content = _text(folder) if folder.is_file() and folder.stat().st_size < _POINTER else ""
    return folder.parent / content.removeprefix("gitdir:").strip() if content.startswith("gitdir:") else folder


def our_repository(git_dir: Path, folders: GitFolders) -> Path:
    """Our repository over the objects of a clone, at the clone's HEAD; made if needed.

    Repositories of clones that no longer exist are removed. Raises UserError for a clone whose HEAD names no commit.
    """
    head = _head(folders)
    if not head:
        has_reftable = (folders.common / "reftable").exists()
        advice = "its references are in a reftable, which is not read" if has_reftable else "fetch it (git fetch --all)"
        hint = f"{advice}, or collect from another clone (just collect-run)"
        raise UserError("the clone has no commit HEAD", path=git_dir, hint=hint)
    clones = cache_root() / "clones"
    ours, objects = clones / digest(str(folders.git.resolve())), str((folders.common / "objects").resolve())
    files = {
        _OF: f"{git_dir}\n",
        "config": _CONFIG[len(head)],
        "objects/info/alternates": f"{_quoted(objects)}\n",
        "HEAD": f"{head}\n",
    }
    if any(_text(ours / name) != text for name, text in files.items()):
        with lock(clones / "lock"):
            _remove_orphans(clones)
            (ours / "refs").mkdir(parents=True, exist_ok=True)
            for name, text in files.items():
                write_bytes(ours / name, text.encode(errors="surrogateescape"))
    return ours


def _remove_orphans(clones: Path) -> None:
    """Remove our repositories of clones that no longer exist."""
    for path in clones.glob(f"*/{_OF}"):
        if not Path(_text(path).removesuffix("\n")).exists():
            shutil.rmtree(path.parent, ignore_errors=True)


def _head(folders: GitFolders) -> str:
    """The commit that HEAD names; empty if there is none."""
    content = _text(folders.git / "HEAD").strip()
    for _ in range(_MOST):
        if not content.startswith("ref:"):
            break
        name = content.removeprefix("ref:").strip()
        content = next(_reference(folders, name), "")
    return content if _COMMIT.fullmatch(content) else ""


def _reference(folders: GitFolders, name: str) -> Iterator[str]:
    """The values of a reference: its own file comes before the list of packed references."""
    for parent in (folders.git, folders.common):
        if (parent / name).is_file():
            yield _text(parent / name).strip()
    for line in _text(folders.common / "packed-refs").split("\n"):
        commit, _, reference = line.partition(" ")
        if reference == name:
            yield commit


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="surrogateescape") if path.is_file() else ""


def _quoted(path: str) -> str:
    """A path with any characters, quoted for git."""
    escaped = path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
