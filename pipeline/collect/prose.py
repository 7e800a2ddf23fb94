"""The text that a person wrote: everything else is replaced by blanks, so positions stay the same.

Replaced are comments, code, quotations, unticked boxes and, for evidence, the empty parts of a template, addresses in
repositories and trailers of git. Does not render Markdown: code and quotations are recognized only by their first
characters. Takes time in proportion to the text's length, whatever it contains.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

#: every text that has something to replace contains one of these
_MARKS = re.compile(
    r"`|<(?:!--|/?(?:pre|code|blockquote|script|style|summary|h\d)\b)|\[\s?\]|~~~|\*\*|__"
    r"|(?:\A|\n)(?: {0,3}(?:[>#]|==|--|\[)|[ \t]*(?:[-*+]|\d+[.)])[ \t]+>| {4}|\t|[^\S\n]+>)",
    re.IGNORECASE,
)
#: a fence without an end extends to the end of the text; it can begin in a list
_FENCE = (
    r"^(?:[ ]{0,3}|(?P<list>[ ]*(?:(?:[-*+]|\d+[.)])[ \t]+)+))(?P<fence>`{3,}(?=[^`\n]*$)|~{3,}(?!~))[^\n]*\n"
    r".*?(?:^(?(list)[ \t]*|[ ]{0,3})(?P=fence)[`~]*[ \t\r]*$|\Z)"
)
#: a comment without an end hides the rest, as on GitHub
_COMMENT = r"<!--.*?(?:-->|\Z)"
#: a definition that no link can use: the usual comment in Markdown
_DEFINITION = r"^[ ]{0,3}\[[^\]\n]+\]:[ \t]*(?:\#|<\#?>)(?=[ \t]|$)(?:[ \t]*\([^()]*\)|[^\n]*)"
_TAGS = "pre|code|blockquote|script|style"
_ELEMENT = rf"<(?P<tag>{_TAGS})\b"
#: the end of a paragraph: an empty line, or the beginning of a comment, quotation, heading, fence or list
_END = r"\n(?=[ \t\r]*\n|[ ]{0,3}(?:<!--|>|\#{1,6}[ ]|`{3}|~{3})|[ \t]*(?:[-*+]|\d+[.)])[ \t])"
#: code begins and ends with the same number of backticks, in one paragraph
_CODE = r"(?<!`)(?P<ticks>`+)(?!`)"
#: the ends of elements and code; every branch begins with another character, which makes the search fast
_STOPS = re.compile(rf"``*|>|<(?=/(?P<tag>{_TAGS})\s*>)|{_END}", re.IGNORECASE)
#: in a list, too, and however far it is indented: it would be code otherwise
_QUOTE = r"^[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)*>[^\n]*"
#: the element that begins first hides its content: a fence in a comment is not a fence, and neither is a comment in
#: code
_PARTS = re.compile(
    "|".join((_FENCE, _COMMENT, _DEFINITION, _ELEMENT, _CODE, _QUOTE)), re.DOTALL | re.MULTILINE | re.IGNORECASE
)
#: a box that nobody ticked, at all and as the beginning of a line
_BOX = re.compile(r"\[\s?\]")
_UNTICKED = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?\[\s?\](?=\s)")
_TICKED = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+\[[xX]\]")
#: a heading or a rule, and other lines that end a paragraph
_RULE = re.compile(r"\s{0,3}(?:#{1,6}(?:\s|$)|={2,}\s*$|(?:-[ \t]*){2,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$)")
_BLOCK = re.compile(r"\s{0,3}(?:>|\*\*[^*\n]+\*\*|__[^_\n]+__|\||</?(?:details|summary|div|p|h\d|table|ul|ol)\b)")
#: a line after an empty one with this indentation is code, unless it continues a list
_INDENTED = re.compile(r"(?: {4}|\t)")
_LISTED = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
#: `## Heading`, a heading of HTML, or bold text: at the beginning of a line, or up to three words as an item of a list
_HEADING = re.compile(
    r"^[ ]{0,3}(?:(?P<marks>#{1,6})[ \t]+[^\n]*$|<(?P<tag>h[1-6]|summary)\b[^<>\n]*>[^<\n]*</(?P=tag)>"
    r"|(?:\*\*[^*\n]+\*\*|__[^_\n]+__):?)|^[ \t]*[-*+][ \t]+(?P<item>\*\*(?:[^\s*]+[ ]?){1,3}\*\*):?[ \t\r]*$",
    re.MULTILINE | re.IGNORECASE,
)
_UNDERLINED = re.compile(
    r"(?:\A|(?<=\n\n)|(?<=\n\r\n))(?=\S)(?P<text>[^\n]+)\n(?P<line>={2,}|-{2,})[ \t\r]*$", re.MULTILINE
)
#: what people leave of a part of a template, or write into it, if they have nothing to say
_NO = r"(?:n ?/ ?a|n\.a|na|none|nothing|no|not applicable|tbd|todo|no response|no changes?)(?![^\W_])|[❌✗✘✖]\ufe0f?"
_EMPTY = r"[\s*_.:()|~-]|</?\w[^<>]*>"
_NOTHING = re.compile(rf"(?:{_EMPTY}|{_NO}|\d+[.)])*", re.IGNORECASE)
#: a line with a label, or a row of a table, that says as little
_LABEL = re.compile(
    r"^[^\S\n]*(?:[-*+][ \t]+)?[*_]{0,3}\w[\w /-]{1,40}[*_]{0,3}[:?][*_]{0,3}"
    rf"[ \t]*(?:(?:{_NO})[ \t*_.()]*)+\r?$"
    rf"|^[ \t]*\|[^|\n]+\|(?:(?:[ \t*_.()-]|{_NO})*\|)+[ \t\r]*$",
    re.MULTILINE | re.IGNORECASE,
)
#: lines that git and code hosts add to a message
_TRAILER = re.compile(r"^(?:[A-Za-z]+(?:-[A-Za-z]+)*-by|Change-Id|Depends-On|Cc):[^\n]*$", re.MULTILINE)
_ADDRESS = re.compile(r"\bhttps?://[^\s<>)\]]+", re.IGNORECASE)
#: an address in a repository, which names that rather than the change
_OF_CODE = re.compile(r"/(?:pulls?|issues|commits?|compare|merge_requests|tree|blob|releases|actions)/", re.IGNORECASE)
#: a quotation within a line: references in it are those of another text
_QUOTATION = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”")
#: the levels of a bold heading, and of one in a list: below all others
_BOLD, _BOLD_ITEM = 7, 8
#: a placeholder until all parts are replaced: with blanks, the text after them could look like indented code
_HIDDEN = "\0"
_LETTER = re.compile(r"[^\n]")


def prose(text: str) -> str:
    """A text of the same length that contains only prose."""
    if not _MARKS.search(text):
        return text
    text = _without_parts(text)
    if _BOX.search(text):
        text = _without_boxes(text)
    if "\n    " in text or "\n\t" in text or text[:1] in (" ", "\t"):
        text = _without_indented(text)
    return text.replace(_HIDDEN, " ")


def filled(text: str) -> str:
    """The prose of a text without empty parts of a template, addresses in repositories, and trailers."""
    text = prose(text)
    for pattern in (_TRAILER, _LABEL):
        text = pattern.sub(_blank, text)
    if _MARKS.search(text):
        text = _without_headings(text)
    return _ADDRESS.sub(lambda match: _blank(match) if _OF_CODE.search(match[0]) else match[0], text)


def _without_headings(text: str) -> str:
    """A text without headings that are followed by nothing."""
    headings = sorted(_headings(text))
    letters = list(text)
    ends = [start for start, _, _ in headings[1:]] + [len(text)]
    for index in range(len(headings) - 1, -1, -1):
        start, end, level = headings[index]
        is_empty = _NOTHING.fullmatch(text, end, ends[index]) is not None
        below = headings[index + 1] if index + 1 < len(headings) else None
        has_filled_part = below and below[2] > level and "".join(letters[slice(*below[:2])]).strip()
        if is_empty and not has_filled_part:
            letters[start:end] = _LETTER.sub(" ", text[start:end])
    return "".join(letters)


def unquoted(text: str) -> str:
    """A text without quotations within its lines, which may name issues of other texts."""
    return _QUOTATION.sub(_blank, text) if '"' in text or "“" in text else text


def _headings(text: str) -> Iterator[tuple[int, int, int]]:
    """Start, end and level of each heading."""
    for match in _HEADING.finditer(text):
        level = match["tag"] or ""
        if match["marks"]:
            yield *match.span(), len(match["marks"])
        else:
            yield *match.span(), int(level[1]) if level[1:].isdecimal() else _BOLD_ITEM if match["item"] else _BOLD
    if "\n=" in text or "\n-" in text:
        yield from (
            (*match.span(), 1 if match["line"][0] == "=" else 2)
            for match in _UNDERLINED.finditer(text)
            if match["text"][:1] not in "-*+#"
        )


def _without_parts(text: str) -> str:
    pieces, position, stops = [], 0, _Stops(text)
    while begin := _PARTS.search(text, position):
        end = stops.end(begin)
        part = _hidden(text[begin.start() : end]) if end else text[begin.start() : begin.end()]
        pieces += [text[position : begin.start()], part]
        position = end or begin.end()
    return "".join(pieces) + text[position:]


class _Stops:
    """The ends of the parts of a text. They are searched for once, not from each beginning."""

    def __init__(self, text: str) -> None:
        self._text = text

    def end(self, begin: re.Match[str]) -> int | None:
        """Where a part ends; None for an element or code that never ends, and so hides nothing."""
        start, ticks = begin.end(), begin["ticks"]
        if begin["tag"]:
            stop = self._next(">", self._next(begin["tag"].lower(), self._next(">", start)))
            return stop + 1 if stop < len(self._text) else None
        if ticks:
            stop = self._next(ticks, start)
            return stop + len(ticks) if stop < self._next("\n", start) else None
        return start

    def _next(self, kind: str, start: int) -> int:
        """The place of the first stop of a kind from `start` on; the text's length if there is none."""
        places = self._places.get(kind, [])
        index = bisect_left(places, start)
        return places[index] if index < len(places) else len(self._text)

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """Each kind of stop and its places: `>`, each number of backticks, each end tag, the ends of paragraphs."""
        places = defaultdict(list)
        for stop in _STOPS.finditer(self._text):
            places[(stop["tag"] or stop[0]).lower()].append(stop.start())
        return places


