"""What a localisation reply names: files, folders, elements and lines, of those that the model was shown.

A reply is read line by line, in its fenced blocks if it has any; the last one may lack its end. Only names that the
prompt listed are accepted. A line may name several files, in a list or as JSON, and places after the path.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from magentless.elements import Element
from magentless.paths import LONGEST, Reading, meant, read

FENCED = re.compile(r"^[ \t]*(`{3,9}|~{3,9})[^\n]*\n(.*?)(?:^[ \t]*(?P<end>\1)|\Z)", re.DOTALL | re.MULTILINE)
BULLET = re.compile(r"^\s*(?:#{1,6}\s+|[-*+•]\s+|\d+[.)]\s+)?")
KIND = re.compile(
    r"^(?:function|class|component|method|variable|constant|type|interface|element|rule|tag)\s*:?\s+", re.I
)
#: a line or a range of lines, and one or more of them
_RANGE = r"L?([0-9]{1,9})(?![0-9])(?:\s*(?:-|–|—|to)\s*L?([0-9]{1,9})(?![0-9]))?"
RANGE = re.compile(_RANGE, re.I)
_LINE = r"lines?\b[\s:#\"'\[=]*"
_RANGES = rf"{_RANGE}(?:\s*(?:,|;|&|and)\s*(?:{_LINE})?{_RANGE})*"
LINES = re.compile(rf"(?P<word>{_LINE}|(?=L[0-9]))?(?P<ranges>{_RANGES})(?![-.]?\w|-)", re.I)
#: what may follow the name of an element: parentheses, a note, a remark; and numbers without the word `line`: a note
REMARK = re.compile(r"[`'\"*]*(?:\(\)|\s+[(–—-]|:\s).*")
NOTE = re.compile(r"\s*(?:\(.*)?$")
#: between two objects of JSON on one line
OBJECTS = re.compile(r"(?<=\}),\s*(?=\{)")
#: marks around a name or a number
AROUND = " \t`'\"*,:;|#[](){}"

Span = tuple[int, int]  # first and last line, from 1


def named(reply: str, known: Collection[str]) -> tuple[list[str], list[str]]:
    """The paths of `known` that the reply names, in its order; and other texts that look like paths.

    A file name with another folder, or none, stands for the file of that name if there is only one.
    """
    called = Counter(path.rpartition("/")[2] for path in known)
    whole = {path.rpartition("/")[2]: path for path in known}
    found: dict[str, None] = {}
    foreign: dict[str, None] = {}
    for reading in map(read, _lines(reply)):
        paths = [name if name in known else _only(name, called, whole) for name in _names(reading)]
        found.update(dict.fromkeys(filter(None, paths)))
        if not any(paths) and _names(reading) and (name := _foreign(reading)):
            foreign[name] = None
    return list(found), list(foreign)


def _only(name: str, called: Mapping[str, int], whole: Mapping[str, str]) -> str:
    """The only path with this file name; empty if there are none or several, or if the name has no extension."""
    last = name.rpartition("/")[2]
    return whole[last] if "." in last and called[last] == 1 else ""


def places(reply: str, files: Mapping[str, Sequence[Element]], lengths: Mapping[str, int]) -> dict[str, list[Span]]:
    """The spans that the reply names under each path, by element or by line; none for a path alone."""
    found: dict[str, list[Span]] = {}
    path = ""
    for line in _lines(reply):
        reading = read(line)
        if paths := list(filter(None, (meant(name, files) for name in _names(reading)))):
            path, line = paths[-1], reading.rest
            found.update({path: found.get(path, []) for path in paths})
        elif "." in _foreign(reading).rpartition("/")[2]:
            path = ""
        if path:
            found[path].extend(_spans(line, files[path], lengths[path]))
    return {path: list(dict.fromkeys(spans)) for path, spans in found.items()}


def _names(reading: Reading) -> tuple[str, ...]:
    """The words of a line that can be paths: those of a sentence (`In src/A.tsx the ...`) are none."""
    return reading.paths if reading.is_alone or not reading.is_said else ()


def _foreign(reading: Reading) -> str:
    """The first word of a line if it looks like a path; lines below one that was not listed are ignored."""
    word = next(iter(reading.text.split()), "").strip(AROUND)
    return word if "/" in word and not reading.text.startswith("<") else ""


def _spans(line: str, elements: Sequence[Element], length: int) -> Iterator[Span]:
    text = KIND.sub("", BULLET.sub("", line[:LONGEST]).strip(AROUND))
    numbers = LINES.match(text)
    if numbers and (numbers["word"] is not None or NOTE.match(text, numbers.end())):
        yield from _ranges(numbers["ranges"], length)
        return
    for name in (text, REMARK.sub("", text)):
        exact = [element for element in elements if element.name == name]
        if called := exact or [each for each in elements if name and re.split(r"[. ]", each.name)[-1] == name]:
            yield from ((element.start, element.end) for element in called)
            return


def _ranges(text: str, length: int) -> Iterator[Span]:
    """The lines and ranges of lines in a list, as far as the file has them."""
    for first, last in RANGE.findall(text):
        start, end = int(first), min(int(last or first), length)
        if 1 <= start <= end:
            yield start, end


def _lines(reply: str) -> Iterator[str]:
    for block in [block for _, block, _ in FENCED.findall(reply)] or [reply]:
        yield from (line for text in block.splitlines() for line in OBJECTS.split(text) if line.strip())
