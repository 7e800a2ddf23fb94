"""Files and windows that a reply repeats in full instead of giving edits: turned into edits.

A fenced block counts if it is clearly a piece of a file that was shown: it contains most of the piece's lines in order.
Its file is the one that it names, else the most similar one. It replaces the lines from its first to its last one:
an excerpt deletes nothing above or below it. A block with omissions (`...`, "rest of the file") does not count, since
it would delete what it omits, nor does one in another form (a diff, an edit that changes nothing), nor one that is not
closed, unless it ends as the piece does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import Match, SequenceMatcher
from itertools import groupby

from magentless.edits import EXAMPLE, Edit
from magentless.paths import meant, path_of
from magentless.replies import FENCED

#: the recorded way of matching
WAY = "rewritten"
#: the minimum share of a piece's lines that a block repeats
LIKE = 0.6
#: characters above a block in which its path can be
ABOVE = 1000
_COMMENT = r"(?://|/\*|<!--|#)"
LEFT_OUT = re.compile(
    rf"\s*(?:\{{?{_COMMENT}\s*)?(?:\.\.\.|…)(?:\s|\*|-|$)"
    rf"|.*{_COMMENT}.*\b(?:rest of|existing|unchanged|omitted|as before)\b",
    re.I,
)

#: lines of other forms, which no file has: those around the two texts of an edit, and the fence of a diff
OTHER_FORM = re.compile(r"[\s*`]*(?:[-+<>=#]{4,}\s*(?:SEARCH|REPLACE)\b|[<>]{6})", re.I)
DIFF = re.compile(r"\s*[`~]{3,}\s*(?:diff|patch)\b", re.I)

Piece = tuple[str, ...]


def pieces(lines: Sequence[str], shown: Sequence[int]) -> list[Piece]:
    """The contiguous ranges of shown lines of a file, by index."""
    runs = groupby(enumerate(shown), key=lambda pair: pair[1] - pair[0])
    return [tuple(lines[index] for _, index in run) for _, run in runs]


def rewritten(reply: str, shown: Mapping[str, Sequence[Piece]]) -> list[Edit]:
    """An edit for each block that repeats a piece, in the reply's order; `shown` has the pieces by path."""
    found: dict[tuple[str, Piece], Edit] = {}
    for path, block, is_closed in _blocks(reply):
        path = meant(path, shown) or path
        offered = {path: shown[path]} if path in shown else {} if path else shown
        rated = [(_likeness(piece, block), name, piece) for name, pieces in offered.items() for piece in pieces]
        likeness, name, piece = max(rated, key=lambda each: each[0], default=(0.0, "", ()))
        if likeness < LIKE or not (is_closed or _last(piece) == _last(block)):
            continue
        old, new = _covered(piece, block)
        if old != new:
            found.setdefault((name, piece), Edit(name, old, new, WAY))
    return list(found.values())


def unread(reply: str, shown: Mapping[str, Sequence[Piece]], read: Collection[str]) -> str:
    """The path of a shown file, except for those of `read`, under which a block has new lines; empty without one."""
    for path, block, _ in _blocks(reply):
        name = meant(path, shown)
        known = {line.strip() for piece in shown.get(name, ()) for line in piece}
        new = [line for line in block if line.strip() and line.strip() not in known and not LEFT_OUT.match(line)]
        if name and name not in read and new and not any(map(OTHER_FORM.match, block)):
            return name
    return ""


def _blocks(reply: str) -> Iterator[tuple[str, Piece, bool]]:
    """The fenced blocks, each with the path above it, after its fence or in its first line; and if it is closed."""
    for match in FENCED.finditer(reply):
        lines = tuple(match[2].removesuffix("\n").split("\n"))
        above = reply[max(0, match.start() - ABOVE) : match.start()].rstrip().splitlines()[-1:]
        head = match[0].lstrip().split("\n", 1)[0]
        path = next(filter(None, map(path_of, (head, *above))), "")
        if not path and (path := path_of(lines[0])):
            lines = lines[1:]
        if path != EXAMPLE and not DIFF.match(head):
            yield path, lines, bool(match["end"])


def _likeness(piece: Piece, block: Piece) -> float:
    """The share of a piece's non-blank lines that the block contains in order."""
    wanted, given = (list(_filled(lines).values()) for lines in (piece, block))
    if any(map(OTHER_FORM.match, block)):
        return 0.0
    if not wanted or any(LEFT_OUT.match(line) for line in set(block) - set(piece)):
        return 0.0
    if (Counter(wanted) & Counter(given)).total() < LIKE * len(wanted):
        return 0.0
    return sum(match.size for match in _same(wanted, given)) / len(wanted)


def _covered(piece: Piece, block: Piece) -> tuple[Piece, Piece]:
    """The part of a piece that a similar block replaces, and its replacement. If the block begins (ends) with a line of
    the piece, the part begins (ends) with it, too."""
    old, new = _filled(piece), _filled(block)
    runs = _same(list(old.values()), list(new.values()))
    first, last, at, to = runs[0], runs[-1], list(old), list(new)
    head = (at[first.a], to[0]) if first.b == 0 else (0, 0)
    tail = (at[last.a + last.size - 1] + 1, to[-1] + 1) if last.b + last.size == len(new) else (len(piece), len(block))
    return piece[head[0] : tail[0]], block[head[1] : tail[1]]


def _last(lines: Piece) -> str:
    """The last line that is not blank."""
    return next(reversed(_filled(lines).values()), "")


def _filled(lines: Piece) -> dict[int, str]:
    """The lines that are not blank, by index, without white space at their ends."""
    return {index: line.rstrip() for index, line in enumerate(lines) if line.strip()}


def _same(wanted: Sequence[str], given: Sequence[str]) -> list[Match]:
    """The runs of lines that both have, in order."""
    return SequenceMatcher(None, wanted, given, autojunk=False).get_matching_blocks()[:-1]
