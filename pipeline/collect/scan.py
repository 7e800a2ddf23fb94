"""Finding many patterns in many texts in about one pass.

One pass of RE2 over all texts finds where any pattern can match, and a second one over the few texts with such places
finds which patterns can. (RE2 is linear, has wheels for every Python, and accepts the patterns as they are.) Python's
`re` then searches these places. RE2 gets a wider form of each pattern and text, so the result equals that of a loop
over all patterns and texts. Patterns that RE2 cannot express are searched for in every text.
"""

from __future__ import annotations

import re
from bisect import bisect, bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from typing import Any

#: classes that match more in Python than in RE2 -> the wider form, as the inside of a class
_CLASSES = {r"\s": r"\s\x0b\x1c-\x1f\x85\xa0?", r"\w": r"\w\x80-\xff?", r"\d": r"\d?"}
#: assertions on the beginning of a text or word: removed, since texts are joined and RE2's words are ASCII
_BORDERS = {"^", r"\A", r"\b"}
_TOKEN = re.compile(r"\[((?:\\.|[^\]\\])+)\]|\\.|\^", re.DOTALL)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
#: patterns that cannot be widened: a wider part would make the whole narrower, or Python and RE2 differ
_DIFFERENT = re.compile(r"\[[\^:\]]|\$|\\[BZz0-7x]|\{,|[^\x00-\x7f]")
#: a pattern that matches nowhere
_NOTHING = rb"[^\x00-\xff]"
#: letters that Python equates with others if case is ignored, and RE2 does not
_ALIKE = {"ı": "i", "İ": "i", "ſ": "s", "\u212a": "k"}


class Scanner:
    """Patterns to search for, ignoring case; those in `unfiltered` are searched for in every text.

    Raises re.error for an invalid pattern.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = [re.compile(pattern, re.IGNORECASE) for pattern in patterns]
        self._any, self._set, self._members = _prefilter(patterns)
        self.unfiltered = {*range(len(patterns))} - {*self._members}

    def find(self, texts: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
        """Every match with the index of its text: text by text, and pattern by pattern within each."""
        places = self._places(texts)
        for index in range(len(texts)) if self.unfiltered else places:
            text = texts[index]
            for number in sorted(self._hits(text) | self.unfiltered):
                pattern = self.patterns[number]
                everywhere = number in self.unfiltered
                matches = pattern.finditer(text) if everywhere else _matches(pattern, text, places[index])
                yield from ((index, match) for match in matches)

    def _places(self, texts: Sequence[str]) -> defaultdict[int, list[int]]:
        """The places where a match of any pattern can begin, in order, by the index of the text.

        All texts are searched as one. A match that spans several texts counts in each of them, so it hides nothing.
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
    """The same as `finditer`, for a pattern whose matches can only begin at these places."""
    end = 0
    for place in places:
        if place >= end and (match := pattern.match(text, place)):
            yield match
            end = match.end()


def _readable(text: str) -> bytes:
    """A text for RE2, one byte per character; characters outside Latin-1 become `?`, which is in every wider class."""
    for letter, plain in _ALIKE.items():
        text = text.replace(letter, plain)
    return text.encode("latin-1", "replace")


def _prefilter(patterns: Sequence[str]) -> tuple[Any, Any, list[int]]:
    """All patterns as one, the set that says which of them match, and the pattern's index for each of its members."""
    import re2

    options = re2.Options()
    options.case_sensitive, options.log_errors, options.never_capture, options.max_mem = False, False, True, 64 << 20
    options.encoding = options.Encoding.LATIN1
    wide_patterns, pattern_set = {}, re2.Set.SearchSet(options)
    for index, pattern in enumerate(patterns):
        with suppress(re2.error):
            wide_pattern = widen(pattern).encode()
            # a pattern that matches an empty text would hide the others
            if not (_DIFFERENT.search(pattern) or re2.search(wide_pattern, b"", options)):
                wide_patterns[index] = b"(?:%b)" % wide_pattern
                pattern_set.Add(wide_pattern)
    pattern_set.Compile()
    return re2.compile(b"|".join(wide_patterns.values()) or _NOTHING, options), pattern_set, list(wide_patterns)


def widen(pattern: str) -> str:
    """A pattern for RE2 that matches in readable bytes wherever Python's does in the text."""

    def wider(match: re.Match[str]) -> str:
        if match[1]:
            return f"[{_ESCAPE.sub(lambda escape: _CLASSES.get(escape[0], escape[0]), match[1])}]"
        return "" if match[0] in _BORDERS else f"[{_CLASSES[match[0]]}]" if match[0] in _CLASSES else match[0]

    return _TOKEN.sub(wider, pattern)
