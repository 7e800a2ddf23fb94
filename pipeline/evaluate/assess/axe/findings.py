"""What axe-core finds in a page, as our violations, and what a patch changes of them. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pipeline.core.assessment import AxeDelta, Violation

_NAME = re.compile(r' "(?:\\.|[^"\\])*"')

Found = tuple[Violation, ...]


def violations(rows: Iterable[Mapping[str, Any]]) -> Found:
    """The rows of an audit with their `tests` (or stories), in an order that does not depend on the tests' own."""
    found = (Violation(**{**row, "tests": sorted(set(row["tests"]))}) for row in rows)
    return tuple(sorted(found, key=lambda one: (one.rule, one.element)))


def delta(base: Found, gold: Found, candidate: Found, tests: int | None = None) -> AxeDelta:
    """What the candidate fixes, leaves and introduces; `tests` are those that were audited with it."""
    pairs = _pairs(base, candidate)
    left = set(pairs.values())
    return AxeDelta(
        base=len(base),
        gold=len(gold),
        candidate=len(candidate),
        fixed=tuple(one for one in base if one not in pairs),
        remaining=tuple(one for one in candidate if one in left),
        introduced=tuple(one for one in candidate if one not in left),
        tests=tests,
    )


#: what makes two violations the same, from the strictest: the place, or else the roles on the way to it
SAME: tuple[Callable[[Violation], tuple[str, str]], ...] = (
    lambda one: (one.rule, one.element),
    lambda one: (one.rule, _NAME.sub("", one.element)),
)


def _pairs(before: Found, after: Found) -> dict[Violation, Violation]:
    """Violations before, with what they are after."""
    pairs: dict[Violation, Violation] = {}
    for same in SAME:
        free = defaultdict(list)
        for one in sorted(set(after) - set(pairs.values()), key=after.index):
            free[same(one)].append(one)
        for one in before:
            if one not in pairs and free[same(one)]:
                pairs[one] = free[same(one)].pop(0)
    return pairs
