"""Whether an answer says what was expected of it. Pure functions.

A page counts by the texts that people are shown (no script, no style, no title), any other answer as it is; case and
white space do not count.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from fractions import Fraction
from html.parser import HTMLParser

from pipeline.pages.hybrid.formulas import likeness
from pipeline.pages.hybrid.records import Feedback, Level, Part

#: what is in there nobody is shown
_UNSEEN = ("script", "style", "template", "title", "noscript")
_PAGE = re.compile(r"<!doctype html|<html|<body", re.IGNORECASE)
#: characters that are compared at most
LONGEST = 100_000


class _Texts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._inside = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if not self._inside and tag in _UNSEEN:
            self._inside = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = ""

    def handle_data(self, data: str) -> None:
        if not self._inside:
            self.found.append(data)


def text_of(answer: str) -> str:
    """The text of an answer that is compared."""
    if not _PAGE.search(answer):
        return answer
    texts = _Texts()
    texts.feed(answer)
    texts.close()
    return " ".join(texts.found)


def compare(answer: str, expected: str) -> Part:
    """The part of the score; absent where nothing was expected."""
    if not expected.strip():
        return Part()
    said, wanted = _plain(text_of(answer))[:LONGEST], _plain(expected)[:LONGEST]
    words = set(re.findall(r"\w+", wanted))
    there = words & set(re.findall(r"\w+", said))
    same, ratio = said == wanted, _ratio(said, wanted)
    keywords = Fraction(len(there), len(words)) if words else Fraction(0)
    score = likeness(same, ratio, keywords)
    detail = {"exact_match": same, "similarity": round(float(ratio), 4), "keywords": round(float(keywords), 4)}
    return Part(score=score, feedback=(_feedback(same, len(there), len(words)),), detail=detail)


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def _ratio(one: str, other: str) -> Fraction:
    """`SequenceMatcher.ratio`, exactly."""
    matching = sum(block.size for block in SequenceMatcher(None, one, other).get_matching_blocks())
    return Fraction(2 * matching, len(one) + len(other))


def _feedback(same: bool, there: int, words: int) -> Feedback:
    if same:
        return Feedback(level="success", message="It says exactly what was expected.")
    level: Level = "info" if there == words else "warning"
    return Feedback(level=level, message=f"It says {there} of the {words} words that were expected.")
