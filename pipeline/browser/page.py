"""Requests to a browser and their results, both as plain data. Reads and writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

#: the origin of a page's files; no such server exists
ORIGIN = "https://pages.invalid"
#: seconds for a page to be shown and examined
SECONDS = 30

#: an element is [tag, attributes, children], a text is a string, and {"html": text} is for the browser's own parser
Node = str | list[Any] | dict[str, str]
#: axe-core's violations, both accessibility trees, what a screen reader says, a PNG of the whole page
Want = Literal["axe", "trees", "spoken", "screenshot"]


class Markup(NamedTuple):
    """Elements in an empty page in which no script runs. Without nodes, a style sheet for the markup before it."""

    styles: str
    nodes: list[Node]

    def with_styles(self, styles: str) -> Markup:
        """The same with more styles."""
        return self._replace(styles="\n".join(filter(None, (self.styles, styles))))


class Served(NamedTuple):
    """A site that is served from memory, including its scripts. `path` is the page to show, with its query. Requests
    for other files or other origins are refused."""

    files: Mapping[str, bytes]
    path: str = "index.html"
    origin: str = ORIGIN


@dataclass(frozen=True)
class Page:
    """One page, and what is wanted of it within `seconds`. `name` identifies it in results and messages.

    `ready` is a JavaScript function that returns, or promises, whether the page is shown; without one, a page is
    examined as soon as it has loaded.
    """

    name: str
    shows: Markup | Served
    wants: tuple[Want, ...] = ("trees",)
    seconds: float = SECONDS
    ready: str = ""


class Trees(NamedTuple):
    """What assistive technologies get of a page, found in two independent ways: Playwright's ARIA snapshot, computed
    from the document, and the browser's own tree (`outline`)."""

    aria: str
    browser: str


@dataclass(frozen=True)
class Seen:
    """What was wanted of a page, or the `cause` why it is missing. `violations` are rows of `audit.js`; `spoken` are
    phrases in order."""

    page: str
    cause: str = ""
    violations: tuple[dict[str, Any], ...] | None = None
    trees: Trees | None = None
    spoken: tuple[str, ...] | None = None
    screenshot: bytes | None = None
