"""The search/replace edits in a model's reply, as models write them.

    ### path/to/file.tsx
    <<<<<<< SEARCH
    lines as the file has them
    =======
    lines that replace them
    >>>>>>> REPLACE

Code fences and their language are ignored. A path may be a heading, alone on its line, bold, a link, in a tag, after a
label, in a comment, after the fence or after SEARCH (there also quoted or bold), with or without `./`. It applies to
all blocks up to the next path. Marks have six to eight characters, and their word may be missing. A reply with a block
that is not complete has no edits: the other blocks are only a part of the change. Paths are only text here: nothing is
opened or evaluated. Replies with whole files are parsed by rewritten.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from magentless.causes import Cause, Ended
from magentless.words import unwrapped

#: the path of the prompt's example, which is ignored
EXAMPLE = "path/to/file.tsx"
#: the path of a heading needs an extension, and without a folder also a letter: `### 1. Add a label` has no path
HEADING = re.compile(
    r"#{1,6}\s+(?:\d+[.)]\s+)?(?:[Ff]ile(?:\s+(?:path|\d+))?:?\s+)?[`*]*"
    r"((?:/?(?:[^\s`*/]+/)+[^\s`*/]+|[^\s`*/]*[A-Za-z_][^\s`*/]*)\.[A-Za-z]\w{0,8}(?:(?::\d+){1,2}(?:-\d+)?)?)"
    r"[`*:,]*(?:\s.*)?$"
)
#: what may precede a path that is not a heading: a bullet, a comment sign, a verb, a label
BEFORE = re.compile(
    r"(?:(?:[-+•]|\*(?=\s)|\d+[.)]|//|/\*|<!--|#)\s*)*[`*\"']*(?P<verb>(?:(?:changes\s+)?in|edit|modify|update)\s+)?"
    r"(?:(?:file(?:name)?|path)(?:\s+(?:path|name|\d+))?\s*:?[`*\"']*\s+)?",
    re.I,
)
#: characters that rule out a path in a word without a slash
BULLETS = "-+•0123456789.) "
#: a path, followed only by the end of a comment, bold text or a label
ALONE = re.compile(r"([`*\"']*)((?:[^\s`*\"'/]+/)*[^\s`*\"'/]+\.\w{1,9})[`*\"']*:?[`*]*(?:\s*(?:\*/|-->))?$")
#: a path after a fence's language: ```tsx src/a.tsx, ```tsx:src/a.tsx, ```tsx title="src/a.tsx"
FENCE = re.compile(
    r"(?:```+|~~~+)(?:[\w-]*[\s:])?(?:(?:title|file(?:name)?|path)=)?[\"'{]*((?:[^\s\"'/:]+/)+[^\s\"'/]+\.\w{1,9})"
)
SEARCH = re.compile(r"<{6,8}\s*(?:(?:SEARCH|ORIGINAL|HEAD)\b(?:\s+BLOCK\b)?)?:?\s*[`*\"']*([^\s<>]*?)[`*\"']*:?$", re.I)
DIVIDER = re.compile(r"={6,8}$")
#: with any word, as of a branch in git's conflicts, and with the fence if that is not on a line of its own
REPLACE = re.compile(r">{6,8}\s*[\w./-]*(?:\s+BLOCK)?`*$", re.I)
#: a place in a file, as compilers write it after a path
PLACE = re.compile(r"(?::[0-9]+){1,2}(?:-[0-9]+)?$")
#: the heading of a window in the repair prompt, and the line numbers of numbered prompts
WINDOW = re.compile(r"\[lines \d+-\d+ of \d+\]$")
NUMBER = re.compile(r"\s*([0-9]{1,9})\s*([|:)]) ?")
#: characters of a line that can name a file; a longer one is a model's that repeats itself
LONGEST = 500


@dataclass(frozen=True)
class Edit:
    """Lines to find in a file and their replacement, without line ends. `way` says how they were derived if the reply
    does not contain them literally."""

    path: str
    search: tuple[str, ...]
    replace: tuple[str, ...]
    way: str = ""

    @property
    def makes_file(self) -> bool:
        """Whether the edit creates a file: its SEARCH is empty."""
        return not any(line.strip() for line in self.search)

    @property
    def trimmed(self) -> Edit | None:
        """The edit without blank lines at the ends of SEARCH, and as many of REPLACE; None if there are none."""
        head, tail = _blank(self.search), _blank(self.search[::-1])
        if self.makes_file or not head + tail:
            return None
        new = self.replace[min(head, _blank(self.replace)) :]
        new = new[: len(new) - min(tail, _blank(new[::-1]))]
        return replace(self, search=self.search[head : len(self.search) - tail], replace=new)

    @property
    def unnumbered(self) -> Edit | None:
        """The edit without line numbers that were copied with the lines; None if there are none. New lines may have
        none, and are then left alone."""
        marks = [NUMBER.match(line) for line in self.search if line.strip()]
        numbers, signs = [int(mark[1]) for mark in marks if mark], {mark[2] for mark in marks if mark}
        if len(numbers) < len(marks) or len(signs) != 1 or sorted(set(numbers)) != numbers:
            return None
        search, new = (tuple(_unnumbered(line, *signs) for line in part) for part in (self.search, self.replace))
        return replace(self, search=search, replace=new)


def _blank(lines: Sequence[str]) -> int:
    """The number of blank lines at the beginning."""
    return sum(1 for _ in takewhile(lambda line: not line.strip(), lines))


def _unnumbered(line: str, sign: str) -> str:
    """A line without the number before it, if the sign after the number is this one."""
    mark = NUMBER.match(line)
    return line[mark.end() :] if mark and mark[2] == sign else line


def parse_edits(reply: str) -> list[Edit]:
    """The edits that change something, in the reply's order. An edit without a path line has an empty path.

    Raises Ended (NO_EDITS) for a block that is not complete.
    """
    return [edit for edit in _edits(reply) if edit.search != edit.replace and edit.path != EXAMPLE]


def path_of(line: str) -> str:
    """The path in a line that only names a file; empty for any other line."""
    if len(line := line.strip()) > LONGEST:
        return ""
    line = unwrapped(line)
    if found := HEADING.match(line) or FENCE.match(line):
        return clean(found[1])
    before = BEFORE.match(line)
    if not before or not (found := ALONE.match(line, before.end())):
        return ""
    label = line[: before.end()].replace(before["verb"] or "", "", 1)
    told = "/" in found[2] or label.lstrip(BULLETS)
    return clean(found[2]) if told else ""


def clean(path: str) -> str:
    """A path without `./` before it and without a place (`:12`) after it."""
    return PLACE.sub("", re.sub(r"^(?:\./)+", "", path))


def _edits(reply: str) -> Iterator[Edit]:
    path, section = "", ""
    search: list[str] = []
    new: list[str] = []
    for line in (line.rstrip("\r") for line in reply.split("\n")):
        mark = line.strip()
        if (found := SEARCH.match(mark)) and (not found[1] or "." in found[1]):
            _require_closed(section, path)
            path = clean(found[1]) or path
            section, search, new = "search", [], []
        elif section == "search" and DIVIDER.match(mark):
            section = "replace"
        elif section == "replace" and REPLACE.match(mark):
            yield Edit(path, _lines(search), _lines(new))
            section = ""
        elif section:
            (search if section == "search" else new).append(line)
        else:
            path = path_of(mark) or path
    _require_closed(section, path)


def _require_closed(section: str, path: str) -> None:
    """Raise Ended if a block, except for one of the prompt's example, is still open."""
    if section and path != EXAMPLE:
        missing = "=======" if section == "search" else ">>>>>>> REPLACE"
        raise Ended(Cause.NO_EDITS, f"repair: a block for {path!r} is not complete: it has no line `{missing}`")


def _lines(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines of a part, without headings of windows, and without a fence around them."""
    kept = [line for line in lines if not WINDOW.match(line.strip())]
    fenced = len(kept) > 1 and kept[0].strip().startswith("```") and kept[-1].strip() == "```"
    return tuple(kept[1:-1] if fenced else kept)
