"""What a model's reply to a localisation names: files, folders, elements and lines, of those that it was shown.

A reply is read as lines, those of its fenced blocks where it has any. Only what was on offer is believed: a reply is
compared with it and otherwise not used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from magentless.elements import Element

FENCED = re.compile(r"^[ \t]*(```+|~~~+)[^\n]*\n(.*?)^[ \t]*\1", re.DOTALL | re.MULTILINE)
BULLET = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d+[.)]\s+)?")
KIND = re.compile(
    r"^(?:function|class|component|method|variable|constant|type|interface|element|rule|tag)\s*:?\s+", re.I
)
LINES = re.compile(r"^(?:lines?\s*:?\s*)?(\d+)(?:\s*(?:-|–|to)\s*(\d+))?$", re.I)
ADDED = re.compile(r"\s+\(lines? .*$")

Span = tuple[int, int]  # first and last line, from 1


def named(reply: str, known: Collection[str]) -> tuple[list[str], list[str]]:
    """The paths of `known` that the reply names, in its order; and what looks like a path and is none of them.

    A file in another folder than the reply says, or in none, is meant where one only is called so.
    """
    names = [name for line in _lines(reply) if (name := _path(line))]
    called = Counter(path.rpartition("/")[2] for path in known)
    whole = {path.rpartition("/")[2]: path for path in known}
    meant = {name: name if name in known else _only(name, called, whole) for name in names}
    foreign = (name for name, path in meant.items() if not path and "/" in name)
    return list(dict.fromkeys(filter(None, meant.values()))), list(foreign)


def _only(name: str, called: Mapping[str, int], whole: Mapping[str, str]) -> str:
    """The one path with this file's name; empty for several, none, and what has no ending."""
    last = name.rpartition("/")[2]
    return whole[last] if "." in last and called[last] == 1 else ""


def places(reply: str, files: Mapping[str, Sequence[Element]], lengths: Mapping[str, int]) -> dict[str, list[Span]]:
    """The spans that the reply names under each path, by element or by line; none for a path that stands alone."""
    found: dict[str, list[Span]] = {}
    path = ""
    for line in _lines(reply):
        if (name := _path(line)) in files:
            path = name
            found.setdefault(path, [])
        elif _foreign(name):
            path = ""
        elif path:
            found[path].extend(_spans(line, files[path], lengths[path]))
    return {path: list(dict.fromkeys(spans)) for path, spans in found.items()}


def _foreign(name: str) -> bool:
    """Whether a word is a path that was not on offer, whose lines are nobody's."""
    return "/" in name and "." in name.rpartition("/")[2] and not name.startswith("<")


def _spans(line: str, elements: Sequence[Element], length: int) -> Iterator[Span]:
    text = KIND.sub("", ADDED.sub("", BULLET.sub("", line)).strip().strip("`'\"*,"))
    if numbers := LINES.match(text):
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        if 1 <= first <= min(last, length):
            yield first, min(last, length)
        return
    exact = [element for element in elements if element.name == text]
    for element in exact or [one for one in elements if text and re.split(r"[. ]", one.name)[-1] == text]:
        yield element.start, element.end


def _lines(reply: str) -> Iterator[str]:
    for block in [block for _, block in FENCED.findall(reply)] or [reply]:
        yield from (line for line in block.splitlines() if line.strip())


def _path(line: str) -> str:
    """The path in a line, without bullet, number, quotes, `./`, a slash at its end, and what follows it."""
    words = BULLET.sub("", line).split()
    return words[0].strip("`'\"*,:").removeprefix("./").rstrip("/") if words else ""
