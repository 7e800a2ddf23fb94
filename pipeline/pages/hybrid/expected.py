"""Whether an answer contains the expected text. Pure functions.

Of a page, the visible text is compared (without scripts, styles and title); any other answer is compared as it is.
Letter case and white space are ignored.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from fractions import Fraction
from html.parser import HTMLParser

from pipeline.pages.hybrid.formulas import likeness
from pipeline.pages.hybrid.records import Feedback, Level, Part

#: elements whose content is not visible
_UNSEEN = ("script", "style", "template", "title", "noscript")
_PAGE = re.compile(r"<!doctype html|<html|<body", re.IGNORECASE)
#: the maximum number of characters that are compared
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
    """The text of an answer for the comparison."""
    if not _PAGE.search(answer):
        return answer
    texts = _Texts()
    texts.feed(answer)
    texts.close()
    return " ".join(texts.found)


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
    """`SequenceMatcher.ratio` as an exact fraction."""
    matching = sum(block.size for block in SequenceMatcher(None, text, reference).get_matching_blocks())
    return Fraction(2 * matching, len(text) + len(reference))


def _feedback(same: bool, shared: int, words: int) -> Feedback:
    if same:
        return Feedback(level="success", message="The text is exactly the expected one.")
    level: Level = "info" if shared == words else "warning"
    return Feedback(level=level, message=f"The text has {shared} of the {words} expected words.")
