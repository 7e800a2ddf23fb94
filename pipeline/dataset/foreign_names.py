"""Which of our tests another benchmark's name stands for: the name may leave out the file, outer suites and words
between, and may be a whole file.

Names are compared by their letters and digits, and by their punctuation if only that tells tests apart. What runners
print around a name (`PASS`, `./`, a duration) is no part of it. Several tests may have the same name there.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

SEPARATOR = " > "
_PUNCTUATION = re.compile(r"[\W_]+")
#: what runners print before and after a name: a status, the folder that they run in, a duration
_BEFORE = re.compile(r"^(?:(?:PASS|FAIL)(?:ED)?\s+)?(?:\./)?")
_DURATION = re.compile(
    r"(?:\s+\(\s*(?:\d+(?:\.\d+)?\s*(?:ms|s|secs?|seconds?|m|mins?|minutes?|h)\b\s*)+\)|\s+\d+(?:\.\d+)?\s?ms)\s*$"
)
#: parts of a name that a test's file may contain literally: the text between numbers, quotes and punctuation
_BETWEEN = re.compile(r"[^A-Za-z ]+")


class Names:
    """Our tests by every name that another benchmark may use."""

    def __init__(self, tests: Iterable[str]) -> None:
        self._by_key: dict[str, list[str]] = defaultdict(list)
        self._of_file: dict[str, list[str]] = defaultdict(list)
        for test in tests:
            parts = test.split(SEPARATOR)
            self._of_file[parts[0]].append(test)
            for start in range(len(parts)):
                self._by_key[key("".join(parts[start:]))].append(test)

    def of(self, name: str) -> list[str]:
        """The tests that a name stands for: all tests of a file, or all tests of that name; empty for an unknown
        name."""
        return self._find(name) or self._find(plain(name))

    def _find(self, name: str) -> list[str]:
        found = self._of_file.get(name) or self._by_key.get(key(name), [])
        if len(found) < 2:
            return found
        same = [test for test in found if f"{SEPARATOR}{test}".endswith(f"{SEPARATOR}{name}")]
        return same or [test for test in found if _ends_with(test, name)] or found


def plain(name: str) -> str:
    """A name without what runners print around it."""
    return _DURATION.sub("", _BEFORE.sub("", name.strip()))


def key(name: str) -> str:
    """The letters and digits of a name."""
    return _PUNCTUATION.sub("", name).lower()


def _ends_with(test: str, name: str) -> bool:
    """Whether a name is the end of a test's with its punctuation, whatever stands between suites."""
    parts = [r"\s+".join(map(re.escape, part.split())) for part in test.split(SEPARATOR)]
    return any(re.fullmatch(r"[\W_]*".join(parts[start:]), name.strip()) for start in range(len(parts)))


def fragments(name: str) -> list[str]:
    """The parts of a name that its test's source contains literally."""
    return [text for part in _BETWEEN.split(name) if len(text := part.strip()) > 3]
