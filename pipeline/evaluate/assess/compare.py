"""Whether two snapshots are the same to assistive technologies: both trees must agree that they are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import NamedTuple

from pipeline.browser import Browser, Page, Trees
from pipeline.core.assessment import Likeness
from pipeline.evaluate.assess import markup
from pipeline.evaluate.assess.markup import Markup, Unparsable

#: lines of a difference that are kept as its reason
LINES = 12


class Compared(NamedTuple):
    """`reason` says what differs, or why nothing can be said."""

    likeness: Likeness
    reason: str = ""


def compare(browser: Browser, gold: Markup, new: Markup) -> Compared:
    """Show both and compare their trees. Raises Unparsable for one that the browser cannot show."""
    return differ(trees(browser, "gold", gold), trees(browser, "patch", new))


def trees(browser: Browser, name: str, shown: Markup) -> Trees:
    """Both trees of a snapshot. Raises Unparsable."""
    seen = browser.look(Page(name, shown))
    if seen.trees is None:
        raise Unparsable(f"the browser does not show the snapshot of {name}: {seen.cause}")
    return seen.trees


def spoken(browser: Browser, name: str, shown: Iterable[Markup]) -> tuple[str, ...]:
    """What a screen reader says of snapshots, one after the other. Raises Unparsable."""
    phrases: list[str] = []
    for one in shown:
        seen = browser.look(Page(name, one, ("spoken",)))
        if seen.spoken is None:
            raise Unparsable(f"the browser does not read the snapshot of {name}: {seen.cause}")
        phrases += seen.spoken
    return tuple(phrases)


def differ(gold: Trees, new: Trees) -> Compared:
    """The first tree that differs is the reason, as a unified diff of what is told."""
    for name, one, other in zip(Trees._fields, gold, new, strict=True):
        if one != other:
            lines = difflib.unified_diff(one.splitlines(), other.splitlines(), "gold", "patch", n=1, lineterm="")
            return Compared("a11y-different", "\n".join([f"{name} tree:", *islice(lines, LINES)]))
    return Compared("cosmetic")


def dressed(keys: list[str], snapshots: Mapping[str, str]) -> dict[str, Markup]:
    """A test's snapshots. One that holds only styles dresses the markup before it. Raises Unparsable."""
    found: dict[str, Markup] = {}
    last = ""
    for key in keys:
        parsed = markup.parse(snapshots[key])
        if parsed.nodes or not parsed.styles:
            found[key], last = parsed, key
        elif last:
            found[last] = found[last].dressed(parsed.styles)
        else:
            raise Unparsable("it holds styles, and there is no markup before it")
    return found
