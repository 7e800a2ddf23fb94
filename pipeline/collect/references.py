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
from pipeline.collect.prose import prose, unquoted
from pipeline.core.names import is_of_commit
from pipeline.core.records import PullRequest

_URL = re.compile(
    r"\b(?:https?://)?(?:www\.)?github\.com/([\w.-]+/[\w.-]+)/(?:issues|pull)/(\d+)[^\s)\]>,;]*", re.IGNORECASE
)
_QUALIFIED = re.compile(r"(?<![\w./-])([\w.-]++/[\w.-]++)#(\d+)(?![\w-])")
#: an address, or a path with `#`: numbers in it are not references
_ADDRESS = re.compile(
    r"(?:https?://|\bwww\.|\bgithub\.com/)\S+|(?<![\w./-])[\w.-]*+/[\w./-]*+(?<=\w)#\S+", re.IGNORECASE
)
#: the name of a branch in a message of git or GitHub
_BRANCH = re.compile(r"\bMerge (?:(?P<kept>pull request #\d+) from \S+|(?:remote-tracking )?branch '[^'\n]*')")
#: a link of Markdown or HTML
_LINK = re.compile(
    r"#?\[(?P<text>[^\[\]\n]*)\]\([ \t]*<?(?P<to>[^\s()<>]*+)[^()\n]*+\)"
    r"|<a\b[^<>]{0,300}?\bhref\s*=\s*[\"']?(?P<href>[^\"'\s<>]*+)[^<>]*+>(?P<inner>(?:[^<]|<(?!/?a\b))*+)</a\s*>",
    re.IGNORECASE,
)
#: the largest number of digits of an issue's number; GitHub is far below
_LONGEST = 9
#: kinds of references: closed, introduced by a word such as "see", only mentioned
_CLOSED, _INTRODUCED, _MENTIONED = range(3)
#: the number of characters around a reference that are searched for keywords, and for words about colors
_REACH, _LINE = 60, 200
#: how much larger than the pull request's number an issue's number can be
_YOUNGER = 2000

_VERB = r"(?:close[sd]?|closing|fix(?:e[sd])?|fixing|resolve[sd]?|resolving)"
_UNIT = r"(?:issues?(?:\(s\))?|bugs?|tickets?|prs?|gh)(?!\w)"
#: the mark of a list's item, and the marks that can be around a reference
_ITEM = r"(?:[-–—*+]|\d+[.)])[ \t]+(?:\[x\][ \t]+)?"
_OPENING = r"[*_(\[#<]*"
#: what is between a keyword, the words after it, and a reference
_GAP = rf"(?:\s*[:|][*_]{{0,3}}\s*(?:{_ITEM})?|[ \t]+[-–—][ \t]+|\s+)"
#: with the marks of bold and italic text around it
_KEYWORD = re.compile(
    rf"(?<!\w)[*_]{{0,3}}{_VERB}(?:\b|(?=_))[*_]{{0,3}}{_GAP}"
    rf"(?:(?:for|github|(?:the|this|these)(?=\s+(?:github\s+)?{_UNIT})|{_UNIT}){_GAP}|{_UNIT}[\s/#-]*)*{_OPENING}$",
    re.IGNORECASE,
)
#: words before a keyword that say that nothing is closed
_UNDONE = re.compile(
    r"\b(?:revert\w*|todos?|not|never|cannot|\w+n['’]t)\b:?[ \t]+(?:(?:the|an?|to|yet|fully|completely)[ \t]+)*$",
    re.IGNORECASE,
)
#: words before a reference that make it more than a mention
_NAMED = re.compile(
    r"\b(?:address(?:es|ed)?|re|refs?|references?|see|see also|part of|implements?)(?:[\s:]+)[(\[#<]*$", re.IGNORECASE
)
#: text between two references of a list
_LIST = re.compile(
    rf"[*_)\]>]*\s*(?:[,&+/;]|,?\s*\b(?:and|or)\b)\s*(?:{_UNIT})?[\s*_(\[<#-]*|[*_\]>]*[ \t]+[*_\[<]*#?", re.IGNORECASE
)
#: text before a reference that begins an item of a list, and between two such references
_ITEM_BEFORE = re.compile(rf"(?:^|\n)[ \t]*{_ITEM}{_OPENING}$", re.IGNORECASE)
_ITEM_BETWEEN = re.compile(rf"[^\n]*\n[ \t]*{_ITEM}{_OPENING}", re.IGNORECASE)
#: what surrounds a commit's own number: it ends the title, or an item in a list of commits
_OWN_BEFORE, _OWN_AFTER = re.compile(r"\([#\s]*$"), re.compile(r"[ \t]*\)[ \t\r]*(?:\n|\Z)")
_COMMIT = re.compile(r"[ \t]*[*+-][ \t]")

