"""Finding many patterns in many texts, at the speed of one pass.

RE2's set says in one pass which patterns can match (it is linear, keeps Google's own wheels for every Python and takes
the patterns as they are); Python's `re` then finds the matches of those few. RE2 sees a wider form of each pattern, so
that what is found is what a loop over all patterns finds. What RE2 can not express is always searched for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

#: escapes that mean less to RE2 (ASCII) than to Python (Unicode) -> the wider form, as the inside of a class
_CLASSES = {r"\s": r"\s\x0b\x1c-\x1f\x{85}\p{Z}", r"\w": r"\p{L}\p{N}_", r"\d": r"\p{Nd}"}
_TOKEN = re.compile(r"\[((?:\\.|[^\]\\])+)\]|\\.", re.DOTALL)
_ESCAPE = re.compile(r"\\.", re.DOTALL)
#: here a wider part would make the whole narrower, or the two languages differ
_DIFFERENT = re.compile(r"\[\^|\$|\\[BZ]|[^\x00-\x7f]")
#: letters that Python takes for an `i` when case is ignored, and RE2 does not
_DOTS = str.maketrans("ıİ", "ii")


class Scanner:
    """Patterns to look for, case ignored; `unfiltered` are those that are searched for in every text.

    Raises re.error for a pattern that Python does not take.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = [re.compile(pattern, re.IGNORECASE) for pattern in patterns]
        self._set, self._members, self.unfiltered = _prefilter(patterns)

    def suspects(self, text: str) -> bool:
        """Whether any pattern can match at all; False is certain."""
        return bool(self.unfiltered or self._hits(text))

    def find(self, text: str) -> list[re.Match[str]]:
        """Every match of every pattern, pattern by pattern."""
        hits = self._hits(text)
        if not hits and not self.unfiltered:
            return []
        indexes = sorted([*(self._members[hit] for hit in hits), *self.unfiltered])
        return [match for index in indexes for match in self.patterns[index].finditer(text)]

    def _hits(self, text: str) -> list[int]:
        data = text.encode() if text.isascii() else text.translate(_DOTS).encode("utf-8", "replace")
        return self._set.Match(data) or []


def _prefilter(patterns: Sequence[str]) -> tuple[Any, list[int], list[int]]:
    """The set, the pattern behind each of its members, and the patterns that are not in it."""
    import re2

    options = re2.Options()
    options.case_sensitive, options.log_errors, options.max_mem = False, False, 64 << 20
    found, members, always = re2.Set.SearchSet(options), [], []
    for index, pattern in enumerate(patterns):
        try:
            if _DIFFERENT.search(pattern):
                raise re2.error(pattern)
            found.Add(widen(pattern))
            members.append(index)
        except re2.error:
            always.append(index)
    found.Compile()
    return found, members, always


def widen(pattern: str) -> str:
    r"""A pattern for RE2 that matches wherever Python's does: Unicode's blanks, letters and digits, and no `\b`."""

    def wider(match: re.Match[str]) -> str:
        if match[1]:
            return f"[{_ESCAPE.sub(lambda escape: _CLASSES.get(escape[0], escape[0]), match[1])}]"
        return "" if match[0] == r"\b" else f"[{_CLASSES[match[0]]}]" if match[0] in _CLASSES else match[0]

    return _TOKEN.sub(wider, pattern)
