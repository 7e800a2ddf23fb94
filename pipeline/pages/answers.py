"""The page in a model's answer: without fences and surrounding text, otherwise unchanged.

The doctype stays, and so does everything inside the page, including fences in its texts and scripts. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
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
_TAG = re.compile(r"<[a-z][\w-]*+(?=[\s/>])[^<>]*>", re.IGNORECASE)
#: a fence with the language, on its own line or with the beginning of the page after it
_FENCE = re.compile(
    r"^[ \t]*+(`{3,}+|~{3,}+)[ \t]*+([\w+-]*+)(?:[^\n`<]*+(?=<(?:!doctype\s+html|html)\b)|[^\n`]*+$)",
    re.IGNORECASE | re.MULTILINE,
)
#: a fence and the beginning of a page after it
_OPENING = re.compile(
    r"^[ \t]*+(?:`{3,}+|~{3,}+)[^\n`<]*+\s*+<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.MULTILINE
)
#: the declaration with which XHTML may begin, and the longest one that is looked for
_XML = re.compile(r"<\?xml\b[^<>]*\?>\s*\Z", re.IGNORECASE)
_LONGEST_XML = 300
#: the parts of a page without a doctype and a root element, and their ends
_PART = re.compile(r"^[ \t]*+<(?:head|body)\b[^<>]*+>", re.IGNORECASE | re.MULTILINE)
_PART_END = re.compile(r"</(?:head|body)\s*>", re.IGNORECASE)
#: the marks around the reasoning that some models print before the answer
_THOUGHT_BEGIN = r"(?:<(?:seed:)?(?:think(?:ing)?|thought|reasoning)>|\[think\])"
_THOUGHT_CLOSE = r"(?:</(?:seed:)?(?:think(?:ing)?|thought|reasoning)>|\[/think\])"
#: the reasoning; if it has no end, it was cut off, and there is no answer
_THOUGHT = re.compile(rf"\A\s*{_THOUGHT_BEGIN}.*?(?:{_THOUGHT_CLOSE}|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(rf"^[ \t]*{_THOUGHT_CLOSE}[ \t]*$", re.MULTILINE | re.IGNORECASE)
#: languages of fences that may contain a page
_HTML = ("html", "htm", "xhtml", "")


def has_tag(text: str) -> bool:
    """Whether a text has any tag of HTML. "3 < 5" and "<https://w3.org>" are none."""
    return bool(_TAG.search(text))


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
    begin = _begin(text)
    if begin is not None and _declared(text, begin) == 0:
        return _whole(text)
    text = _after_thought(text)
    blocks = list(_blocks(text))
    pages = [block for block in blocks if _begin(block.text) is not None]
    fenced = next((block for block in pages if _END.search(block.text)), pages[0] if pages else None)
    if fenced is not None and not _is_around(text, fenced, blocks):
        return _whole(fenced.text)
    if _begin(text) is not None:
        return _whole(text)
    parts = [block.text for block in blocks if block.language in _HTML and _TAG.search(block.text)]
    return max(parts, key=len).strip() if parts else _rootless(text)


def _is_around(text: str, block: _Block, blocks: Iterable[_Block]) -> bool:
    """Whether a page begins before a block, in none of the other blocks, and does not end in it: then it is the first
    page, or contains the block."""
    position = 0
    for other in blocks:
        if page := _DOCTYPE.search(text, position, min(other.start, block.start)):
            return bool(_END.search(text, page.end(), block.start) or _END.search(text, block.end))
        if other is block:
            break
        position = other.end
    return False


def _rootless(text: str) -> str:
    """The page in a text without doctype and root element: from its head or body to the end of its body; the whole text
    if there is neither."""
    begin = _PART.search(text)
    ends = [end.end() for end in _PART_END.finditer(text, begin.end())] if begin else []
    return text[begin.start() : ends[-1]].strip() if begin and ends else text


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
    openings = _Ahead(lambda start: (opening := _OPENING.search(text, start)) and opening.start())
    while begin := _FENCE.search(text, position):
        fence = begin[1]
        closing = re.compile(rf"^[ \t]*{re.escape(fence[0])}{{{len(fence)},}}[ \t\r]*$", re.MULTILINE)
        fences = closing.finditer(text, begin.end())
        end = _fitting(fences, pages.at(begin.end()), ends.at(begin.end()), openings) or (len(text),) * 2
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


def _fitting(
    fences: Iterator[re.Match[str]], page: int | None, done: int | None, openings: _Ahead
) -> tuple[int, int] | None:
    """The end of a block: the first fence at which the page in it is complete, else the first fence. `page` and `done`
    are where the next page begins and ends. After the first fence, a block does not go beyond a fence that opens
    another page: it was a part of a page, with talk after it."""
    first, other = None, None
    for fence in fences:
        if first is None:
            first, other = fence, openings.at(fence.end())
        elif other is not None and other <= fence.start():
            return first.span()
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
    return _declared(text, doctype.end() - len(doctype[0].lstrip()) if doctype else begin)


def _declared(text: str, begin: int) -> int:
    """Where the declaration of XML directly before a page begins; `begin` if there is none."""
    earliest = max(0, begin - _LONGEST_XML)
    declaration = _XML.search(text[earliest:begin])
    return earliest + declaration.start() if declaration else begin


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
