"""One page of a running browser: shown, examined within its time limit, and closed whatever it does.

Our scripts run in an isolated world, which shares the page's document but nothing of its scripts.
"""

from __future__ import annotations

import asyncio
import mimetypes
from contextlib import suppress
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from pipeline.browser import axe, ordinary, spoken
from pipeline.browser.outline import outline
from pipeline.browser.page import Markup, Page, Seen, Served, Trees

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession, Route
    from playwright.async_api import Page as Playwrights

#: what is restricted for every page
SETTINGS: dict[str, Any] = {
    "offline": True,
    "reduced_motion": "reduce",
    "service_workers": "block",
    "accept_downloads": False,
}
#: seconds until a browser reports that a page has crashed, after requests to the page have failed
CRASH_REPORT = 0.5
#: seconds for what should take no time: closing a page, stopping its script
QUICK = 5

#: the empty page for markup, in which only our scripts run
BLANK = Served({"": b"<!doctype html><html><body></body></html>"}, "")
NO_SCRIPTS = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:"}


class Tab:
    """A page in a context of its own; it is reused for pages that run no scripts."""

    def __init__(self, page: Playwrights, devtools: CDPSession) -> None:
        self._page, self._devtools = page, devtools
        self._crashed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        page.on("crash", self._hear_crash)

    def _hear_crash(self, _page: Playwrights) -> None:
        if not self._crashed.done():
            self._crashed.set_result(None)

    @classmethod
    async def of(cls, browser: Browser, shows: Markup | Served) -> Tab:
        """An empty page. Raises playwright's Error if the browser opens none."""
        context = await browser.new_context(**SETTINGS)
        page = await context.new_page()
        tab = cls(page, await context.new_cdp_session(page))
        if agent := ordinary.agent(browser.version):
            await tab._devtools.send("Emulation.setUserAgentOverride", agent)
        if isinstance(shows, Served):
            await context.add_init_script(ordinary.script())
            await context.route("**/*", partial(_answer, shows, {}))
        else:
            await context.route("**/*", partial(_answer, BLANK, NO_SCRIPTS))
            await tab._go(BLANK)
        return tab

    async def look(self, page: Page) -> Seen:
        """What is wanted of a page, or the cause why it is missing."""
        from playwright.async_api import Error

        looking = asyncio.ensure_future(self._look(page))
        ends: set[asyncio.Future[Any]] = {looking, self._crashed}
        await asyncio.wait(ends, timeout=page.seconds, return_when=asyncio.FIRST_COMPLETED)
        try:
            if looking.done() and not self._crashed.done():
                return looking.result()
            cause = f"it takes longer than {page.seconds:g} s"
        except Error as error:
            cause = error.message.partition("\n")[0]
            await asyncio.wait({self._crashed}, timeout=CRASH_REPORT)
        await _abandon(looking)
        return Seen(page.name, "the page crashed" if self._crashed.done() else cause)

    async def close(self) -> bool:
        """Stop what runs and close the page. Returns False if the browser can no longer do this."""
        from playwright.async_api import Error

        with suppress(Error, TimeoutError):
            if not self._crashed.done():
                await asyncio.wait_for(self._devtools.send("Runtime.terminateExecution"), QUICK)
        try:
            await asyncio.wait_for(self._page.context.close(), QUICK)
        except (Error, TimeoutError):
            return False
        return True

    async def _look(self, page: Page) -> Seen:
        world = await self._shown(page.shows)
        if page.ready and not await world.call(page.ready):
            return Seen(page.name, "it is not shown")
        results: dict[str, Any] = {_LOOKS[want][0]: await _LOOKS[want][1](self, world) for want in page.wants}
        return Seen(page.name, **results)

    async def _shown(self, shows: Markup | Served) -> World:
        if isinstance(shows, Served):
            await self._go(shows)
        world = await World.of(self._devtools)
        if isinstance(shows, Markup):
            await world.call(_script("show.js"), shows._asdict())
        return world

    async def _go(self, site: Served) -> None:
        await self._page.goto(f"{site.origin}/{site.path}", timeout=0)

    async def _audited(self, world: World) -> tuple[dict[str, Any], ...]:
        await world.load(axe.source().decode())
        return tuple(await world.call(axe.function(), []))

    async def _trees(self, world: World) -> Trees:
        await world.call(_script("stops.js"))
        aria = await self._page.locator("body").aria_snapshot(timeout=0)
        tree = (await self._devtools.send("Accessibility.getFullAXTree"))["nodes"]
        document = (await self._devtools.send("DOM.getDocument", {"depth": -1}))["root"]
        return Trees(aria, outline(tree, document))

    async def _spoken(self, world: World) -> tuple[str, ...]:
        await world.load(spoken.source())
        return tuple(await world.call(spoken.function(), spoken.MOST))

    async def _screenshot(self, _world: World) -> bytes:
        return await self._page.screenshot(full_page=True, animations="disabled", timeout=0)


#: what may be wanted of a page -> the field of Seen, and the method that fills it
_LOOKS = {
    "axe": ("violations", Tab._audited),
    "trees": ("trees", Tab._trees),
    "spoken": ("spoken", Tab._spoken),
    "screenshot": ("screenshot", Tab._screenshot),
}


class World:
    """An isolated world of a page."""

    def __init__(self, devtools: CDPSession, context: int) -> None:
        self._devtools, self._context = devtools, context

    @classmethod
    async def of(cls, devtools: CDPSession) -> World:
        frame = (await devtools.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        world = await devtools.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "a11y-bench"})
        return cls(devtools, world["executionContextId"])

    async def load(self, script: str) -> None:
        await self._devtools.send("Runtime.evaluate", {"expression": script, "contextId": self._context})

    async def call(self, function: str, *arguments: Any) -> Any:
        """What a function returns for plain data, awaited. Raises playwright's Error if it throws."""
        from playwright.async_api import Error

        options = {"executionContextId": self._context, "awaitPromise": True, "returnByValue": True}
        values = [{"value": argument} for argument in arguments]
        answer = await self._devtools.send(
            "Runtime.callFunctionOn", {"functionDeclaration": function, "arguments": values, **options}
        )
        if failure := answer.get("exceptionDetails"):
            raise Error(failure.get("exception", {}).get("description", failure["text"]))
        return answer["result"].get("value")


async def _answer(served: Served, headers: dict[str, str], route: Route) -> None:
    """Answer a request with a file of the site, or refuse it."""
    from playwright.async_api import Error

    url = urlsplit(route.request.url)
    path = unquote(url.path).lstrip("/")
    with suppress(Error):  # the page is closed already
        if f"{url.scheme}://{url.netloc}" != served.origin or path not in served.files:
            return await route.abort()
        kind = mimetypes.guess_type(path)[0] if path else "text/html"
        headers = {"Content-Type": kind or "application/octet-stream", **headers}
        return await route.fulfill(body=served.files[path], headers=headers)


async def _abandon(task: asyncio.Future[Any]) -> None:
    """Cancel a task that nobody waits for, and ignore its result."""
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@cache
def _script(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")
