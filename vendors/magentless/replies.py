"""What a localisation reply names: files, folders, elements and lines, of those that the model was shown.

A reply is read line by line, in its fenced blocks if it has any. Only names that the prompt listed are accepted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from magentless.elements import Element
from magentless.words import unwrapped

FENCED = re.compile(r"^[ \t]*(`{3,9}|~{3,9})[^\n]*\n(.*?)^[ \t]*\1", re.DOTALL | re.MULTILINE)
BULLET = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d+[.)]\s+)?")
KIND = re.compile(
    r"^(?:function|class|component|method|variable|constant|type|interface|element|rule|tag)\s*:?\s+", re.I
)
LINES = re.compile(r"^(?:lines?\s*:?\s*)?([0-9]{1,9})(?:\s*(?:-|–|to)\s*([0-9]{1,9}))?$", re.I)
ADDED = re.compile(r"\s+\(lines? .*$")

Span = tuple[int, int]  # first and last line, from 1


def named(reply: str, known: Collection[str]) -> tuple[list[str], list[str]]:
    """The paths of `known` that the reply names, in its order; and other texts that look like paths.

    A file name with another folder, or none, stands for the file of that name if there is only one.
    """
    names = [name for line in _lines(reply) if (name := _path(line))]
    called = Counter(path.rpartition("/")[2] for path in known)
    whole = {path.rpartition("/")[2]: path for path in known}
    meant = {name: name if name in known else _only(name, called, whole) for name in names}
    foreign = (name for name, path in meant.items() if not path and "/" in name)
    return list(dict.fromkeys(filter(None, meant.values()))), list(foreign)


def _only(name: str, called: Mapping[str, int], whole: Mapping[str, str]) -> str:
    """The only path with this file name; empty if there are none or several, or if the name has no extension."""
    last = name.rpartition("/")[2]
    return whole[last] if "." in last and called[last] == 1 else ""


def places(reply: str, files: Mapping[str, Sequence[Element]], lengths: Mapping[str, int]) -> dict[str, list[Span]]:
    """The spans that the reply names under each path, by element or by line; none for a path alone."""
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
    """Whether a word is a path that was not listed; lines below it are ignored."""
    return "/" in name and "." in name.rpartition("/")[2] and not name.startswith("<")


def _spans(line: str, elements: Sequence[Element], length: int) -> Iterator[Span]:
    text = KIND.sub("", ADDED.sub("", BULLET.sub("", line)).strip().strip("`'\"*,"))
    if numbers := LINES.match(text):
        first, last = int(numbers[1]), int(numbers[2] or numbers[1])
        if 1 <= first <= min(last, length):
            yield first, min(last, length)
        return
    exact = [element for element in elements if element.name == text]
    for element in exact or [element for element in elements if text and re.split(r"[. ]", element.name)[-1] == text]:
        yield element.start, element.end


def _lines(reply: str) -> Iterator[str]:
    for block in [block for _, block in FENCED.findall(reply)] or [reply]:
        yield from (line for line in block.splitlines() if line.strip())


def _path(line: str) -> str:
    """The path in a line, without bullet, number, link, tag, quotes, `./`, final slash, and following text."""
    words = BULLET.sub("", unwrapped(line)).split()
    return words[0].strip("`'\"*,:").removeprefix("./").rstrip("/") if words else ""
