"""The page in a model's answer: without fences and surrounding text, otherwise unchanged.

The doctype stays, and so does everything inside the page, including fences in its texts and scripts. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

#: the beginning of a page: its doctype or root element, with comments directly before it
_BEGIN = re.compile(r"(?:<!--(?:(?!-->).)*-->\s*)*(?:<!doctype\s+html\b|<html\b)", re.IGNORECASE | re.DOTALL)
_DOCTYPE = re.compile(r"<!doctype\s+html\b|<html\b", re.IGNORECASE)
_END = re.compile(r"</html\s*>", re.IGNORECASE)
#: what browsers add to the body although it follows the page's end
_TAIL = re.compile(r"(?:\s*(?:<!--.*?-->|<(script|style)\b[^>]*>.*?</\1\s*>))*", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[a-z][^<>]*>", re.IGNORECASE)
#: a fence on its own line, with the language
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})[ \t]*([\w+-]*)[^\n`]*$", re.MULTILINE)
#: the reasoning that some models print before the answer
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
#: languages of fences that may contain a page
_HTML = ("html", "htm", "xhtml", "")


class _Block(NamedTuple):
    language: str
    text: str


def page_of(answer: str) -> str:
    """The page in an answer; the whole answer if it contains none."""
    text = _THOUGHT.sub("", answer.lstrip("\ufeff")).strip()
    if _BEGIN.match(text):
        return _whole(text)
    blocks = list(_blocks(text))
    fenced = next((block.text for block in blocks if _BEGIN.search(block.text)), None)
    if fenced is not None:
        return _whole(fenced)
    if _BEGIN.search(text):
        return _whole(text)
    parts = [block.text for block in blocks if block.language in _HTML and _TAG.search(block.text)]
    return max(parts, key=len).strip() if parts else text


def _blocks(text: str) -> Iterator[_Block]:
    """The fenced blocks of a text; the last one may lack its end. A block ends at a fence of the same kind and
    length."""
    position = 0
    while begin := _FENCE.search(text, position):
        fence = begin[1]
        closing = re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", re.MULTILINE)
        ends = list(closing.finditer(text, begin.end()))
        end = _fitting(text, begin.end(), ends)
        yield _Block(begin[2].lower(), text[begin.end() : end[0]].strip("\n"))
        position = end[1]


def _fitting(text: str, start: int, ends: list[re.Match[str]]) -> tuple[int, int]:
    """The end of a block: the first fence at which the page in it is complete."""
    for end in ends:
        inside = text[start : end.start()]
        if not _BEGIN.search(inside) or _END.search(inside):
            return end.start(), end.end()
    return (ends[0].start(), ends[0].end()) if ends else (len(text), len(text))


def _whole(text: str) -> str:
    """The page from its beginning to its last end tag before another page begins, with scripts and styles after it."""
    begin = _BEGIN.search(text)
    page = text[begin.start() :] if begin else text
    ends = list(_END.finditer(page))
    for tag in ends:
        if _DOCTYPE.match(page[tag.end() :].lstrip("`~ \t\r\n")) or tag is ends[-1]:
            tail = _TAIL.match(page, tag.end())
            return page[: tail.end() if tail else tag.end()]
    return page.strip()
