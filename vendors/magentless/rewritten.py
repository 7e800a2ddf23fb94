"""Files and windows that a reply gives anew, as a whole, where edits were asked for: taken as their difference.

A fenced block counts where it is plainly a piece of a file that was shown: most of the piece's lines are in it, in
their order. Its file is the one that it names, else the one that it is like. A block in which something is left out
(`...`, "rest of the file") is no piece, since it would delete what it does not say.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby

from magentless.edits import EXAMPLE, Edit, path_of
from magentless.replies import FENCED

#: the way that is recorded
WAY = "rewritten"
#: of a piece's lines, those that come again at least
LIKE = 0.6
_COMMENT = r"(?://|/\*|<!--|#)"
LEFT_OUT = re.compile(
    rf"\s*(?:\{{?{_COMMENT}\s*)?(?:\.\.\.|…)(?:\s|\*|-|$)"
    rf"|.*{_COMMENT}.*\b(?:rest of|existing|unchanged|omitted|as before)\b",
    re.I,
)

Piece = tuple[str, ...]


def pieces(lines: Sequence[str], shown: Sequence[int]) -> list[Piece]:
    """The runs of lines of a file that were shown, by their indices."""
    runs = groupby(enumerate(shown), key=lambda pair: pair[1] - pair[0])
    return [tuple(lines[index] for _, index in run) for _, run in runs]


def rewritten(reply: str, shown: Mapping[str, Sequence[Piece]]) -> list[Edit]:
    """An edit for each block that gives a piece anew, in the reply's order; `shown` has the pieces by path."""
    found: dict[tuple[str, Piece], Edit] = {}
    for path, block in _blocks(reply):
        offered = {path: shown[path]} if path in shown else {} if path else shown
        rated = [(_likeness(piece, block), one, piece) for one, all_of_it in offered.items() for piece in all_of_it]
        likeness, one, piece = max(rated, key=lambda each: each[0], default=(0.0, "", ()))
        if likeness >= LIKE and piece != block:
            found.setdefault((one, piece), Edit(one, piece, block, WAY))
    return list(found.values())


def _blocks(reply: str) -> Iterator[tuple[str, Piece]]:
    """The fenced blocks, each with the path that stands above it, behind its fence or in its first line."""
    for match in FENCED.finditer(reply):
        lines = tuple(match[2].removesuffix("\n").split("\n"))
        above = [line for line in reply[: match.start()].splitlines() if line.strip()][-1:]
        head = match[0].lstrip().split("\n", 1)[0]
        path = next(filter(None, map(path_of, (head, *above))), "")
        if not path and (path := path_of(lines[0])):
            lines = lines[1:]
        if path != EXAMPLE:
            yield path, lines


def _likeness(piece: Piece, block: Piece) -> float:
    """Of the lines of a piece that are not blank, the share that the block has too, in their order."""
    told, given = ([line.rstrip() for line in lines if line.strip()] for lines in (piece, block))
    if not told or any(LEFT_OUT.match(line) for line in set(block) - set(piece)):
        return 0.0
    if (Counter(told) & Counter(given)).total() < LIKE * len(told):
        return 0.0
    same = SequenceMatcher(None, told, given, autojunk=False).get_matching_blocks()
    return sum(match.size for match in same) / len(told)
