"""What axe-core finds in a page, as our violations, and what a patch changes of them. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pipeline.core.assessment import AxeDelta, Violation

_NAME = re.compile(r' "(?:\\.|[^"\\])*"')

Violations = tuple[Violation, ...]


def violations(rows: Iterable[Mapping[str, Any]]) -> Violations:
    """The rows of an audit with their `tests` (or stories), in an order that does not depend on that of the tests."""
    found = (Violation(**{**row, "tests": sorted(set(row["tests"]))}) for row in rows)
    return tuple(sorted(found, key=lambda violation: (violation.rule, violation.element)))


def delta(base: Violations, gold: Violations, candidate: Violations, tests: int | None = None) -> AxeDelta:
    """The violations that the candidate fixes, leaves and introduces; `tests` is the number of audited tests."""
    pairs = _pairs(base, candidate)
    remaining = set(pairs.values())
    return AxeDelta(
        base=len(base),
        gold=len(gold),
        candidate=len(candidate),
        fixed=tuple(violation for violation in base if violation not in pairs),
        remaining=tuple(violation for violation in candidate if violation in remaining),
        introduced=tuple(violation for violation in candidate if violation not in remaining),
        tests=tests,
    )


#: what makes two violations the same, strictest first: the element's path, or else the roles along it
SAME: tuple[Callable[[Violation], tuple[str, str]], ...] = (
    lambda violation: (violation.rule, violation.element),
    lambda violation: (violation.rule, _NAME.sub("", violation.element)),
)


def _pairs(before: Violations, after: Violations) -> dict[Violation, Violation]:
    """Violations before, each with the same one after."""
    pairs: dict[Violation, Violation] = {}
    for key in SAME:
        free = defaultdict(list)
        for violation in sorted(set(after) - set(pairs.values()), key=after.index):
            free[key(violation)].append(violation)
        for violation in before:
            if violation not in pairs and free[key(violation)]:
                pairs[violation] = free[key(violation)].pop(0)
    return pairs
