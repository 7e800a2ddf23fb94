"""What the tree of a commit may contain: every path is checked here once, before anything is written or read.

Git stores trees that it would not make itself: a path that leaves the folder, `.git` under another name, a link that
points outside. Written to disk, such a file would land elsewhere, and such a link would be followed. Does not call git;
`core.git` checks each tree that it reads. Does not cover names that differ only in case.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Mapping

from pipeline.core.errors import UserError

#: the reason of a candidate that is rejected for its tree
UNSAFE_PATH = "unsafe_path"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: letters that HFS+ leaves out of a name
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
#: parts of paths that need no closer look
_PLAIN = re.compile(r"[\w@+,=()\[\]{}$#!&%'^ -][\w@+,=()\[\]{}$#!&%'^ .-]*", re.ASCII)
#: the longest chain of links that a system follows, and the most files: a small clone can have a tree without end
_MOST, MOST_FILES = 40, 5_000_000
#: bytes of the longest path and of the longest name on a disk
_LONGEST, _LONGEST_PART = 4095, 255


class UnsafeTree(UserError):
    """A tree that must not be written to disk; the message names the path and the reason."""


def check_tree(commit: str, paths: Iterable[str], links: Mapping[str, bytes | None]) -> None:
    """Raise UnsafeTree unless all paths and links stay in the folder. `links` is path -> target, if known."""
    known: set[str] = set()
    folders: set[str] = set()
    for number, path in enumerate(paths):
        if number >= MOST_FILES:
            raise _unsafe(commit, path, f"there are more than {MOST_FILES} files")
        if reason := problem(path) or ("it occurs twice" if path in known else ""):
            raise _unsafe(commit, path, reason)
        known.add(path)
        folders.update(_above(path, folders))
    if clashes := known & folders:
        raise _unsafe(commit, min(clashes), "it is a file and a folder")
    targets = {path: target.decode(errors="surrogateescape") for path, target in links.items() if target is not None}
    for path in targets:
        if reason := _leads_out(path, targets):
            raise _unsafe(commit, path, reason)


def leading_out(links: Mapping[str, str]) -> set[str]:
    """Those of a tree's links, path -> target, that lead out of it or into git's own folder, if only through others."""
    return {path for path in links if _leads_out(path, links)}


def problem(path: str) -> str:
    """Why a tree must not contain this path; empty if it may."""
    if not path:
        return "it has no name"
    if path.startswith(("/", "\\")):
        return "it is absolute"
    if _CONTROL.search(path):
        return "it contains a control character"
    parts = path.split("/")
    if len(path) > _LONGEST_PART // 4 and _is_too_long(path, parts):
        return "it is too long for a disk"
    if all(map(_PLAIN.fullmatch, parts)):
        return ""
    return next(filter(None, map(_part_problem, re.split(r"[/\\]", path))), "")


def _is_too_long(path: str, parts: Iterable[str]) -> bool:
    longest = max(len(os.fsencode(part)) for part in parts)
    return len(os.fsencode(path)) > _LONGEST or longest > _LONGEST_PART


def _part_problem(part: str) -> str:
    if part in ("", ".", ".."):
        return "it does not stay in its folder" if part == ".." else "a part of it is empty"
    name = _IGNORED.sub("", part).partition(":")[0].rstrip(" .").casefold()
    return "it is git's own folder" if name in (".git", "git~1") else ""


def _above(path: str, known: set[str]) -> Iterable[str]:
    """The folders above a path that are not known yet."""
    while (path := posixpath.dirname(path)) and path not in known:
        yield path


def _leads_out(path: str, links: Mapping[str, str]) -> str:
    """Why a link leads out of the tree, directly or through other links; empty if it does not."""
    description = f"it is a link to {links[path]!r}"
    folder, remaining, followed = posixpath.dirname(path), links[path], 0
    while remaining and followed <= _MOST:
        if remaining.startswith("/"):
            return f"{description}, out of the tree"
        part, _, remaining = remaining.partition("/")
        remaining = remaining.lstrip("/")
        if part == "..":
            if not folder:
                return f"{description}, out of the tree"
            folder = posixpath.dirname(folder)
        elif part not in ("", "."):
            if _CONTROL.search(part) or _part_problem(part):
                return f"{description}, which no tree may contain"
            folder = posixpath.join(folder, part)
            if target := links.get(folder):
                followed += 1
                folder, remaining = posixpath.dirname(folder), f"{target}/{remaining}"
    return ""


def _unsafe(commit: str, path: str, reason: str) -> UnsafeTree:
    return UnsafeTree(f"the tree of {commit} contains {path!r}: {reason}")
