"""The issues that a pull request's title and body refer to, in its own and in other repositories, and which it closes.

Comments, code and quotations are ignored, and so are colors (`#336699`) and counts ("fixes 3 bugs"). A reference
closes an issue if one of GitHub's keywords precedes it or the list that it is in.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from operator import itemgetter
from typing import NamedTuple

from pipeline.collect.patterns import Patterns, shipped
from pipeline.collect.prose import unquoted
from pipeline.core.records import PullRequest

_URL = re.compile(
    r"\b(?:https?://)?(?:www\.)?github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)[^\s)\]>,;]*", re.IGNORECASE
)
#: any address: numbers in it are not references
_ADDRESS = re.compile(r"(?:https?://|\bwww\.|\bgithub\.com/)\S+", re.IGNORECASE)
_QUALIFIED = re.compile(r"(?<![\w/])([\w.-]+/[\w.-]+)#(\d+)(?![\w-])")
#: the largest number of digits of an issue's number; GitHub is far below
_LONGEST = 9
#: kinds of references: closed, introduced by a word such as "see", only mentioned
_CLOSED, _INTRODUCED, _MENTIONED = range(3)
#: the number of characters before a reference that are searched for keywords
_REACH = 60
#: how much larger than the pull request's number an issue's number can be
_YOUNGER = 2000

#: with the marks of bold and italic text around it
_KEYWORD = re.compile(
    r"(?<!\w)[*_]{0,3}(?:close[sd]?|closing|fix(?:e[sd])?|fixing|resolve[sd]?|resolving)(?:\b|(?=_))"
    r"[*_]{0,3}(?:\s*:[*_]{0,3}\s*|\s+for\s+|\s+)(?:(?:the\s+)?(?:issues?|bugs?|prs?|gh)[\s/#:-]*)?[*_(\[#<]*$",
    re.IGNORECASE,
)
#: words before a reference that make it more than a mention
_NAMED = re.compile(
    r"\b(?:address(?:es|ed)?|re|refs?|references?|see|see also|part of|implements?)(?:[\s:]+)[(\[#<]*$", re.IGNORECASE
)
#: text between two references of a list
_LIST = re.compile(
    r"[*_)\]>]*\s*(?:[,&+/;]|,?\s*\b(?:and|or)\b)\s*(?:(?:issues?|bugs?|gh)\b)?[\s*_(\[<#-]*", re.IGNORECASE
)
#: text between a link's text and its address, which are one reference
_LINK = "]("

#: text after digits that are not a reference: the rest of a word or a date, a fraction, a percent sign, or the thing
#: that is counted
_PART = re.compile(r"[\w%]|\.\d|,\d{3}\b|-[a-z]|-\d\d?-\d\d?\b", re.IGNORECASE)
_SHARE = re.compile(r"\s*(?:of|/|x|times)\b\s*\d|\s*(?:x|times)\b|\s+of\b", re.IGNORECASE)
_WORD = re.compile(r"[ \t]+(?!(?:and|or|see|in|by|via|with|for|from)\b)[a-z]", re.IGNORECASE)
#: text after a number that begins an item of a list
_ITEM = re.compile(r"[.)][ \t]+\S")
_UNIT = re.compile(r"(?:issues?|prs?|bugs?)[/# ]+$", re.IGNORECASE)
#: three, four, six or eight digits after `#` may be a color
_DIGITS, _LONG = (3, 4, 6, 8), 6
#: certainly a color: hexadecimal letters, or six or eight digits
_SURELY = r"#(?:(?=\d*[a-f])[0-9a-f]{3,8}|\d{6}|\d{8})\b"
_COLOUR_BEFORE = re.compile(
    r"(?:\b(?:colou?rs?|background|foreground|bg|fill|stroke|border|outline|hex|gr[ae]y|black|white|red|green|blue|shade|solid)"
    r"(?:\s+(?:from|to|is|of|code|value))?[\s:=('\"]*"
    rf"|{_SURELY}\s*(?:to|on|->|→|=>|/|and|with|vs\.?)\s*"
    r"|\bfrom\s+#\d+\s*(?:to|->|→|=>)\s*)$",
    re.IGNORECASE,
)
_COLOUR_AFTER = re.compile(rf"\s*(?:to|on|->|→|=>|/|,|and|with|vs\.?)\s*{_SURELY}|\s*!important", re.IGNORECASE)
_FROM = re.compile(r"\bfrom\s+$", re.IGNORECASE)
_TO = re.compile(r"\s*(?:to|->|→|=>)\s*#\d", re.IGNORECASE)
_COLOUR_LINE = re.compile(
    r"\b(?:colou?rs?|background|contrast|hex|gr[ae]y|palette|shades?|foreground)\b|#[0-9a-f]{6}\b", re.IGNORECASE
)


class References(NamedTuple):
    """The references of a pull request, in order: numbers of its own repository, and `other/repo#N`.

    `closed` and `closed_elsewhere` are those that the texts say are closed.
    """

    here: tuple[int, ...]
    elsewhere: tuple[str, ...]
    closed: tuple[int, ...] = ()
    closed_elsewhere: tuple[str, ...] = ()


class _Reference(NamedTuple):
    """A reference in a text: its position, its repository (empty if not named), and its digits."""

    start: int
    end: int
    repo: str
    digits: str


def references(pull: PullRequest, patterns: Patterns | None = None, names: Collection[str] = ()) -> References:
    """The references of a pull request's title and body, except to itself: closed issues first, mentioned ones last.
    `names` are further names of its repository, in lower case."""
    own = {str(pull.repository).lower(), *names}
    texts = (unquoted(pull.title), unquoted(pull.body))
    ranked = [pair for text in texts for pair in _ranked(text, _find(text, pull, patterns or shipped()))]
    ranked.sort(key=itemgetter(0))
    ranks: dict[int, int] = {}
    for rank, reference in ranked:
        if number := _number(reference, pull, own):
            ranks.setdefault(number, rank)
    others: dict[str, int] = {}
    for rank, reference in ranked:
        if not _is_own(reference, own):
            others.setdefault(f"{reference.repo}#{reference.digits}", rank)
    closed = tuple(number for number, rank in ranks.items() if rank == _CLOSED)
    closed_elsewhere = tuple(name for name, rank in others.items() if rank == _CLOSED)
    return References(tuple(ranks), tuple(others), closed, closed_elsewhere)


def _find(text: str, pull: PullRequest, patterns: Patterns) -> list[_Reference]:
    """Every reference in a text, in order, without overlaps."""
    by_end: dict[int, _Reference] = {}
    unmatched = text
    if "/" in text:
        for pattern in (_URL, _QUALIFIED):
            for match in pattern.finditer(text):
                by_end[match.end(2)] = _Reference(match.start(), match.end(), match[1], match[2])
        for pattern in (_QUALIFIED, _ADDRESS):
            unmatched = pattern.sub(lambda match: " " * len(match[0]), unmatched)
    for _, match in patterns.reference.find([unmatched]):
        start, end = match.span(match.lastindex or 0)
        digits = unmatched[start:end].lstrip("#")
        if (
            digits
            and not _is_count(unmatched, end - len(digits), end)
            and not _is_color(unmatched, end - len(digits), end, pull.number)
        ):
            by_end.setdefault(end, _Reference(end - len(digits), end, "", digits))
    return sorted(by_end.values())


def _ranked(text: str, found: list[_Reference]) -> Iterator[tuple[int, _Reference]]:
    """Each reference with its kind. It closes after a keyword, and in a list after a reference that closes."""
    closed_end = -1
    for reference in found:
        before = text[max(0, reference.start - _REACH) : reference.start]
        between = text[closed_end : reference.start] if closed_end >= 0 else ""
        if _KEYWORD.search(before) or between == _LINK or _LIST.fullmatch(between):
            closed_end = reference.end
            yield _CLOSED, reference
        else:
            closed_end = -1
            yield _INTRODUCED if _NAMED.search(before) else _MENTIONED, reference


def _is_count(text: str, start: int, end: int) -> bool:
    """Whether the digits are a part of a word, number or date, begin an item of a list, or count: "fixes 3 bugs"."""
    if _PART.match(text, end) or text[max(0, start - 2) : start] == "&#":
        return True
    if _ITEM.match(text, end) and not text[text.rfind("\n", 0, start) + 1 : start].strip():
        return True
    if text[start - 1 : start] in "#-/":
        return False
    return bool(
        _SHARE.match(text, end) or (_WORD.match(text, end) and not _UNIT.search(text, max(0, start - 8), start))
    )


def _is_color(text: str, start: int, end: int, newest: int) -> bool:
    """Whether these digits are a color: by the text around them, or since no issue has such a large number."""
    digits = text[start:end]
    if text[start - 1 : start] != "#" or len(digits) not in _DIGITS:
        return False
    line = text[text.rfind("\n", 0, start) + 1 : start] + text[end:].partition("\n")[0]
    before = text[max(0, start - 1 - _REACH) : start - 1]
    if digits[0] == "0" or (len(digits) >= _LONG and int(digits) > 2 * newest + _YOUNGER):
        return True
    if _KEYWORD.search(before) or _NAMED.search(before):
        return False
    around = _COLOUR_BEFORE.search(before) or _COLOUR_AFTER.match(text, end)
    between = _FROM.search(before) and _TO.match(text, end)
    return bool(around or between or (len(digits) >= _LONG and _COLOUR_LINE.search(line)))


def _number(reference: _Reference, pull: PullRequest, own: Collection[str]) -> int:
    """The number in the pull request's repository; 0 for other repositories, for itself, and for impossible numbers."""
    if not _is_own(reference, own) or not reference.digits.isdecimal() or len(reference.digits) > _LONGEST:
        return 0
    number = int(reference.digits)
    return 0 if number == pull.number else number


def _is_own(reference: _Reference, own: Collection[str]) -> bool:
    """Whether it is to the pull request's repository, which has these names."""
    return not reference.repo or reference.repo.lower() in own
