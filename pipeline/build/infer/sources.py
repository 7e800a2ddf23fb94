"""JavaScript sources as text: without remarks, and their literals. Nothing is parsed.

Does not cover regular expressions that contain quotes or `//`, and templates within templates.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r"""(?P<remark>//[^\n]*|/\*.*?\*/)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`""", re.DOTALL
)
#: remarks that name the types in use: `/// <reference types="vitest" />`, `@type {import("vitest").Mock}`
_TYPES = re.compile(r"///\s*<|\bimport\s*\(")
_ESCAPED = re.compile(r"\\([\"'`$\\])")


class Literal(NamedTuple):
    """A text in quotes, without these, and where it begins and ends with them."""

    text: str
    start: int
    end: int


def without_remarks(source: str) -> str:
    """A source without its remarks, except those that name types."""
    return _TOKEN.sub(lambda match: _kept(match[0]) if match["remark"] else match[0], source)


def literals(source: str) -> list[Literal]:
    """The literals of a source, in order."""
    matches = (match for match in _TOKEN.finditer(source) if not match["remark"])
    return [Literal(_ESCAPED.sub(r"\1", match[0][1:-1]), *match.span()) for match in matches]


def _kept(remark: str) -> str:
    return remark if _TYPES.search(remark) else ""
