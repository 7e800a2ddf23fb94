"""The text that a person wrote: everything else is replaced by blanks, so positions stay the same.

Replaced are comments, code, quotations, unticked boxes and, for evidence, empty headings of a template. Does not render
Markdown: code and quotations are recognized only by their first characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: every text that has something to replace contains one of these
_MARKS = re.compile(
    r"`|<(?:!--|pre|code|blockquote|script|style)|\[\s?\]|~~~|\*\*|__"
    r"|(?:\A|\n)(?: {0,3}(?:[>#]|==|--)| {4}|\t|\s+>)",
    re.IGNORECASE,
)
#: a fence without an end extends to the end of the text; it can begin in a list
_FENCE = (
    r"^(?:[ ]{0,3}|(?P<list>[ ]*(?:(?:[-*+]|\d+[.)])[ \t]+)+))(?P<fence>`{3,}(?=[^`\n]*$)|~{3,})[^\n]*\n"
    r".*?(?:^(?(list)[ \t]*|[ ]{0,3})(?P=fence)[`~]*[ \t\r]*$|\Z)"
)
#: a comment without an end hides the rest, as on GitHub
_COMMENT = r"<!--.*?(?:-->|\Z)"
_ELEMENT = r"<(?P<tag>pre|code|blockquote|script|style)\b[^>]*>.*?</(?P=tag)\s*>"
#: the end of a paragraph: an empty line, or the beginning of a comment, quotation, heading, fence or list
_END = r"\n[ \t\r]*\n|\n[ ]{0,3}(?:<!--|>|\#{1,6}[ ]|`{3}|~{3})|\n[ \t]*(?:[-*+]|\d+[.)])[ \t]"
#: code begins and ends with the same number of backticks, in one paragraph
_CODE = rf"(?<!`)(?P<ticks>`+)(?!`)(?:(?!{_END}).)+?(?<!`)(?P=ticks)(?!`)"
_QUOTE = r"^[ ]{0,3}>[^\n]*"
#: what begins first hides what it contains: a fence in a comment is none, nor is a comment in code
_PARTS = re.compile("|".join((_FENCE, _COMMENT, _ELEMENT, _CODE, _QUOTE)), re.DOTALL | re.MULTILINE | re.IGNORECASE)
_UNTICKED = re.compile(
    r"^\s*(?:[-*+]|\d+[.)])\s+\[\s?\](?=\s)[^\n]*(?:\n[ \t]+(?!(?:[-*+]|\d+[.)])\s)\S[^\n]*)*", re.MULTILINE
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
    r"[\s*_.:-]*(?:n\s?/\s?a|none|no|nothing|tbd|_no response_|not applicable)?[\s*_.:-]*", re.IGNORECASE
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
    for parts in (_PARTS, _UNTICKED):
        text = parts.sub(_hide, text)
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
    ends = [start for start, _, _ in headings[1:]] + [len(text)]
    for index in range(len(headings) - 1, -1, -1):
        start, end, level = headings[index]
        is_empty = _NOTHING.fullmatch(text, end, ends[index]) is not None
        below = headings[index + 1] if index + 1 < len(headings) else None
        has_filled_part = below and below[2] > level and text[slice(*below[:2])].strip()
        if is_empty and not has_filled_part:
            text = text[:start] + _LETTER.sub(" ", text[start:end]) + text[end:]
    return text


def unquoted(text: str) -> str:
    """The prose of a text without quotations within its lines, which may name issues of other texts."""
    text = prose(text)
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


def _hide(match: re.Match[str]) -> str:
    return _LETTER.sub(_HIDDEN, match[0])


def _blank(match: re.Match[str]) -> str:
    return _LETTER.sub(" ", match[0])
