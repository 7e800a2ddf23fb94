"""The search/replace edits in a model's reply.

    ### path/to/file.tsx
    <<<<<<< SEARCH
    lines as the file has them
    =======
    lines in their place
    >>>>>>> REPLACE

Code fences and their language play no role. A path holds for all blocks up to the next path. A block that is not
closed (a reply cut short) is no edit. Paths are text here: nothing is opened or evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PATH_LINE = re.compile(r"#{1,6}\s+(?:\d+[.)]\s+)?(?:[Ff]ile:?\s+)?[`*]*([^\s`*]*[/.][^\s`*]*?)[`*:,]*(?:\s.*)?$")
SEARCH, DIVIDER, REPLACE = "<<<<<<< SEARCH", "=======", ">>>>>>> REPLACE"


@dataclass(frozen=True)
class Edit:
    """Lines to find in a file and the lines that take their place, without line ends."""

    path: str
    search: tuple[str, ...]
    replace: tuple[str, ...]

    @property
    def makes_file(self) -> bool:
        """An empty SEARCH asks for a new file."""
        return not any(line.strip() for line in self.search)


def parse_edits(reply: str) -> list[Edit]:
    """The edits that change something, in the reply's order. Without a path line, an edit's path is empty."""
    return [edit for edit in _edits(reply) if edit.search != edit.replace]


def _edits(reply: str) -> Iterator[Edit]:
    path, section = "", ""
    search: list[str] = []
    replace: list[str] = []
    for line in (line.rstrip("\r") for line in reply.split("\n")):
        mark = line.strip()
        if mark == SEARCH:
            section, search, replace = SEARCH, [], []
        elif mark == DIVIDER and section == SEARCH:
            section = REPLACE
        elif mark == REPLACE and section == REPLACE:
            yield Edit(path, tuple(search), tuple(replace))
            section = ""
        elif section:
            (search if section == SEARCH else replace).append(line)
        elif found := PATH_LINE.match(mark):
            path = found[1]
