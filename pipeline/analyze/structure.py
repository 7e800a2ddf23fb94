"""The structure of a patch: its files, lines and hunks, and how its files agree with another patch's. Pure, on text.

The definitions are the thesis's (5.3.2, 5.3.3): a hunk is a contiguous block of changed lines, and localisation is the
Jaccard index of the two sets of files, without tests that a patch adds or changes on its own. Renamed files count under
their new name, deleted ones under their old; binary files have no lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from posixpath import normpath
from typing import NamedTuple

from pipeline.core.patches import is_test_file, sections

#: a plain unified diff, without git's headers, as some agents write it
_PLAIN_FILE = re.compile(r"^(?=--- [^\n]*\n\+\+\+ )", re.MULTILINE)
_PLAIN_NAMES = re.compile(r"--- (?:a/)?([^\t\r\n]+).*\n\+\+\+ (?:b/)?([^\t\r\n]+)")
#: the name of a missing file: the old name of an added file, the new name of a deleted one
_NOWHERE = "/dev/null"
_FIRST_HUNK = re.compile(r"^@@ -", re.MULTILINE)
_CHANGED = re.compile(r"^[+-]", re.MULTILINE)
_BLOCK = re.compile(r"(?:^[+-].*\n?(?:\\ .*\n?)?)+", re.MULTILINE)


class Structure(NamedTuple):
    """The numbers of changed files, of added or removed lines, and of contiguous blocks of such lines."""

    files: int
    lines: int
    hunks: int


class Match(NamedTuple):
    """How a patch's files agree with gold's. `localisation` is `perfect`, `partial` or `miss`."""

    common: int
    jaccard: float
    localisation: str


def changed_files(patch: str) -> frozenset[str]:
    """The files that a patch changes, each by its shortest path."""
    return _named(_files(patch))


def structure(patch: str) -> Structure:
    """Count the files, lines and hunks of a patch."""
    return structure_and_files(patch)[0]


def structure_and_files(patch: str) -> tuple[Structure, frozenset[str]]:
    """The structure of a patch and the files that it changes."""
    found = list(_files(patch))
    files, bodies = _named(found), [_body(text) for _, text in found]
    lines = sum(len(_CHANGED.findall(body)) for body in bodies)
    return Structure(len(files), lines, sum(len(_BLOCK.findall(body)) for body in bodies)), files


def match(files: frozenset[str], gold: frozenset[str]) -> Match:
    """Compare the files of a patch that is not empty with gold's. The patch's own tests do not count as wrong files:
    gold's tests are in the test patch, and evaluation replaces tests with those."""
    files = frozenset(path for path in files if path in gold or not is_test_file(path))
    common = len(files & gold)
    jaccard = common / (len(files | gold) or 1)
    return Match(common, jaccard, "perfect" if jaccard == 1 else "partial" if jaccard else "miss")


def _named(found: Iterable[tuple[str, str]]) -> frozenset[str]:
    return frozenset(normpath(path) for path, _ in found)


def _files(patch: str) -> Iterator[tuple[str, str]]:
    found = list(sections(patch))
    yield from found or _plain(patch)


def _plain(patch: str) -> Iterator[tuple[str, str]]:
    for part in _PLAIN_FILE.split(patch):
        if names := _PLAIN_NAMES.match(part):
            yield names[1] if names[2] == _NOWHERE else names[2], part


def _body(section: str) -> str:
    """What follows the headers: `---` and `+++` lines in there are changed lines."""
    start = _FIRST_HUNK.search(section)
    return section[start.start() :] if start else ""
