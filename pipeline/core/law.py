"""The law: a computed digest of all code and tables that decide a verdict, instead of version numbers raised by hand.

Floors register the files that decide, in chapters. Records keep the digest of the chapters that decided them, and are
stale when it changes. Python files count without comments, docstrings and blank lines, other files as they are. The
chapters: `running` decides what a test run leaves (patches, protection, control, commands, reporters), `reading` what
its log and report mean (readers, transitions), `qualifying` and `grading` what that means for an instance and for a
patch, `pages` the verdict on a page, and `hybrid` the hybrid score. When `running` or `pages` changes, tests or pages
run again; when another one changes, records are recomputed from what is stored. Does not cover the sandbox, which is
part of a record's identity, and versions of libraries.
"""

from __future__ import annotations

import io
import tokenize
from functools import cache
from importlib.resources import files
from typing import Literal

from pipeline.core.store import digest

Chapter = Literal["running", "reading", "qualifying", "grading", "pages", "hybrid"]

_registered: dict[Chapter, set[tuple[str, str]]] = {}


def register(chapter: Chapter, package: str, *names: str) -> None:
    """Add files of a package to a chapter. Raises FileNotFoundError for one that does not exist."""
    for name in names:
        if not files(package).joinpath(name).is_file():
            raise FileNotFoundError(f"{package}: {name}")
        _registered.setdefault(chapter, set()).add((package, name))


def registered(*chapters: Chapter) -> frozenset[tuple[str, str]]:
    """Package and name of every file of these chapters."""
    return frozenset(pair for chapter in chapters for pair in _registered.get(chapter, ()))


def law(*chapters: Chapter) -> str:
    """The digest of these chapters. Raises LookupError for a chapter without registered files: the module that
    registers them was not imported, so the digest would be wrong."""
    if missing := [chapter for chapter in chapters if chapter not in _registered]:
        raise LookupError(f"no file of the chapter '{missing[0]}' is registered")
    return _digest(registered(*chapters))


@cache
def _digest(decisive: frozenset[tuple[str, str]]) -> str:
    """The digest of these files. Cached, since every verdict needs it."""
    return digest(*(part for pair in sorted(decisive) for part in (":".join(pair), _decisive(*pair))))


@cache
def _decisive(package: str, name: str) -> bytes:
    """The part of a file that counts."""
    data = files(package).joinpath(name).read_bytes()
    return without_remarks(data.decode()).encode() if name.endswith(".py") else data


def without_remarks(source: str) -> str:
    """Python without its comments, docstrings and blank lines: the same for every version of Python."""
    lines, begins = source.splitlines(), True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        (row, column), (last, _) = token.start, token.end
        if token.type == tokenize.COMMENT:
            lines[row - 1] = lines[row - 1][:column]
        elif token.type == tokenize.STRING and begins:
            lines[row - 1 : last] = [""] * (last - row + 1)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            begins = token.type in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    return "\n".join(line.rstrip() for line in lines if line.strip())
