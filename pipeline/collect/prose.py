"""What a person wrote in a text: everything else is blanked out, so that positions stay the same.

Blanked are comments, code, quotations, unticked boxes and, for evidence, empty headings of a template. Does not render
Markdown: code and quotations are recognized by their first characters only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

#: one of these is in every text that has something to blank out
_MARKS = re.compile(
    r"`|<(?:!--|pre|code|blockquote|script|style)|\[\s?\]|~~~|\*\*|__"
    r"|(?:\A|\n)(?: {0,3}(?:[>#]|==|--)| {4}|\t|\s+>)",
    re.IGNORECASE,
)
#: a comment that does not end hides the rest, as on GitHub
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ELEMENT = re.compile(r"<(pre|code|blockquote|script|style)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
#: a fence that is not closed holds the rest
_FENCE = re.compile(
    r"^[ ]{0,3}(?P<fence>`{3,}|~{3,})[^\n]*\n.*?(?:^[ ]{0,3}(?P=fence)[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE
)
#: as many backticks end it as begin it, in the same paragraph
_CODE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)(?P=ticks)(?!`)", re.DOTALL)
_QUOTE = re.compile(r"^[ ]{0,3}>[^\n]*", re.MULTILINE)
_UNTICKED = re.compile(
    r"^\s*(?:[-*+]|\d+[.)])\s+\[\s?\](?=\s)[^\n]*(?:\n[ \t]+(?!(?:[-*+]|\d+[.)])\s)\S[^\n]*)*", re.MULTILINE
)
_PARTS = (_FENCE, _COMMENT, _ELEMENT, _CODE, _QUOTE, _UNTICKED)
#: a line after an empty one that is so far in is code, unless it goes on with a list
_INDENTED = re.compile(r"(?: {4}|\t)")
_LISTED = re.compile(r"\s*(?:[-*+]|\d+[.)])\s")
#: `## Heading`, or bold letters that begin a line
_HEADING = re.compile(
    r"^[ ]{0,3}(?:(?P<marks>#{1,6})[ \t]+[^\n]*$|(?:\*\*[^*\n]+\*\*|__[^_\n]+__):?)",
    re.MULTILINE,
)
_UNDERLINED = re.compile(r"(?:\A|(?<=\n\n))(?=\S)(?P<text>[^\n]+)\n(?P<line>={2,}|-{2,})[ \t]*$", re.MULTILINE)
#: what stands below a heading that nobody filled in
_NOTHING = re.compile(
    r"[\s*_.:-]*(?:n\s?/\s?a|none|no|nothing|tbd|_no response_|not applicable)?[\s*_.:-]*", re.IGNORECASE
)
#: a quotation inside a line: what it refers to is another text's
_QUOTATION = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”")
#: the level of a heading in bold letters: below all others
_BOLD = 7
#: stands for what is hidden until all is: a blank would make code of what follows it
_HIDDEN = "\0"
_LETTER = re.compile(r"[^\n]")


def prose(text: str) -> str:
    """A text of the same length with nothing but prose in it."""
    if not _MARKS.search(text):
        return text
    for part in _PARTS:
        text = part.sub(_hide, text)
    if "\n    " in text or "\n\t" in text or text[:1] in (" ", "\t"):
        text = _without_indented(text)
    return text.replace(_HIDDEN, " ")


def filled(text: str) -> str:
    """The prose of a text without headings that nothing follows."""
    if not _MARKS.search(text):
        return text
    text = prose(text)
    found = sorted(_headings(text))
    if not found:
        return text
    ends = [start for start, _, _ in found[1:]] + [len(text)]
    for index in range(len(found) - 1, -1, -1):
        start, end, level = found[index]
        own = _NOTHING.fullmatch(text, end, ends[index]) is not None
        below = index + 1 < len(found) and found[index + 1][2] > level and text[slice(*found[index + 1][:2])].strip()
        if own and not below:
            text = text[:start] + _LETTER.sub(" ", text[start:end]) + text[end:]
    return text


def unquoted(text: str) -> str:
    """The prose of a text without quotations inside its lines: what it says itself of other issues."""
    text = prose(text)
    return _QUOTATION.sub(_blank, text) if '"' in text or "“" in text else text


def _headings(text: str) -> Iterator[tuple[int, int, int]]:
    """Where each begins and ends, and its level."""
    if "#" in text or "**" in text or "__" in text:
        yield from ((*one.span(), len(one["marks"] or "") or _BOLD) for one in _HEADING.finditer(text))
    if "\n=" in text or "\n-" in text:
        yield from (
            (*one.span(), 1 if one["line"][0] == "=" else 2)
            for one in _UNDERLINED.finditer(text)
            if one["text"][:1] not in "-*+#"
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
