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
    """`reason` says what differs, or why the snapshots cannot be compared."""

    likeness: Likeness
    reason: str = ""


def compare(browser: Browser, gold: Markup, new: Markup) -> Compared:
    """Show both and compare their trees. Raises Unparsable if the browser cannot show one of them."""
    return differ(trees(browser, "gold", gold), trees(browser, "patch", new))


def trees(browser: Browser, name: str, shown: Markup) -> Trees:
    """Both trees of a snapshot. Raises Unparsable."""
    look = browser.look(Page(name, shown))
    if look.trees is None:
        raise Unparsable(f"the browser does not show the snapshot of {name}: {look.cause}")
    return look.trees


def spoken(browser: Browser, name: str, shown: Iterable[Markup]) -> tuple[str, ...]:
    """What a screen reader says on snapshots, in order. Raises Unparsable."""
    phrases: list[str] = []
    for snapshot in shown:
        look = browser.look(Page(name, snapshot, ("spoken",)))
        if look.spoken is None:
            raise Unparsable(f"the browser does not read the snapshot of {name}: {look.cause}")
        phrases += look.spoken
    return tuple(phrases)


def differ(gold: Trees, new: Trees) -> Compared:
    """Compare trees. The reason is a unified diff of the first tree that differs."""
    for name, gold_tree, new_tree in zip(Trees._fields, gold, new, strict=True):
        if gold_tree != new_tree:
            lines = difflib.unified_diff(
                gold_tree.splitlines(), new_tree.splitlines(), "gold", "patch", n=1, lineterm=""
            )
            return Compared("a11y-different", "\n".join([f"{name} tree:", *islice(lines, LINES)]))
    return Compared("cosmetic")


def dressed(keys: list[str], snapshots: Mapping[str, str]) -> dict[str, Markup]:
    """A test's snapshots. One that holds only styles is applied to the markup before it. Raises Unparsable."""
    markups: dict[str, Markup] = {}
    last = ""
    for key in keys:
        parsed = markup.parse(snapshots[key])
        if parsed.nodes or not parsed.styles:
            markups[key], last = parsed, key
        elif last:
            markups[last] = markups[last].with_styles(parsed.styles)
        else:
            raise Unparsable("it holds styles, and there is no markup before it")
    return markups