#: text after digits that are not a reference: the rest of a word or a date, a fraction, a percent sign, or the thing
#: that is counted
_PART = re.compile(r"[\w%]|\.\d|,\d{3}\b|-[a-z]|-\d\d?-\d\d?\b", re.IGNORECASE)
_SHARE = re.compile(r"\s*(?:of|/|x|times)\b\s*\d|\s*(?:x|times)\b|\s+of\b", re.IGNORECASE)
_WORD = re.compile(r"[^\S\n]+[*_]*(?!(?:and|or|see|in|by|via|with|for|from)\b)[a-z]", re.IGNORECASE)
#: a number that begins an item of a list (one with `#` has few digits), and the text after it
_NUMBERED, _NUMBERED_AFTER = re.compile(r"\s*(?:\d+|#\d\d?)"), re.compile(r"[.)][ \t]+\S")
#: text around a number without `#` after a keyword: before the end of a line or a mark, it may be an issue's, unless it
#: is a single digit, a status of HTTP or a year
_BARE_BEFORE = re.compile(rf"\b{_VERB}(?:[\s:]+|\s+for\s+)$", re.IGNORECASE)
_BARE_AFTER = re.compile(r"[^\S\n]*(?:[.:,;)-]+(?:\s|$)|\n|$)")
_UNLIKELY = re.compile(r"\d|[1-5]0\d|4[1-3]\d|451|51\d|(?:19|20)\d\d")
_COUNTED = re.compile(r"(?:issues?|prs?|bugs?)[/# ]+$", re.IGNORECASE)
#: three, four, six or eight digits after `#` may be a color
_DIGITS, _LONG = (3, 4, 6, 8), 6
#: certainly a color: hexadecimal letters, or six or eight digits
_SURELY = r"#(?:(?=\d*[a-f])[0-9a-f]{3,8}|\d{6}|\d{8})\b"
_ARROW = r"\s*(?:->|→|=>)\s*"
#: the beginning of a declaration in CSS
_DECLARED = (
    r"(?:[\w-]*colou?r|background|bg|border|outline|fill|stroke|shadow)[\w-]*\s*[:=]\s*[('\"]*"
    r"(?:(?:[\d.]+[a-z%]*|solid|dashed|dotted)\s+)*"
)
_COLOUR_BEFORE = re.compile(
    r"(?:\b(?:colou?rs?|background|foreground|hex|gr[ae]y|black|white|red|green|blue|shade|solid)"
    r"(?:\s+(?:from|to|is|of|code|value))?[\s:=('\"]*"
    rf"|(?<![\w-])(?:--)?{_DECLARED}|\bcontrast(?:\s+ratio)?\s+(?:of|for|between)\s+"
    rf"|{_SURELY}\s*(?:to|on|->|→|=>|/|and|with|vs\.?)\s*|#\d+{_ARROW}"
    r"|\b(?:from|chang\w+|darken\w*|lighten\w*)\s+#\d+\s*to\s*)$",
    re.IGNORECASE,
)
_COLOUR_AFTER = re.compile(
    rf"\s*(?:to|on|->|→|=>|/|,|and|with|vs\.?)\s*{_SURELY}|\s*!important|{_ARROW}#\d"
    r"|[)\]'\"]*\s+(?:on|against|over)\s+(?:(?:an?|the)\s+)?"
    r"(?:#\d{3}|(?:white|black|gr[ae]y|background)\b|(?:dark|light)\s+(?:background|gr[ae]y)\b)",
    re.IGNORECASE,
)
_FROM = re.compile(r"\b(?:from|chang\w+|darken\w*|lighten\w*)\s+$", re.IGNORECASE)
_TO = re.compile(r"\s*to\s*#\d")
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
    texts = (_plain(pull.title), _plain(pull.body))
    ranked = [
        pair
        for is_title, text in zip((True, False), texts, strict=True)
        for pair in _ranked(text, _find(text, pull, patterns or shipped()), is_title=is_title)
    ]
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


