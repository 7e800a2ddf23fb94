"""The search/replace edits in a model's reply, as models write them.

    ### path/to/file.tsx
    <<<<<<< SEARCH
    lines as the file has them
    =======
    lines that replace them
    >>>>>>> REPLACE

Code fences and their language are ignored. A path (paths.py) stands on a line before the block, or after a mark. It
applies to all blocks up to the next path. Marks may be longer or shorter, bold or quoted, and their word may be
missing. A reply with a block that is not complete, or with a line that looks like a mark and is not understood, has no
edits: the other blocks are only a part of the change. Replies with whole files are parsed by rewritten.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, starmap, takewhile

from magentless.causes import Cause, Ended
from magentless.paths import LONGEST, path_of

#: the path of the prompt's example, which is ignored
EXAMPLE = "path/to/file.tsx"
#: what may be around a mark: bold, quotes, a fence
AROUND = " \t`*\"'"
_BLOCK = r"(?:\s+(?:BLOCK|#?\d+)\b)*"
SEARCH = re.compile(rf"(?:<{{4,}}\s*(?:SEARCH|ORIGINAL|HEAD)\b{_BLOCK}|<{{6,8}}(?!<))(.*)$", re.I)
#: the first that any line of a block matches decides: other such lines, as below a title, are content
DIVIDERS = re.compile(r"={7}$|={4,}\s*REPLACE:?$", re.I), re.compile(r"={6,8}$"), re.compile(r"={5,}$")
#: with any word, as of a branch in git's conflicts
REPLACE = re.compile(rf">{{4,}}\s*REPLACE\w*{_BLOCK}(.*)$|>{{6,8}}\s*[\w./-]*$", re.I)
#: what else was meant as a mark: such a line, or one that has such words outside of its quoted code
LIKE_MARK = re.compile(r"[<>]{6}|<{4,}.*SEARCH|>{4,}.*REPLACE", re.I)
HAS_MARK = re.compile(r"(?:(?<!<)<{4,}+[^\w<]*SEARCH|(?<!>)>{4,}+[^\w>]*REPLACE)\b", re.I)
CODE = re.compile(r"`[^`]+`")
NOTE = re.compile(r"\((.*)\)$")
#: the heading of a window in the repair prompt, and the line numbers of numbered prompts
WINDOW = re.compile(r"\[lines \d+-\d+ of \d+\]$")
NUMBER = re.compile(r"\s*L?([0-9]{1,9})(?:\s*([|:)]|\.(?=\s|$)) ?|\t)")


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
        marks = {place: NUMBER.match(line) for place, line in enumerate(self.search) if line.strip()}
        numbers = [(place, int(mark[1])) for place, mark in marks.items() if mark]
        signs = {mark[2] for mark in marks.values() if mark}
        if len(numbers) < len(marks) or len(signs) != 1 or not all(starmap(_consecutive, pairwise(numbers))):
            return None
        search, new = (tuple(_unnumbered(line, *signs) for line in part) for part in (self.search, self.replace))
        return replace(self, search=search, replace=new)


def _blank(lines: Sequence[str]) -> int:
    """The number of blank lines at the beginning."""
    return sum(1 for _ in takewhile(lambda line: not line.strip(), lines))


def _consecutive(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether two lines, each a place and a number, follow each other. Blank lines between them may be counted."""
    return other[1] - one[1] in (1, other[0] - one[0])


def _unnumbered(line: str, sign: str | None) -> str:
    """A line without the number before it, if the sign after the number is this one (None: a tab)."""
    mark = NUMBER.match(line)
    return line[mark.end() :] if mark and mark[2] == sign else line


def parse_edits(reply: str) -> list[Edit]:
    """The edits that change something, in the reply's order. An edit without a path line has an empty path.

    Raises Ended (NO_EDITS) for a block that is not complete, and for a mark that is not understood.
    """
    return [edit for edit in _edits(reply) if edit.search != edit.replace and edit.path != EXAMPLE]


def _edits(reply: str) -> Iterator[Edit]:
    path = ""
    block: list[str] | None = None
    for line in (line.rstrip("\r") for line in reply.split("\n")):
        mark = line.strip(AROUND)
        if (told := _told(SEARCH, mark)) is not None:
            _require_closed(block, path)
            path, block = told or path, []
        elif block is not None and (told := _told(REPLACE, mark)) is not None and (at := _divider(block)) is not None:
            yield Edit(path or told, _lines(block[:at]), _lines(block[at + 1 :]))
            block = None
        elif LIKE_MARK.match(mark) or HAS_MARK.search(CODE.sub("", line)):
            _require_closed(block, path)
            raise Ended(Cause.NO_EDITS, f"repair: the line {line.strip()[:LONGEST]!r} is not understood")
        elif block is not None:
            block.append(line)
        else:
            path = path_of(line) or path
    _require_closed(block, path)


def _told(pattern: re.Pattern[str], mark: str) -> str | None:
    """The path after a mark, empty without one. None if the line is not this mark, or has other text after it."""
    if not (found := pattern.match(mark)):
        return None
    text = (found[1] or "").strip(f"{AROUND}:")
    note = NOTE.match(text)
    path = path_of(f"# {note[1] if note else text}")
    return path or ("" if note or not text else None)


def _divider(block: Sequence[str]) -> int | None:
    """The index of the line between SEARCH and REPLACE."""
    marks = [line.strip(AROUND) for line in block]
    return next((at for divider in DIVIDERS for at, mark in enumerate(marks) if divider.match(mark)), None)


def _require_closed(block: Sequence[str] | None, path: str) -> None:
    """Raise Ended if a block, except for one of the prompt's example, is still open."""
    if block is not None and path != EXAMPLE:
        missing = "=======" if _divider(block) is None else ">>>>>>> REPLACE"
        raise Ended(Cause.NO_EDITS, f"repair: a block for {path!r} is not complete: it has no line `{missing}`")


def _lines(lines: Sequence[str]) -> tuple[str, ...]:
    """The lines of a part, without headings of windows, and without a fence around them."""
    kept = [line for line in lines if not WINDOW.match(line.strip())]
    fenced = len(kept) > 1 and kept[0].strip().startswith("```") and kept[-1].strip() == "```"
    return tuple(kept[1:-1] if fenced else kept)
