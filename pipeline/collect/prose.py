"""The text that a person wrote: everything else is replaced by blanks, so positions stay the same.

Replaced are comments, code, quotations, unticked boxes and, for evidence, empty headings of a template. Does not render
Markdown: code and quotations are recognized only by their first characters. Takes time in proportion to the text's
length, whatever it contains.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property

#: every text that has something to replace contains one of these
_MARKS = re.compile(
    r"`|<(?:!--|pre|code|blockquote|script|style)|\[\s?\]|~~~|\*\*|__"
    r"|(?:\A|\n)(?: {0,3}(?:[>#]|==|--)| {4}|\t|[^\S\n]+>)",
    re.IGNORECASE,
)
#: a fence without an end extends to the end of the text; it can begin in a list
_FENCE = (
    r"^(?:[ ]{0,3}|(?P<list>[ ]*(?:(?:[-*+]|\d+[.)])[ \t]+)+))(?P<fence>`{3,}(?=[^`\n]*$)|~{3,}(?!~))[^\n]*\n"
    r".*?(?:^(?(list)[ \t]*|[ ]{0,3})(?P=fence)[`~]*[ \t\r]*$|\Z)"
)
#: a comment without an end hides the rest, as on GitHub
_COMMENT = r"<!--.*?(?:-->|\Z)"
_TAGS = "pre|code|blockquote|script|style"
_ELEMENT = rf"<(?P<tag>{_TAGS})\b"
#: the end of a paragraph: an empty line, or the beginning of a comment, quotation, heading, fence or list
_END = r"\n(?=[ \t\r]*\n|[ ]{0,3}(?:<!--|>|\#{1,6}[ ]|`{3}|~{3})|[ \t]*(?:[-*+]|\d+[.)])[ \t])"
#: code begins and ends with the same number of backticks, in one paragraph
_CODE = r"(?<!`)(?P<ticks>`+)(?!`)"
#: the ends of elements and code; every branch begins with another character, which makes the search fast
_STOPS = re.compile(rf"``*|>|<(?=/(?P<tag>{_TAGS})\s*>)|{_END}", re.IGNORECASE)
_QUOTE = r"^[ ]{0,3}>[^\n]*"
#: the element that begins first hides its content: a fence in a comment is not a fence, and neither is a comment in
#: code
_PARTS = re.compile("|".join((_FENCE, _COMMENT, _ELEMENT, _CODE, _QUOTE)), re.DOTALL | re.MULTILINE | re.IGNORECASE)
#: with the empty lines before it; a long gap without a box after it is skipped at once
_UNTICKED = re.compile(
    r"^\s*(?P<item>[-*+]|\d+[.)])\s+\[\s?\](?=\s)[^\n]*(?:\n[ \t]+(?!(?:[-*+]|\d+[.)])\s)\S[^\n]*)*|^\s{9,}",
    re.MULTILINE,
)
#: a line after an empty one with this indentation is code, unless it continues a list
_INDENTED = re.compile(r"(?: {4}|\t)")
_LISTED = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
#: `## Heading`, or bold text at the beginning of a line
_HEADING = re.compile(
    r"^[ ]{0,3}(?:(?P<marks>#{1,6})[ \t]+[^\n]*$|(?:\*\*[^*\n]+\*\*|__[^_\n]+__):?)",
    re.MULTILINE,
)
_UNDERLINED = re.compile(
    r"(?:\A|(?<=\n\n)|(?<=\n\r\n))(?=\S)(?P<text>[^\n]+)\n(?P<line>={2,}|-{2,})[ \t\r]*$", re.MULTILINE
)
#: the text below a heading that nobody filled in
_NOTHING = re.compile(
    r"[\s*_.:-]*(?:(?:n\s?/\s?a|none|no|nothing|tbd|_no response_|not applicable)[\s*_.:-]*)?", re.IGNORECASE
)
#: a quotation within a line: references in it are those of another text
_QUOTATION = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”")
#: the level of a bold heading: below all others
_BOLD = 7
#: a placeholder until all parts are replaced: with blanks, the text after them could look like indented code
_HIDDEN = "\0"
_LETTER = re.compile(r"[^\n]")


def prose(text: str) -> str:
    """A text of the same length that contains only prose."""
    if not _MARKS.search(text):
        return text
    text = _without_parts(text)
    text = _UNTICKED.sub(lambda match: _hidden(match[0]) if match["item"] else match[0], text)
    if "\n    " in text or "\n\t" in text or text[:1] in (" ", "\t"):
        text = _without_indented(text)
    return text.replace(_HIDDEN, " ")


def filled(text: str) -> str:
    """The prose of a text without empty headings."""
    if not _MARKS.search(text):
        return text
    text = prose(text)
    headings = sorted(_headings(text))
    if not headings:
        return text
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
    if "#" in text or "**" in text or "__" in text:
        yield from ((*match.span(), len(match["marks"] or "") or _BOLD) for match in _HEADING.finditer(text))
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


def _without_indented(text: str) -> str:
    lines, code, listed, empty = text.split("\n"), False, False, True
    for index, line in enumerate(lines):
        if not line.strip():
            empty = True
            continue
        code = bool(_INDENTED.match(line)) and not listed and (empty or code)
        listed = bool(_LISTED.match(line)) and not code or listed and line[:1] in " \t"
        empty = False
        if code:
            lines[index] = " " * len(line)
    return "\n".join(lines)


def _hidden(part: str) -> str:
    return _LETTER.sub(_HIDDEN, part)


def _blank(match: re.Match[str]) -> str:
    return _LETTER.sub(" ", match[0])
