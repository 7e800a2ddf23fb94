"""Looking at pages one after another, each within its own time limit, and in a new browser when one has ended.

The interface is synchronous: the browser lives in a thread with a loop of its own. Threads may share it and take turns,
so it is always known which page was shown when the browser ended.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Coroutine, Iterator
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from pipeline.browser import axe
from pipeline.browser.fenced import started
from pipeline.browser.page import Markup, Page, Seen
from pipeline.browser.tab import QUICK, Tab

if TYPE_CHECKING:
    from playwright.async_api import Browser as Playwrights

log = logging.getLogger(__name__)
T = TypeVar("T")

#: how often a page is tried if it ends the browser
TRIES = 2


@contextmanager
def opened() -> Iterator[Browser]:
    """A browser for the duration of the block.

    Raises UserError if there is none, and InfrastructureError (`browser`) if it does not start.
    """
    viewer = Browser()
    try:
        viewer.start()
        yield viewer
    finally:
        viewer.end()


class Browser:
    """A fenced browser that is started again if it ends."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="browser", daemon=True)
        self._turn = threading.Lock()
        self._session: _Session | None = None
        #: the name and version of the browser
        self.version = ""

    def look(self, page: Page) -> Seen:
        """What is wanted of a page, or the cause why it is missing; whatever a page does, it raises no exception.

        Raises InfrastructureError if no browser starts any more, or if npm cannot download axe-core.
        """
        if "axe" in page.wants:
            axe.source()
        with self._turn:
            return self._run(self._look(page))

    def start(self) -> None:
        self._thread.start()
        self._run(self._started())

    def end(self) -> None:
        self._run(self._ended())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _look(self, page: Page) -> Seen:
        for _ in range(TRIES):
            session = await self._started()
            seen = await session.look(page)
            is_sound = session.is_sound and (not seen.cause or await session.answers())
            if not is_sound:
                log.warning("the browser ended while showing %s: %s", page.name, seen.cause)
                await self._ended()
            if is_sound or not seen.cause:
                return seen
        return Seen(page.name, f"the browser ended {TRIES} times while showing it")

    async def _started(self) -> _Session:
        if self._session is None:
            self._session = await _Session.opened()
            self.version = f"Chromium {self._session.browser.version}"
        return self._session

    async def _ended(self) -> None:
        session, self._session = self._session, None
        if session:
            await session.close()


class _Session:
    """One running browser. A tab that has run no scripts is kept for the next page without scripts."""

    def __init__(self, browser: Playwrights, stack: AsyncExitStack) -> None:
        self.browser, self._stack = browser, stack
        self._kept: Tab | None = None
        #: whether it has responded to everything so far
        self.is_sound = True

    @classmethod
    async def opened(cls) -> _Session:
        async with AsyncExitStack() as stack:
            browser = await stack.enter_async_context(started())
            return cls(browser, stack.pop_all())
        raise AssertionError("no context of the stack swallows exceptions")

    async def close(self) -> None:
        await self._stack.aclose()

    async def answers(self) -> bool:
        """Whether the browser still runs and responds."""
        from playwright.async_api import Error

        async def ask_version() -> None:
            await (await self.browser.new_browser_cdp_session()).send("Browser.getVersion")

        try:
            await asyncio.wait_for(ask_version(), QUICK)
        except (Error, TimeoutError):
            return False
        return True

    async def look(self, page: Page) -> Seen:
        """What is wanted of a page, or the cause why it is missing."""
        from playwright.async_api import Error

        if isinstance(page.shows, Markup) and self._kept:
            tab, self._kept = self._kept, None
            seen = await self._look_in(tab, page)
            if not seen.cause:
                return seen  # otherwise, the markup before it may be at fault
        try:
            tab = await asyncio.wait_for(Tab.of(self.browser, page.shows), QUICK)
        except (Error, TimeoutError):
            self.is_sound = False
            return Seen(page.name, "the browser could not open a page")
        return await self._look_in(tab, page)

    async def _look_in(self, tab: Tab, page: Page) -> Seen:
        seen = await tab.look(page)
        if isinstance(page.shows, Markup) and not seen.cause:
            self._kept = tab
        elif not await tab.close():
            self.is_sound = False
        return seen