def _plain(text: str) -> str:
    """The prose of a text without quotations and names of branches, with an address in place of each link to an issue.

    A link is one reference, and its address decides which. Of other links, the text remains, without its numbers.
    """
    text = _LINK.sub(_address, prose(text))
    return _BRANCH.sub(lambda match: match["kept"] or "", unquoted(text))


def _address(link: re.Match[str]) -> str:
    address, text = link["to"] or link["href"] or "", link["text"] or link["inner"] or ""
    if not _URL.match(address):
        return re.sub(r"#?\d+", " ", text)
    keyword = re.match(rf"\W*{_VERB}\b", text, re.IGNORECASE)
    return f"{keyword[0]} {address} " if keyword else f"{address} "


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


def _ranked(text: str, found: list[_Reference], *, is_title: bool) -> Iterator[tuple[int, _Reference]]:
    """Each reference with its kind. It closes after a keyword, and in a list after a reference that closes."""
    closed_end, is_item = -1, False
    for reference in found:
        before = text[max(0, reference.start - _REACH) : reference.start]
        between = text[closed_end : reference.start] if closed_end >= 0 else ""
        keyword = _KEYWORD.search(before)
        is_listed = _LIST.fullmatch(between) or (is_item and _ITEM_BETWEEN.fullmatch(between))
        if _is_commits_own(text, reference, before, is_title=is_title):
            closes = False
        else:
            closes = bool(is_listed or (keyword and not _UNDONE.search(before[: keyword.start()])))
        closed_end, is_item = (reference.end, bool(_ITEM_BEFORE.search(before))) if closes else (-1, False)
        yield _CLOSED if closes else _INTRODUCED if _NAMED.search(before) else _MENTIONED, reference


def _is_commits_own(text: str, reference: _Reference, before: str, *, is_title: bool) -> bool:
    """Whether it is the number of a commit that is named here: `* Menu fix (#12)` closes nothing."""
    if not (_OWN_BEFORE.search(before) and _OWN_AFTER.match(text, reference.end)):
        return False
    return is_title or bool(_COMMIT.match(text, text.rfind("\n", 0, reference.start) + 1))


def _is_count(text: str, start: int, end: int) -> bool:
    """Whether the digits are a part of a word, number or date, begin an item of a list, or count: "fixes 3 bugs"."""
    if _PART.match(text, end) or text[max(0, start - 2) : start] == "&#":
        return True
    before = text[max(0, start - _REACH) : start]
    if _NUMBERED_AFTER.match(text, end) and _NUMBERED.fullmatch(before.rpartition("\n")[2] + text[start:end]):
        return True
    if before[-1:] in ("#", "-", "/"):
        return False
    if _BARE_BEFORE.search(before):
        return bool(_UNLIKELY.fullmatch(text, start, end)) or not _BARE_AFTER.match(text, end)
    return bool(_SHARE.match(text, end) or (_WORD.match(text, end) and not _COUNTED.search(before)))


def _is_color(text: str, start: int, end: int, newest: int) -> bool:
    """Whether these digits are a color: by the text around them, or since no issue has such a large number."""
    digits = text[start:end]
    if text[start - 1 : start] != "#" or len(digits) not in _DIGITS:
        return False
    before = text[max(0, start - 1 - _REACH) : start - 1]
    is_numbered, is_long = not is_of_commit(newest), len(digits) >= _LONG
    if digits[0] == "0" or (is_long and is_numbered and int(digits) > 2 * newest + _YOUNGER):
        return True
    if _KEYWORD.search(before) or _NAMED.search(before):
        return False
    if (
        _COLOUR_BEFORE.search(before)
        or _COLOUR_AFTER.match(text, end)
        or (_FROM.search(before) and _TO.match(text, end))
    ):
        return True
    is_gray = digits == digits[0] * 3
    line = text[max(0, start - _LINE) : start].rpartition("\n")[2] + text[end : end + _LINE].partition("\n")[0]
    return is_long and not is_numbered or ((is_long or is_gray) and bool(_COLOUR_LINE.search(line)))


def _number(reference: _Reference, pull: PullRequest, own: Collection[str]) -> int:
    """The number in the pull request's repository; 0 for other repositories, for itself, and for impossible numbers."""
    if not _is_own(reference, own) or not reference.digits.isdecimal() or len(reference.digits) > _LONGEST:
        return 0
    number = int(reference.digits)
    return 0 if number == pull.number else number


def _is_own(reference: _Reference, own: Collection[str]) -> bool:
    """Whether it is to the pull request's repository, which has these names."""
    return not reference.repo or reference.repo.lower() in own
