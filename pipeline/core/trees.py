"""What the tree of a commit may contain: every path is checked here once, before anything is written or read.

Git stores trees that git itself would not make: a path that leaves the folder, `.git` under another name, a link that
points outside. Written to disk, such a file would land elsewhere, and such a link would be followed. Knows no git;
`core.git` asks for each tree that it reads. Does not cover names that differ only in case.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

from pipeline.core.errors import UserError

#: the reason of a candidate that is rejected for its tree
UNSAFE_PATH = "unsafe_path"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
#: letters that HFS+ leaves out of a name
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
#: a tree that has none of these in a path, and no capital or short form of `.git`, needs no closer look
_PLAIN = re.compile(r"[\w@+,=()\[\]{}$#!&%'^ -][\w@+,=()\[\]{}$#!&%'^ .-]*", re.ASCII)
#: links through links that any system follows, at most
_MOST = 40


class UnsafeTree(UserError):
    """A tree that may not be written to a disk; the message says which path, and why."""


def check_tree(commit: str, paths: Iterable[str], links: Mapping[str, bytes | None]) -> None:
    """Raise UnsafeTree unless every path stays in its folder, and every link (path -> what it holds, if known)."""
    known: set[str] = set()
    folders: set[str] = set()
    for path in paths:
        if why := problem(path) or ("it is there twice" if path in known else ""):
            raise _unsafe(commit, path, why)
        known.add(path)
        folders.update(_above(path, folders))
    if both := known & folders:
        raise _unsafe(commit, min(both), "it is a file and a folder")
    held = {path: target.decode(errors="surrogateescape") for path, target in links.items() if target is not None}
    for path in held:
        if why := _leads_out(path, held):
            raise _unsafe(commit, path, why)


def problem(path: str) -> str:
    """Why no tree may hold this path, empty where one may."""
    if not path:
        return "it has no name"
    if path.startswith(("/", "\\")):
        return "it is absolute"
    if _CONTROL.search(path):
        return "it holds a control character"
    parts = path.split("/")
    if all(map(_PLAIN.fullmatch, parts)):
        return ""
    return next(filter(None, map(_part_problem, re.split(r"[/\\]", path))), "")


def _part_problem(part: str) -> str:
    if part in ("", ".", ".."):
        return "it does not stay in its folder" if part == ".." else "a part of it is empty"
    name = _IGNORED.sub("", part).partition(":")[0].rstrip(" .").casefold()
    return "git's own folder is none of a tree's" if name in (".git", "git~1") else ""


def _above(path: str, known: set[str]) -> Iterable[str]:
    """The folders of a path that are not known yet."""
    while (path := posixpath.dirname(path)) and path not in known:
        yield path


def _leads_out(path: str, links: Mapping[str, str]) -> str:
    """Why a link leads where nothing of the tree is, through other links too; empty where it does not."""
    told = f"it is a link to {links[path]!r}"
    here, rest, followed = posixpath.dirname(path), links[path], 0
    while rest and followed <= _MOST:
        if rest.startswith("/"):
            return f"{told}, out of the tree"
        part, _, rest = rest.partition("/")
        rest = rest.lstrip("/")
        if part == "..":
            if not here:
                return f"{told}, out of the tree"
            here = posixpath.dirname(here)
        elif part not in ("", "."):
            if _CONTROL.search(part) or _part_problem(part):
                return f"{told}, which no tree may hold"
            here = posixpath.join(here, part)
            if target := links.get(here):
                followed += 1
                here, rest = posixpath.dirname(here), f"{target}/{rest}"
    return ""


def _unsafe(commit: str, path: str, why: str) -> UnsafeTree:
    return UnsafeTree(f"the tree of {commit} holds {path!r}: {why}")
