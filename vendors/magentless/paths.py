"""The paths that a line of a model's reply begins with, in the forms in which models write them.

A path may have marks around it (a heading, a bullet, quotes, bold, a comment, a link, a tag, a table, JSON, the fence
of a code block), a label before it (`File 2:`, `Modified:`, `In`) and a place or a note after it (`:12`, `(new)`).
Paths are only text here: nothing is opened or evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from magentless.words import unwrapped

_NOUN = r"(?:file[\s_]*(?:name|path)|files?|path)"
_VERB = r"(?:in|for|to|edit|modify|modified|updated?|change[sd]?|new|created?|add(?:ed)?|fix|patch|block)"
_LABEL = rf"(?:{_NOUN}|{_VERB})(?:\s+\#?\d+)?[`*\"']*"
_ATTRIBUTE = r"(?:file(?:name|path)?|path|name|title)=(?=[^\s=])[\"']?"
#: what may precede a path, in any order and number
_TOKENS = (
    r"(?:^[`~]{3,}(?:[\w-]*[\s:])?)",  # a fence and its language
    r"(?:\d+\s*[.)|](?=[\s`*\[]))",  # the number of an item or a row
    r"(?:/[/*]|<!--|[-•*#=|{`\"'>]|\+(?=[\s+])|\[(?=\s*[\"'{]))",  # other marks
    r"(?:<[\w-]+\s+(?=\w+=[\"']))",  # a tag with the path as an attribute
    rf"(?:{_LABEL}(?:\s*:|(?=\s)(?!\s*[|=])))",  # a label
    rf"(?:{_ATTRIBUTE})",
)
_BEFORE = rf"(?:(?:{'|'.join(_TOKENS)})\s*)*+"
_CHARACTER = r"[^\s`*|<>,;:#\"'={}]"
_WORD = rf"(?P<path>{_CHARACTER}*(?!\.){_CHARACTER})"  # a dot at its end is the sentence's
FIRST = re.compile(rf"(?P<before>{_BEFORE}){_WORD}", re.I)
#: a further path of the same line
NEXT = re.compile(rf"[\s`*\"'\])}}]*(?:[,;|&]|and\b)\s*{_BEFORE}(?={_CHARACTER}*[./]){_WORD}", re.I)
#: marks, a place, a note and again marks, which alone may follow a path that prose could contain
_MARKS = r"[\s`*\"':|=#}\])/>-]*+"
ALONE = re.compile(
    rf"(?:[:#]L?[0-9][0-9:L–-]*+)?{_MARKS}(?:lines?\b[\s:]*[0-9][0-9\s,–-]*+{_MARKS})?(?:\([^()]*\){_MARKS})?$", re.I
)
#: what may follow the path of a heading or a fence
AFTER = re.compile(r"[`*\"'}:,]*(?:[\s:#].*)?$")
#: labels with a colon, and those without, which could also be words of a sentence
LABEL, ATTRIBUTE = re.compile(rf"{_LABEL}\s*:", re.I), re.compile(_ATTRIBUTE, re.I)
NOUN, VERB = re.compile(rf"\b{_NOUN}[\s`*\"']*$", re.I), re.compile(rf"\b{_VERB}\b", re.I)
#: the name of a file has an extension, and a letter if it has no folder
FILE = re.compile(r"(?:.*/[^/]+|[^/]*[A-Za-z_][^/]*)\.[A-Za-z]\w{0,8}$")
#: characters that do not show that a word without a slash is a path
BULLETS = "-+•0123456789.) "
#: characters of a line that can name a file; a longer one is a model's that repeats itself
LONGEST = 500


class Reading(NamedTuple):
    """What a line consists of: marks and labels, paths, and the rest. `text` is all that follows the marks."""

    before: str
    paths: tuple[str, ...]
    rest: str
    text: str

    @property
    def is_alone(self) -> bool:
        """Whether nothing but marks, a place or a note follows the paths."""
        return bool(ALONE.match(self.rest))

    @property
    def is_said(self) -> bool:
        """Whether the words before the paths could begin a sentence: a label without a colon."""
        return not self.is_fence and bool(re.search("[A-Za-z]", self._marks))

    @property
    def is_fence(self) -> bool:
        """Whether the line is the fence of a code block."""
        return self.before.startswith(("```", "~~~"))

    @property
    def is_told(self) -> bool:
        """Whether what precedes a word shows that it is a path even if it has no slash."""
        return not self.is_fence and bool(VERB.split(self._marks)[0].strip(BULLETS) or NOUN.search(self._marks))

    @property
    def _marks(self) -> str:
        """What precedes the paths, with `#` for each label with a colon, and without attributes: code has them, too."""
        return ATTRIBUTE.sub("", LABEL.sub("#", self.before))


def read(line: str) -> Reading:
    """The words at the beginning of a line that can be paths of files or folders."""
    line = unwrapped(line.strip())
    found = FIRST.match(line)
    if not found:
        return Reading("", (), line, line)
    paths, end = [found["path"]], found.end()
    while re.search("[./]", paths[0]) and (further := NEXT.match(line, end)):
        paths.append(further["path"])
        end = further.end()
    return Reading(found["before"], tuple(map(clean, paths)), line[end:], line[found.start("path") :])


def path_of(line: str) -> str:
    """The path in a line that only names a file; empty for any other line."""
    if len(line) > LONGEST:
        return ""
    reading = read(line)
    if len(reading.paths) != 1 or not FILE.match(path := reading.paths[0]):
        return ""
    is_heading = reading.before.startswith("#") and not reading.is_said
    has_end = AFTER.match(reading.rest) if is_heading or reading.is_fence else reading.is_alone
    return path if has_end and ("/" in path or reading.is_told) else ""


def clean(path: str) -> str:
    """A path without `./` before it, a slash after it, and backslashes."""
    return re.sub(r"^(?:\./)+", "", re.sub(r"\\+", "" if "/" in path else "/", path)).rstrip("/")


def namesakes(path: str, known: Collection[str]) -> list[str]:
    """The known paths with the same file name; the path itself if it is known."""
    name = path.rpartition("/")[2]
    return [path] if path in known else [other for other in known if other.rpartition("/")[2] == name]


def meant(path: str, known: Collection[str]) -> str:
    """The only known path that this is the end of, or that ends this one (`a/src/M.tsx`); empty without one."""
    alike = [
        other for other in namesakes(path, known) if f"/{path}".endswith(f"/{other}") or other.endswith(f"/{path}")
    ]
    return alike[0] if len(alike) == 1 else ""