def _without_boxes(text: str) -> str:
    """A text without boxes that nobody ticked. A box takes with it the lines that continue it, and what is indented
    below it, except a ticked box."""
    lines, level, after_gap = text.split("\n"), -1, False
    for index, line in enumerate(lines):
        if not line.strip():
            after_gap = True
            continue
        indent = len(line) - len(line.lstrip())
        is_block = _LISTED.match(line) or _RULE.match(line) or _BLOCK.match(line) or not line.strip(_HIDDEN + " \t\r")
        if _TICKED.match(line) or (indent <= level and (after_gap or is_block)):
            level = -1
        if level < 0 and _UNTICKED.match(line):
            level = indent
        if level >= 0:
            lines[index] = _hidden(line)
        after_gap = False
    return "\n".join(lines)


def _without_indented(text: str) -> str:
    lines, code, listed, empty = text.split("\n"), False, False, True
    for index, line in enumerate(lines):
        if not line.strip():
            empty = True
            continue
        code = bool(_INDENTED.match(line)) and not listed and (empty or code)
        empty = bool(_RULE.match(line))
        listed = not empty and (bool(_LISTED.match(line)) and not code or listed and line[:1] in " \t")
        if code:
            lines[index] = " " * len(line)
    return "\n".join(lines)


def _hidden(part: str) -> str:
    return _LETTER.sub(_HIDDEN, part)


def _blank(match: re.Match[str]) -> str:
    return _LETTER.sub(" ", match[0])
