"""The page in a model's answer: without fences and surrounding text, otherwise unchanged.

The doctype stays, and so does everything inside the page, including fences in its texts and scripts. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

#: the beginning of a page (its doctype or root element), or of a comment
_MARK = re.compile(r"<!--|<!doctype\s+html\b|<html\b", re.IGNORECASE)
#: a doctype at the beginning of a line
_DOCTYPE = re.compile(r"^[ \t]*<!doctype\s+html\b", re.IGNORECASE | re.MULTILINE)
_END = re.compile(r"</html\s*>", re.IGNORECASE)
#: the end of a page, the beginning of another one, and elements whose text may look like either
_PIECE = re.compile(
    r"(?P<end></html\s*>)(?P<last>(?=[`~\s]*<(?:!doctype\s+html|html)\b))?|(?P<other>^[ \t]*<!doctype\s+html\b)"
    r"|<!--.*?(?:-->|\Z)|<(?P<name>script|style|textarea|title|pre|iframe)(?=[\s/>]).*?(?:</(?P=name)\s*>|\Z)",
    re.IGNORECASE | re.DOTALL | re.MULTILINE,
)
#: what browsers add to the body although it follows the page's end
_TAIL = re.compile(r"(?:\s*(?:<!--.*?-->|<(script|style)\b[^>]*>.*?</\1\s*>))*", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[a-z][^<>]*>", re.IGNORECASE)
#: a fence on its own line, with the language
_FENCE = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([\w+-]*+)[^\n`]*+$", re.MULTILINE)
#: the reasoning that some models print before the answer; if it has no end, it was cut off, and there is no answer
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"^[ \t]*</think(?:ing)?>[ \t]*$", re.MULTILINE | re.IGNORECASE)
#: languages of fences that may contain a page
_HTML = ("html", "htm", "xhtml", "")


class _Block(NamedTuple):
    """A fenced block: its language, its text, and where it begins and ends, with its fences."""

    language: str
    text: str
    start: int
    end: int


def page_of(answer: str) -> str:
    """The page in an answer; the whole answer if it contains none; nothing if it is reasoning that was cut off. Takes
    time in proportion to its length."""
    text = _THOUGHT.sub("", answer.lstrip("\ufeff")).strip()
    if _begin(text) == 0:
        return _whole(text)
    text = _after_thought(text)
    blocks = list(_blocks(text))
    fenced = next((block for block in blocks if _begin(block.text) is not None), None)
    if fenced is not None and not _is_around(text, fenced):
        return _whole(fenced.text)
    if _begin(text) is not None:
        return _whole(text)
    parts = [block.text for block in blocks if block.language in _HTML and _TAG.search(block.text)]
    return max(parts, key=len).strip() if parts else text


def _is_around(text: str, block: _Block) -> bool:
    """Whether a page begins before a block and does not end in it: then it is the first page, or contains the block."""
    page = _DOCTYPE.search(text, 0, block.start)
    return page is not None and bool(_END.search(text, page.end(), block.start) or _END.search(text, block.end))


def _after_thought(text: str) -> str:
    """The text after reasoning that ends with its mark but does not begin with it: some servers drop the first mark.
    Only if a page or a part of one follows, since a page can contain the mark itself."""
    ends = [end.end() for end in _THOUGHT_END.finditer(text)]
    after = text[ends[-1] :] if ends else ""
    has_page = _begin(after) is not None or (_TAG.search(after) and not _END.search(after))
    return after.strip() if has_page else text


def _begin(text: str, start: int = 0) -> int | None:
    """Where a page begins: at its doctype or root element, or at the comments directly before it; None without a page.

    What looks like a page in a comment is one only if no page follows the comment directly: prose can contain `<!--`.
    """
    comments = end = start  # where the latest comments begin and end
    hidden: int | None = None
    close = 0
    for mark in _MARK.finditer(text, start):
        follows = mark.start() >= end and not text[end : mark.start()].strip() and end > comments
        if mark.start() < end:
            hidden = mark.start() if hidden is None and mark[0] != "<!--" else hidden
        elif hidden is not None and not follows:
            return hidden
        elif mark[0] != "<!--":
            return comments if follows else mark.start()
        else:
            close = close if close < 0 or close >= mark.end() else text.find("-->", mark.end())
            if close >= 0:
                comments, end = comments if follows else mark.start(), close + len("-->")
    return hidden


def _blocks(text: str) -> Iterator[_Block]:
    """The fenced blocks of a text; the last one may lack its end. A block ends at a fence of the same kind and
    length."""
    position = 0
    pages = _Ahead(partial(_begin, text))
    ends = _Ahead(lambda start: (tag := _END.search(text, start)) and tag.start())
    while begin := _FENCE.search(text, position):
        fence = begin[1]
        closing = re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t\r]*$", re.MULTILINE)
        end = (
            _fitting(closing.finditer(text, begin.end()), pages.at(begin.end()), ends.at(begin.end()))
            or (len(text),) * 2
        )
        yield _Block(begin[2].lower(), text[begin.end() : end[0]].strip("\r\n"), begin.start(), end[1])
        position = end[1]


class _Ahead:
    """The next place of a pattern in a text. It is searched for again only after it was passed."""

    def __init__(self, find: Callable[[int], int | None]) -> None:
        self._find, self._found = find, find(0)

    def at(self, start: int) -> int | None:
        """The first place from `start` on; None if there is none. `start` never decreases."""
        if self._found is not None and self._found < start:
            self._found = self._find(start)
        return self._found


def _fitting(fences: Iterator[re.Match[str]], page: int | None, done: int | None) -> tuple[int, int] | None:
    """The end of a block: the first fence at which the page in it is complete, else the first fence. `page` and `done`
    are where the next page begins and ends."""
    first = None
    for fence in fences:
        first = first or fence
        if page is None or page >= fence.start() or (done is not None and done < fence.start()):
            return fence.span()
    return first and first.span()


def _whole(text: str) -> str:
    """The page from its beginning to its end, with scripts and styles after it."""
    page = text[_start(text) :]
    end = _end(page)
    if end is None:
        return page.strip()
    tail = _TAIL.match(page, end)
    return page[: tail.end() if tail else end]


def _start(text: str) -> int:
    """Where the first page begins; 0 without a page. It begins at a doctype on a line of its own rather than at a root
    element that a sentence before it names."""
    begin = _begin(text) or 0
    line = text.rfind("\n", 0, begin) + 1
    is_named = text[line:begin].strip() and text[begin : begin + 5].lower() == "<html"
    doctype = _DOCTYPE.search(text, begin) if is_named else None
    return doctype.end() - len(doctype[0].lstrip()) if doctype else begin


def _end(page: str) -> int | None:
    """Where a page ends: at its last end tag before another page begins, not counting those in its scripts and texts;
    None without an end tag."""
    end = None
    for piece in _PIECE.finditer(page, 1):
        if piece["other"] and end is not None:
            return end
        end = piece.end("end") if piece["end"] else end
        if piece["last"] is not None:
            return end
    return end or next((tag.end() for tag in reversed(list(_END.finditer(page)))), None)
