"""Which of our tests another benchmark means by a name: it may leave out the file, outer suites and the words between,
and may grade whole files.

Names are compared by their letters and digits. Several tests of one name are one for whoever collapses them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

SEPARATOR = " > "
_OTHERS = re.compile(r"[\W_]+")
#: parts of a name that a test's file may hold word for word: what stands between numbers, quotes and marks
_BETWEEN = re.compile(r"[^A-Za-z ]+")


class Names:
    """Our tests by every name that they may have elsewhere."""

    def __init__(self, tests: Iterable[str]) -> None:
        self._by_key: dict[str, list[str]] = defaultdict(list)
        self._of_file: dict[str, list[str]] = defaultdict(list)
        for test in tests:
            parts = test.split(SEPARATOR)
            self._of_file[parts[0]].append(test)
            for start in range(len(parts)):
                self._by_key[key("".join(parts[start:]))].append(test)

    def of(self, name: str) -> list[str]:
        """The tests that a name means: those of a file, or all that are called so; none where there is none."""
        return self._of_file.get(name) or self._by_key.get(key(name), [])


def key(name: str) -> str:
    """A name by its letters and digits."""
    return _OTHERS.sub("", name).lower()


def fragments(name: str) -> list[str]:
    """The words of a name that stand in its test's source as they are."""
    return [text for part in _BETWEEN.split(name) if len(text := part.strip()) > 3]
