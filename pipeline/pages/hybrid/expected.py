"""Whether an answer contains the expected text. Pure functions.

Of a page, the visible text is compared (without scripts, styles and title); any other answer is compared as it is.
Letter case and white space are ignored.
"""

from __future__ import annotations

import re
from difflib import Match, SequenceMatcher
from fractions import Fraction
from html import unescape
from itertools import accumulate

from pipeline.pages.hybrid.formulas import likeness
from pipeline.pages.hybrid.records import Feedback, Level, Part

#: a tag from its name on; a value in quotes can contain `>`
_TAG = r"""(?:=\s*+(?:"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))|[^>])*+(?:>|\Z)"""
#: what is not visible: comments, declarations, elements with their content, tags. Anything without an end extends to
#: the end of the text, so the time is in proportion to the length of the text, which `html.parser` does not guarantee.
_UNSEEN = re.compile(
    rf"<!--.*?(?:-->|\Z)|<[!?][^>]*+(?:>|\Z)"
    rf"|<(script|style|template|title|noscript)(?=[\s/>]){_TAG}.*?(?:</\1(?=[\s/>]){_TAG}|\Z)|</?[a-z]{_TAG}",
    re.IGNORECASE | re.DOTALL,
)
_PAGE = re.compile(r"<!doctype html|<html|<body", re.IGNORECASE)
#: the maximum number of characters that are compared
LONGEST = 100_000
#: the maximum number of pairs of characters that are looked at to compare two texts: some seconds
PAIRS = 50_000_000


def text_of(answer: str) -> str:
    """The text of an answer for the comparison."""
    if not _PAGE.search(answer):
        return answer
    return unescape(_UNSEEN.sub(" ", answer))


def compare(answer: str, expected: str) -> Part:
    """The part of the score; missing if nothing was expected."""
    if not expected.strip():
        return Part()
    text, reference = _plain(text_of(answer))[:LONGEST], _plain(expected)[:LONGEST]
    words = set(re.findall(r"\w+", reference))
    shared = words & set(re.findall(r"\w+", text))
    same, ratio = text == reference, _ratio(text, reference)
    keywords = Fraction(len(shared), len(words)) if words else Fraction(0)
    score = likeness(same, ratio, keywords)
    detail = {"exact_match": same, "similarity": round(float(ratio), 4), "keywords": round(float(keywords), 4)}
    return Part(score=score, feedback=(_feedback(same, len(shared), len(words)),), detail=detail)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _ratio(text: str, reference: str) -> Fraction:
    """`SequenceMatcher.ratio` as an exact fraction, for texts that can be compared in time."""
    matching = sum(block.size for block in _Matcher(text, reference).get_matching_blocks())
    return Fraction(2 * matching, len(text) + len(reference))


class _Matcher(SequenceMatcher[str]):
    """Matches two texts, until it has looked at the maximum number of pairs. What is left then counts as different."""

    def __init__(self, text: str, reference: str) -> None:
        super().__init__(None, text, reference)
        places = {character: 1 + len(found) for character, found in vars(self)["b2j"].items()}
        self._pairs = list(accumulate((places.get(character, 1) for character in text), initial=0))
        self._left = PAIRS

    def find_longest_match(self, alo: int = 0, ahi: int | None = None, blo: int = 0, bhi: int | None = None) -> Match:
        self._left -= self._pairs[-1 if ahi is None else ahi] - self._pairs[alo]
        return super().find_longest_match(alo, ahi, blo, bhi) if self._left >= 0 else Match(alo, blo, 0)


def _feedback(same: bool, shared: int, words: int) -> Feedback:
    if same:
        return Feedback(level="success", message="The text is exactly the expected one.")
    level: Level = "info" if shared == words else "warning"
    return Feedback(level=level, message=f"The text has {shared} of the {words} expected words.")
