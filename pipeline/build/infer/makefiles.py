"""The commands that `make` would run, read from a Makefile: images have no `make`.

Does not cover patterns of targets, included files whose path has variables, and functions other than `$(MAKE)`.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from pipeline.build.infer.tree import Tree
from pipeline.build.infer.words import assigned

#: the names under which `make` looks for one, in this order
NAMES = ("GNUmakefile", "makefile", "Makefile")
#: the line that includes files
_INCLUDE = re.compile(r"^[-s]?include[ \t]+([^\n#]+)", re.MULTILINE)
#: a call of `make` without another folder or file
_CALL = re.compile(r"make(?: +(?:-(?![Cf])\S+|\w+=\S*|[\w.-]+))*")
_FIRST = re.compile(r"^(?!\.)([\w.-]+)\s*:(?!=)", re.MULTILINE)
_DEFINED = re.compile(r"^(?:export +)?(\w+)[ \t]*[:?]{0,2}=[ \t]*([^\n#]*)", re.MULTILINE)
_VARIABLE = re.compile(r"(\$\$)|\$[({](\w+)[)}]")
#: how deep variables may name each other
_DEPTH = 4


class Rule(NamedTuple):
    """The prerequisites of a target, and its lines without the signs for `make`."""

    prerequisites: tuple[str, ...]
    lines: tuple[str, ...]


def read(tree: Tree, folder: str) -> str:
    """The text of the Makefile in a folder, with the files that it includes, each command in one line."""
    return next(filter(None, (_whole(tree, folder, name, set()) for name in NAMES)), "")


def _whole(tree: Tree, folder: str, name: str, seen: set[str]) -> str:
    """The text of a file and of those that it includes, each once."""
    path = posixpath.normpath(posixpath.join(folder, name))
    if path in seen:
        return ""
    seen.add(path)
    text = re.sub(r"[ \t]*\\\n\s*", " ", tree.text(path))
    return _INCLUDE.sub(lambda line: "\n".join(_whole(tree, folder, name, seen) for name in line[1].split()), text)


def first(text: str) -> str:
    """The target that `make` makes by default; empty if there is none."""
    found = _FIRST.search(text)
    return found[1] if found else ""


def rule(text: str, target: str) -> Rule | None:
    """How a target is made; None if the Makefile does not say."""
    pattern = rf"^{re.escape(target)}\s*:(?!=)([^\n#]*)((?:\n\t[^\n]*|\n[ \t]*(?=\n))*)"
    if not (found := re.search(pattern, text, re.MULTILINE)):
        return None
    lines = (line.strip().lstrip("@-+ ") for line in found[2].splitlines())
    return Rule(tuple(found[1].split()), tuple(line for line in lines if line and not line.startswith("#")))


def commands(tree: Tree, folder: str, command: str) -> list[str]:
    """The commands of the targets that a command makes, as shell texts; empty for any other command."""
    if not _CALL.fullmatch(command):
        return []
    text, words = read(tree, folder), command.split()[1:]
    variables = {**dict(_DEFINED.findall(text)), "MAKE": "make", **assigned(words)}
    targets = [word for word in words if not word.startswith("-") and "=" not in word] or [first(text)]
    seen: set[str] = set()
    return [line for target in targets for line in _made(text, target, variables, seen)]


def _made(text: str, target: str, variables: Mapping[str, str], seen: set[str]) -> Iterator[str]:
    """The commands of a target, those of its prerequisites first, none twice."""
    found = rule(text, target)
    if target in seen or found is None:
        return
    seen.add(target)
    for name in found.prerequisites:
        yield from _made(text, name, variables, seen)
    for line in (_filled(line, variables) for line in found.lines):
        called = line.split()[1:] if _CALL.fullmatch(line) else ()
        if called:
            yield from (inner for name in called for inner in _made(text, name, variables, seen))
        else:
            yield line


def _filled(line: str, variables: Mapping[str, str]) -> str:
    """A line with the values of variables, and its shell's own signs."""
    for _ in range(_DEPTH):
        line = _VARIABLE.sub(lambda match: match[1] or variables.get(match[2], "").strip(), line)
    return line.replace("$$", "$")
