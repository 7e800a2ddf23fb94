"""What a pull request's title and body refer to: issues of its own and of other repositories, and which it closes.

Comments, code and quotations refer to nothing, nor does a colour (`#336699`) or a count ("fixes 3 bugs"). A reference
closes if one of GitHub's keywords precedes it, or the list that it is in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import itemgetter
from typing import NamedTuple

from pipeline.collect.patterns import Patterns, shipped
from pipeline.collect.prose import unquoted
from pipeline.core.names import Repo
from pipeline.core.records import PullRequest

_URL = re.compile(
    r"\b(?:https?://)?(?:www\.)?github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)[^\s)\]>,;]*", re.IGNORECASE
)
#: any address: numbers in it are those of another place
_ADDRESS = re.compile(r"(?:https?://|\bwww\.|\bgithub\.com/)\S+", re.IGNORECASE)
_QUALIFIED = re.compile(r"(?<![\w/])([\w.-]+/[\w.-]+)#(\d+)(?![\w-])")
#: digits of the largest number that an issue may have here; GitHub is far from it
_LONGEST = 9
#: how a reference is made: closed, named by a word before it, mentioned
_CLOSED, _NAMED_ONE, _MENTIONED = range(3)
#: letters before a reference that are looked at
_REACH = 60
#: an issue cannot be much younger than the pull request that names it
_YOUNGER = 2000

_KEYWORD = re.compile(
    r"\b(?:close[sd]?|closing|fix(?:e[sd])?|fixing|resolve[sd]?|resolving)\b(?:\s*:\s*|\s+for\s+|\s+)"
    r"(?:(?:the\s+)?(?:issues?|bugs?|prs?|gh)[\s/#:-]*)?[(\[#<]*$",
    re.IGNORECASE,
)
#: words before a reference that is more than a mention
_NAMED = re.compile(
    r"\b(?:address(?:es|ed)?|re|refs?|references?|see|see also|part of|implements?)(?:[\s:]+)[(\[#<]*$", re.IGNORECASE
)
#: what stands between two references of one list
_LIST = re.compile(r"[)\]>]*\s*(?:[,&+/;]|,?\s*\b(?:and|or)\b)\s*(?:(?:issues?|bugs?|gh)\b)?[\s(\[<#-]*", re.IGNORECASE)

#: what goes on behind digits: a word, a fraction, a share; a word of its own where nothing says what the number is
_PART = re.compile(r"[\w%]|\.\d|,\d{3}\b|-[a-z]", re.IGNORECASE)
_SHARE = re.compile(r"\s*(?:of|/|x|times)\b\s*\d|\s*(?:x|times)\b|\s+of\b", re.IGNORECASE)
_WORD = re.compile(r"[ \t]+(?!(?:and|or|see|in|by|via|with|for|from)\b)[a-z]", re.IGNORECASE)
_UNIT = re.compile(r"(?:issues?|prs?|bugs?)[/# ]+$", re.IGNORECASE)
#: three, four, six or eight digits behind `#` may be a colour
_DIGITS, _LONG = (3, 4, 6, 8), 6
#: what no issue is: hexadecimal letters, or six digits and more
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
    """What a pull request's texts refer to, in order: numbers of its own repository, and `other/repo#N`.

    `closed` are those of `here` that the texts say are closed.
    """

    here: tuple[int, ...]
    elsewhere: tuple[str, ...]
    closed: tuple[int, ...] = ()


class _Found(NamedTuple):
    """A reference in a text: where it stands, whose it is (empty: nothing says so), and its digits."""

    start: int
    end: int
    place: str
    digits: str


def references(pull: PullRequest, patterns: Patterns | None = None) -> References:
    """What a pull request's title and body refer to, without itself; what is closed comes first, then what is named."""
    texts = (unquoted(pull.title), unquoted(pull.body))
    ranked = [pair for text in texts for pair in _ranked(text, _find(text, pull, patterns or shipped()))]
    ranked.sort(key=itemgetter(0))
    here: dict[int, int] = {}
    for rank, one in ranked:
        if number := _number(one, pull):
            here.setdefault(number, rank)
    elsewhere = [f"{one.place}#{one.digits}" for _, one in ranked if not _own(one, pull.repository)]
    closed = tuple(number for number, rank in here.items() if rank == _CLOSED)
    return References(tuple(here), tuple(dict.fromkeys(elsewhere)), closed)


def _find(text: str, pull: PullRequest, patterns: Patterns) -> list[_Found]:
    """Every reference, in order, each place of the text once."""
    found: dict[int, _Found] = {}
    rest = text
    if "/" in text:
        for pattern in (_URL, _QUALIFIED):
            found |= {one.end(2): _Found(one.start(), one.end(), one[1], one[2]) for one in pattern.finditer(text)}
        for pattern in (_QUALIFIED, _ADDRESS):
            rest = pattern.sub(lambda match: " " * len(match[0]), rest)
    for _, match in patterns.reference.find([rest]):
        start, end = match.span(match.re.groups)
        digits = rest[max(start, 0) : end].lstrip("#")
        if (
            digits
            and not _is_count(rest, end - len(digits), end)
            and not _is_colour(rest, end - len(digits), end, pull.number)
        ):
            found.setdefault(end, _Found(end - len(digits), end, "", digits))
    return sorted(found.values())


def _ranked(text: str, found: list[_Found]) -> Iterator[tuple[int, _Found]]:
    """Each with its rank: closed behind a keyword or behind another that is closed, named, or mentioned."""
    closed_end = -1
    for one in found:
        before = text[max(0, one.start - _REACH) : one.start]
        if _KEYWORD.search(before) or (closed_end >= 0 and _LIST.fullmatch(text, closed_end, one.start)):
            closed_end = one.end
            yield _CLOSED, one
        else:
            closed_end = -1
            yield _NAMED_ONE if _NAMED.search(before) else _MENTIONED, one


def _is_count(text: str, start: int, end: int) -> bool:
    """Whether the digits are a part of a word or of a number, or say how many: "fixes 3 bugs", "bug 2 of 3"."""
    if _PART.match(text, end) or text[max(0, start - 2) : start] == "&#":
        return True
    if text[start - 1 : start] in "#-/":
        return False
    return bool(
        _SHARE.match(text, end) or (_WORD.match(text, end) and not _UNIT.search(text, max(0, start - 8), start))
    )


def _is_colour(text: str, start: int, end: int, newest: int) -> bool:
    """Whether the digits at this place are a colour's: by what stands around them, or since no issue is so new."""
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


def _number(one: _Found, pull: PullRequest) -> int:
    """The number in its own repository; 0 for another's, for its own, and for what no issue's number can be."""
    if not _own(one, pull.repository) or not one.digits.isdecimal() or len(one.digits) > _LONGEST:
        return 0
    number = int(one.digits)
    return 0 if number == pull.number else number


def _own(one: _Found, repo: Repo) -> bool:
    return not one.place or one.place.lower() == str(repo).lower()
