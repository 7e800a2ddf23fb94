"""What a browser is asked, and what it answers: plain data on both sides. Reads and writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

#: where a page's files seem to be; nothing is there
ORIGIN = "https://pages.invalid"
#: seconds for a page to show itself and be looked at
SECONDS = 30

#: an element is [tag, attributes, children], a text a string, markup for the browser's own parser {"html": text}
Node = str | list[Any] | dict[str, str]
#: axe-core's violations, both accessibility trees, what a screen reader says, a PNG of the whole page
Want = Literal["axe", "trees", "spoken", "screenshot"]


class Markup(NamedTuple):
    """Elements in an empty page in which no script runs. Without nodes it is a sheet of styles, which belongs to the
    markup before it."""

    styles: str
    nodes: list[Node]

    def dressed(self, styles: str) -> Markup:
        """The same with more styles."""
        return self._replace(styles="\n".join(filter(None, (self.styles, styles))))


class Served(NamedTuple):
    """A site that is answered from memory, scripts and all. `path` is the page to show, with its query; whatever is
    not among the files, or of another origin, is refused."""

    files: Mapping[str, bytes]
    path: str = "index.html"
    origin: str = ORIGIN


@dataclass(frozen=True)
class Page:
    """One page, and what is wanted of it within `seconds`. `name` tells it from others wherever it is spoken of.

    `ready` is a function of JavaScript that tells, or promises, whether the page shows itself; without one a page is
    looked at when it is loaded.
    """

    name: str
    shows: Markup | Served
    wants: tuple[Want, ...] = ("trees",)
    seconds: float = SECONDS
    ready: str = ""


class Trees(NamedTuple):
    """What assistive technologies are told of a page, by two independent ways of finding it out: Playwright's ARIA
    snapshot, computed from the document, and the browser's own tree (`outline`)."""

    aria: str
    browser: str


@dataclass(frozen=True)
class Seen:
    """What was wanted of a page, or the `cause` why there is nothing. `violations` are rows of `audit.js`, `spoken` are
    phrases in their order."""

    page: str
    cause: str = ""
    violations: tuple[dict[str, Any], ...] | None = None
    trees: Trees | None = None
    spoken: tuple[str, ...] | None = None
    screenshot: bytes | None = None
