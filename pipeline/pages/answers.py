"""From what a model answers to the page in it: without fences and talk around it, and otherwise as it is.

The doctype stays, and so does all that stands inside the page, fences in its texts and scripts included. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

#: where a page begins: at its doctype or root, with the comments right before it
_BEGIN = re.compile(r"(?:<!--(?:(?!-->).)*-->\s*)*(?:<!doctype\s+html\b|<html\b)", re.IGNORECASE | re.DOTALL)
_DOCTYPE = re.compile(r"<!doctype\s+html\b|<html\b", re.IGNORECASE)
_END = re.compile(r"</html\s*>", re.IGNORECASE)
_TAG = re.compile(r"<[a-z][^<>]*>", re.IGNORECASE)
#: a fence of its own line, with the language
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n`]*$", re.MULTILINE)
#: what some models think aloud before they answer
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
#: languages of fences in which a page may be
_HTML = ("html", "htm", "xhtml", "")


class _Block(NamedTuple):
    language: str
    text: str


def page_of(answer: str) -> str:
    """The page in an answer; an answer without any is itself."""
    text = _THOUGHT.sub("", answer.lstrip("\ufeff")).strip()
    if _BEGIN.match(text):
        return _whole(text)
    blocks = list(_blocks(text))
    fenced = next((one.text for one in blocks if _BEGIN.search(one.text)), None)
    if fenced is not None:
        return _whole(fenced)
    if _BEGIN.search(text):
        return _whole(text)
    parts = [one.text for one in blocks if one.language in _HTML and _TAG.search(one.text)]
    return max(parts, key=len).strip() if parts else text


def _blocks(text: str) -> Iterator[_Block]:
    """The fenced blocks of a text; the last one may lack its end. A fence ends with one of its own kind and length."""
    place = 0
    while begin := _FENCE.search(text, place):
        mark = begin[1]
        closing = re.compile(rf"^[ \t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$", re.MULTILINE)
        ends = list(closing.finditer(text, begin.end()))
        end = _fitting(text, begin.end(), ends)
        yield _Block(begin[2].lower(), text[begin.end() : end[0]].strip("\n"))
        place = end[1]


def _fitting(text: str, start: int, ends: list[re.Match[str]]) -> tuple[int, int]:
    """Where a block ends: at the first fence, unless the page in it is not at its end there."""
    for one in ends:
        inside = text[start : one.start()]
        if not _BEGIN.search(inside) or _END.search(inside):
            return one.start(), one.end()
    return (ends[0].start(), ends[0].end()) if ends else (len(text), len(text))


def _whole(text: str) -> str:
    """From the beginning of the page to its end: the last one before another page begins."""
    begin = _BEGIN.search(text)
    page = text[begin.start() :] if begin else text
    ends = list(_END.finditer(page))
    for one in ends:
        if _DOCTYPE.match(page[one.end() :].lstrip("`~ \t\r\n")) or one is ends[-1]:
            return page[: one.end()]
    return page.strip()
