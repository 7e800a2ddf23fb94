"""Stories in a real browser, audited with axe-core: contrast and target size included.

Their code is foreign. It runs in the browser's own sandbox (browsing), reaches no network (every request is answered
from the site), and axe-core runs in an isolated world that it can not change. Each story has a page and a time limit of
its own. Reads and writes no files.
"""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, unquote, urlsplit

from pipeline.browser.fenced import World, opened
from pipeline.core.assessment import Violation
from pipeline.evaluate.assess.axe import findings
from pipeline.evaluate.assess.stories.site import Site

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Route

#: where the site seems to be; nothing is there
ORIGIN = "https://stories.invalid"
#: seconds for a story to show itself and be audited
SECONDS = 30
#: raised whenever stories are shown or audited differently: older audits are stale
VERSION = f"1 {findings.AXE.name}"
#: a story is there when its root has something in it, or when Storybook shows it for a while: it draws elsewhere
SHOWN = """async () => {
  const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
  const is = (selector) => document.querySelector(selector) !== null;
  let patience = 50;
  for (;;) {
    await painted();
    if (is(".sb-show-errordisplay, .sb-show-nopreview")) return false;
    if (document.readyState !== "complete") continue;
    const there = is(":is(#storybook-root, #root) > *") || (is(".sb-show-main") && !patience--);
    if (there) return painted().then(() => true);
  }
}"""


class Audited(NamedTuple):
    """What axe-core found in one state of the sources: each violation once, however many stories show it.

    `shown` are the stories that showed themselves, `browser` says which browser it was.
    """

    violations: tuple[Violation, ...] = ()
    shown: tuple[str, ...] = ()
    browser: str = ""


def audit(site: Site, ids: Sequence[str], seconds: float = SECONDS) -> Audited:
    """Audit these stories, each in so many seconds.

    Raises UserError where there is no browser, and InfrastructureError where npm can not get axe-core.
    """
    return asyncio.run(_audited(site, ids, seconds))


async def _audited(site: Site, ids: Sequence[str], seconds: float) -> Audited:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    shown, axe = [], findings.source().decode()
    async with opened() as context:
        await context.route("**/*", lambda route: _answer(site, route))
        for story in ids:
            found = await _story(context, story, axe, seconds)
            shown += [] if found is None else [story]
            for row in found or ():
                rows.setdefault((row["rule"], row["element"]), row | {"tests": []})["tests"].append(story)
        version = context.browser.version if context.browser else ""
    return Audited(findings.violations(rows.values()), tuple(shown), f"Chromium {version}")


async def _answer(site: Site, route: Route) -> None:
    """A file of the site, or nothing."""
    url = urlsplit(route.request.url)
    path = unquote(url.path).lstrip("/")
    if f"{url.scheme}://{url.netloc}" != ORIGIN or path not in site.files:
        return await route.abort()
    kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
    return await route.fulfill(body=site.files[path], content_type=kind)


async def _story(context: BrowserContext, story: str, axe: str, seconds: float) -> list[dict[str, Any]] | None:
    """What axe-core finds in a story, None for one that does not show itself in its time."""
    from playwright.async_api import Error

    page = await context.new_page()
    try:
        async with asyncio.timeout(seconds):
            await page.goto(f"{ORIGIN}/iframe.html?id={quote(story)}&viewMode=story")
            world = await World.of(page)
            if not await world.call(SHOWN):
                return None
            await world.load(axe)
            return await world.call(findings.page_function(), [])
    except (TimeoutError, Error):
        return None
    finally:
        await page.close()
