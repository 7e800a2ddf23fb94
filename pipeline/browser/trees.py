"""A real browser that shows snapshots and reads their accessibility trees.

Two independent trees are read: Playwright's ARIA snapshot, computed from the document, and the browser's own tree over
CDP (`outline`). The pages run no script, and ask nothing of any network. Reads and writes no files.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.browser import program as browser
from pipeline.browser.outline import outline
from pipeline.core.errors import UserError

if TYPE_CHECKING:
    from playwright.sync_api import Page

#: what keeps a browser quiet
QUIET = ("--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update")


#: an element is [tag, attributes, children], a text a string, markup for the browser's own parser {"html": text}
Node = str | list[Any] | dict[str, str]


class Markup(NamedTuple):
    """What a snapshot shows. Without nodes it is a sheet of styles, which belongs to the markup before it."""

    styles: str
    nodes: list[Node]

    def dressed(self, styles: str) -> Markup:
        """The same with more styles."""
        return self._replace(styles="\n".join(filter(None, (self.styles, styles))))


class Trees(NamedTuple):
    """What assistive technologies are told of a snapshot, by two ways of finding it out."""

    aria: str
    browser: str


class _Page:
    """One page of a browser in which snapshots are shown one after the other. Lives in one thread."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._devtools = page.context.new_cdp_session(page)
        self._script = files(__package__).joinpath("page.js").read_text(encoding="utf-8")

    def trees(self, markup: Markup) -> Trees:
        self._page.evaluate(self._script, markup._asdict())
        aria = self._page.locator("body").aria_snapshot()
        tree = self._devtools.send("Accessibility.getFullAXTree")["nodes"]
        document = self._devtools.send("DOM.getDocument", {"depth": -1})["root"]
        return Trees(aria, outline(tree, document))


class Viewer:
    """A browser that shows one snapshot after the other, in a thread of its own: Playwright wants its own loop."""

    def __init__(self, thread: ThreadPoolExecutor, page: _Page, version: str) -> None:
        self._thread, self._page, self.version = thread, page, version

    def trees(self, markup: Markup) -> Trees:
        """Both trees of a snapshot."""
        return self._thread.submit(self._page.trees, markup).result()


@contextmanager
def viewing() -> Iterator[Viewer]:
    """Start the browser. Raises UserError where there is none."""
    program = browser.executable()
    if program is None:
        raise UserError("there is no browser to look at snapshots", hint="run: just browser-install")
    opened = _opened(program)
    with ThreadPoolExecutor(1) as thread:
        page, version = thread.submit(opened.__enter__).result()
        try:
            yield Viewer(thread, page, version)
        finally:
            thread.submit(opened.__exit__, None, None, None).result()


@contextmanager
def _opened(program: str) -> Iterator[tuple[_Page, str]]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        # Chromium's own sandbox does not start for root
        started = play.chromium.launch(executable_path=program, args=QUIET, chromium_sandbox=os.geteuid() != 0)
        context = started.new_context(java_script_enabled=False, offline=True)
        yield _Page(context.new_page()), f"Chromium {started.version}"
        started.close()
