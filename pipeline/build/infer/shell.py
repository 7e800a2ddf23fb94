"""Shell texts as commands that can be run one by one: lines, and what `&&` joins.

A text with control flow, a here-document or a quote over several lines stays whole. `cd` moves the commands after it.
Does not cover variables that one command exports to the next.
"""

from __future__ import annotations

import posixpath
import re
from typing import NamedTuple

from pipeline.build.infer.tree import table
from pipeline.build.infer.words import is_closed

_WHOLE = re.compile(r"^\s*(?:if|for|while|until|case|function)\b|^\s*[({]|<<|\w\s*\(\)\s*\{", re.MULTILINE)
_CONTINUED = re.compile(r"[ \t]*\\\n\s*")
_CHANGE = re.compile(r"(?:cd|pushd)\s+(\S+)")
#: a change of the folder for the rest of the line
_CHANGED = re.compile(r"^((?:cd|pushd)\s+[^\s;]+)\s*;\s*(?=\S)")
#: a virtual display around a command: the browser of the image needs none
_DISPLAY = re.compile(
    r"""xvfb-run(?:\s+-[sne]\s*(?:"[^"]*"|'[^']*'|\S+)|\s+--?[\w-]+(?:=(?:"[^"]*"|'[^']*'|\S+))?)*\s+"""
)


class Command(NamedTuple):
    """One command, and the folder in which it runs; empty for the root."""

    text: str
    folder: str


def commands(text: str, folder: str = "") -> tuple[list[Command], str]:
    """The commands of a text that starts in `folder`, and the folder in which it ends. Folders outside the repository,
    or known only when the job runs, end it."""
    found = []
    for part in _parts(text):
        if change := _CHANGE.fullmatch(part):
            moved = inside(change[1], folder)
            if moved is None:
                break
            folder = moved
        else:
            found.append(Command(_DISPLAY.sub("", part), folder))
    return found, folder


def inside(path: str, folder: str = "") -> str | None:
    """A folder of the repository as services name it, from another one; None if it is outside or unknown."""
    root = re.match(table("ci.toml")["shell"]["root"], path.strip("'\""))
    rest = path.strip("'\"")[root.end() :] if root else path.strip("'\"")
    moved = posixpath.normpath(posixpath.join("" if root else folder, rest))
    if re.search(r"[$~<>{}]", moved) or moved.startswith(("/", "..", "-")):
        return None
    return "" if moved == "." else moved


def _parts(text: str) -> list[str]:
    text = _CONTINUED.sub(" ", text.strip())
    if _WHOLE.search(text):
        return [text]
    lines = [_CHANGED.sub(r"\1 && ", line.strip()) for line in text.splitlines()]
    found = [part for line in lines if line and not line.startswith("#") for part in _joined(line)]
    return found if all(map(is_closed, found)) else [text]


def _joined(line: str) -> list[str]:
    parts = [part.strip() for part in line.split("&&")]
    return [part for part in parts if part] if "||" not in line and all(map(is_closed, parts)) else [line]
