"""Finding many patterns in many texts in about one pass.

RE2 finds in one pass over many texts where any pattern can match, and in one pass over those few texts which patterns
can. (It is linear, has wheels for every Python, and accepts the patterns as they are.) Python's `re` then looks there.
RE2 sees a wider form of each pattern and text, so the result equals that of a loop over all patterns and texts. What
RE2 cannot express is always searched for.
"""

from __future__ import annotations

import re
from bisect import bisect, bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any

#: classes that hold more for Python than for RE2 -> the wider form, as the inside of a class
_CLASSES = {r"\s": r"\s\x0b\x1c-\x1f\x85\xa0?", r"\w": r"\w\x80-\xff?", r"\d": r"\d?"}
#: what asks whether a text or a word begins: left out, since texts are joined and RE2's words are ASCII
_BORDERS = {"^", r"\A", r"\b"}
_TOKEN = re.compile(r"\[((?:\\.|[^\]\\])+)\]|\\.|\^", re.DOTALL)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
#: here a wider part would make the whole narrower, or the two languages differ
_DIFFERENT = re.compile(r"\[[\^:\]]|\$|\\[BZz0-7x]|\{,|[^\x00-\x7f]")
#: what matches nowhere
_NOTHING = rb"[^\x00-\xff]"
#: letters that Python takes for others when case is ignored, and RE2 does not
_ALIKE = {"ı": "i", "İ": "i", "ſ": "s", "\u212a": "k"}


class Scanner:
    """Patterns to look for, case ignored; `unfiltered` are those that are searched for in every text.

    Raises re.error for a pattern that Python does not take.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = [re.compile(pattern, re.IGNORECASE) for pattern in patterns]
        self._any, self._set, self._members = _prefilter(patterns)
        self.unfiltered = {*range(len(patterns))} - {*self._members}

    def find(self, texts: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
        """Every match, with the index of its text: text by text, and in each pattern by pattern."""
        places = self._places(texts)
        for index in range(len(texts)) if self.unfiltered else places:
            text = texts[index]
            for number in sorted(self._hits(text) | self.unfiltered):
                pattern = self.patterns[number]
                found = pattern.finditer(text) if number in self.unfiltered else _matches(pattern, text, places[index])
                yield from ((index, match) for match in found)

    def _places(self, texts: Sequence[str]) -> defaultdict[int, list[int]]:
        """By the index of a text: the places in it where a match of any pattern can begin, in order.

        All texts are searched as one, and whatever is found counts in every text that it touches: what begins in one
        text and ends in the next hides nothing in either.
        """
        places: defaultdict[int, list[int]] = defaultdict(list)
        starts = list(accumulate(map(len, texts), initial=0))
        for start, end in (match.span() for match in self._any.finditer(_readable("".join(texts)))):
            for index in range(bisect(starts, start) - 1, bisect_left(starts, end)):
                places[index] += range(max(start - starts[index], 0), end - starts[index])
        return places

    def _hits(self, text: str) -> set[int]:
        return {self._members[hit] for hit in self._set.Match(_readable(text)) or ()}


def _matches(pattern: re.Pattern[str], text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """What `finditer` gives, for a pattern whose matches begin at some of these places."""
    end = 0
    for place in places:
        if place >= end and (match := pattern.match(text, place)):
            yield match
            end = match.end()


def _readable(text: str) -> bytes:
    """A text for RE2, a byte for each character: `?`, which is in every wider class, where Latin-1 has none."""
    for letter, plain in _ALIKE.items():
        text = text.replace(letter, plain)
    return text.encode("latin-1", "replace")


def _prefilter(patterns: Sequence[str]) -> tuple[Any, Any, list[int]]:
    """All patterns as one, the set that tells them apart, and the pattern behind each of its members."""
    import re2

    options = re2.Options()
    options.case_sensitive, options.log_errors, options.never_capture, options.max_mem = False, False, True, 64 << 20
    options.encoding = options.Encoding.LATIN1
    wide, found = {}, re2.Set.SearchSet(options)
    for index, pattern in enumerate(patterns):
        with suppress(re2.error):
            one = widen(pattern).encode()
            # what matches where nothing is would hide the others
            if not (_DIFFERENT.search(pattern) or re2.search(one, b"", options)):
                wide[index] = b"(?:%b)" % one
                found.Add(one)
    found.Compile()
    return re2.compile(b"|".join(wide.values()) or _NOTHING, options), found, list(wide)


def widen(pattern: str) -> str:
    """A pattern for RE2 that matches in readable bytes wherever Python's does in the text."""

    def wider(match: re.Match[str]) -> str:
        if match[1]:
            return f"[{_ESCAPE.sub(lambda escape: _CLASSES.get(escape[0], escape[0]), match[1])}]"
        return "" if match[0] in _BORDERS else f"[{_CLASSES[match[0]]}]" if match[0] in _CLASSES else match[0]

    return _TOKEN.sub(wider, pattern)
