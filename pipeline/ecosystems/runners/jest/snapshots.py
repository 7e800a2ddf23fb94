"""Snapshot files of jest and vitest: `exports[`KEY`] = `TEXT`;`, and which snapshots belong to which test.

A key is the test's full name and a number (in jest with blanks between group and title, in vitest with ` > `, in both
with `: HINT` before the number if the test gives one). Does not cover inline snapshots, which are in the test's file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: what both runners write: everything between back-ticks, with back-ticks, backslashes and `${` escaped
_ENTRY = re.compile(r"^exports\[`((?:\\.|[^`\\])*)`\] = `((?:\\.|[^`\\])*)`;$", re.MULTILINE | re.DOTALL)
_ESCAPE = re.compile(r"\\([`\\]|\$\{)")
#: the text after a test's name in a key
_NUMBER = re.compile(r"(?:: .*)? \d+", re.DOTALL)
#: the suffix that `reports` adds to tests of the same name
_REPEATED = re.compile(r" \[\d+\]$")


def read(text: str) -> dict[str, str]:
    """The snapshots of a file by key, in its order."""
    return {_unescape(key): _unescape(body).strip("\n") for key, body in _ENTRY.findall(text)}


def entries(text: str) -> dict[str, tuple[int, int]]:
    """The spans of a file's snapshots by key."""
    return {_unescape(match[1]): match.span(2) for match in _ENTRY.finditer(text)}


def of_test(name: str, keys: Iterable[str]) -> list[str]:
    """The keys of one test, whose name is `file > group > title` (ecosystems.reports)."""
    test = _plain(_REPEATED.sub("", name.partition(" > ")[2]))
    return [key for key in keys if _plain(key).startswith(test) and _NUMBER.fullmatch(_plain(key)[len(test) :])]


def _plain(name: str) -> str:
    return name.replace(" > ", " ")


def _unescape(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)
