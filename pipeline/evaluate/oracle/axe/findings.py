"""What axe-core finds in a page, as our violations, and what a patch changes of them.

Reads axe-core from npm, pinned, once. Does not cover how a page comes to be: `audit` has the tests' own DOM, and a
browser's page needs `source()` and then `page_function()`, in a world of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from pipeline.core.assessment import AxeDelta, Violation
from pipeline.core.npm_package import NpmPackage

AXE = NpmPackage(
    "axe-core@4.14.1",
    "sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==",
    "axe.min.js",
)
_NAME = re.compile(r' "(?:\\.|[^"\\])*"')

Found = tuple[Violation, ...]


def source() -> bytes:
    """axe-core's script. Raises InfrastructureError where npm can not get it."""
    return AXE.file().read_bytes()


def page_function() -> str:
    """The audit as a function expression of JavaScript: of rules to leave out; gives rows for `violations`."""
    return files(__package__).joinpath("page.js").read_text(encoding="utf-8")


def violations(rows: Iterable[Mapping[str, Any]]) -> Found:
    """The rows of an audit with their `tests` (or stories), in an order that does not depend on the tests' own."""
    found = (Violation(**{**row, "tests": sorted(set(row["tests"]))}) for row in rows)
    return tuple(sorted(found, key=lambda one: (one.rule, one.element)))


def delta(base: Found, gold: Found, candidate: Found) -> AxeDelta:
    """What the candidate fixes, leaves and introduces."""
    pairs = _pairs(base, candidate)
    left, still = {id(one) for one, _ in pairs}, {id(other) for _, other in pairs}
    return AxeDelta(
        base=len(base),
        gold=len(gold),
        candidate=len(candidate),
        fixed=tuple(one for one in base if id(one) not in left),
        remaining=tuple(one for one in candidate if id(one) in still),
        introduced=tuple(one for one in candidate if id(one) not in still),
    )


def _pairs(before: Sequence[Violation], after: Sequence[Violation]) -> list[tuple[Violation, Violation]]:
    """The same violation before and after: at the same place, or else where only names on the way have changed."""
    pairs: list[tuple[Violation, Violation]] = []
    for same in SAME:
        ours, theirs = ({id(pair[side]) for pair in pairs} for side in (0, 1))
        there = [one for one in after if id(one) not in theirs]
        for one in before:
            other = next((other for other in there if id(one) not in ours and same(one) == same(other)), None)
            if other:
                there.remove(other)
                pairs.append((one, other))
    return pairs


#: what makes two violations the same, from the strictest
SAME: tuple[Callable[[Violation], tuple[str, str]], ...] = (
    lambda one: (one.rule, one.element),
    lambda one: (one.rule, _NAME.sub("", one.element)),
)
