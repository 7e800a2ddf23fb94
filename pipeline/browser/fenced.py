"""A browser for foreign code: in Chromium's own sandbox, as nobody where we are root, and without any network.

Also a world of its own in a page, in which our scripts run and which the page's scripts do not see.
"""

from __future__ import annotations

import os
import shlex
import shutil
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pipeline.browser import program as browser
from pipeline.browser.trees import QUIET
from pipeline.core.errors import UserError

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, CDPSession, Page

#: what is not answered by us goes to a proxy that is not there, this machine's own addresses included
ARGUMENTS = (
    *QUIET,
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
#: the user and group `nobody`
NOBODY = 65534


@asynccontextmanager
async def opened() -> AsyncIterator[BrowserContext]:
    """A browser with an empty profile. Raises UserError where there is none."""
    from playwright.async_api import async_playwright

    program = browser.executable()
    if program is None:
        raise UserError("there is no browser to look at stories", hint="run: just browser-install")
    with tempfile.TemporaryDirectory(prefix="a11y-bench-browser-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        async with async_playwright() as play:
            context = await play.chromium.launch_persistent_context(
                home / "profile",
                executable_path=program if os.geteuid() else _as_nobody(program, home),
                args=ARGUMENTS,
                chromium_sandbox=True,
                offline=True,
                reduced_motion="reduce",
                service_workers="block",
            )
            yield context
            await context.close()


def _as_nobody(program: str, home: Path) -> Path:
    """A script that starts the browser as nobody, whose home is `home`: Chromium's sandbox refuses root."""
    drop = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "env", f"HOME={home}", program)
    script = home / "browser"
    script.write_text(f'#!/bin/sh\nexec {shlex.join(drop)} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    shutil.chown(home, NOBODY, NOBODY)
    return script


class World(NamedTuple):
    """An isolated world of a page: it has the page's document, and nothing of its scripts."""

    devtools: CDPSession
    context: int

    @classmethod
    async def of(cls, page: Page) -> World:
        devtools = await page.context.new_cdp_session(page)
        frame = (await devtools.send("Page.getFrameTree"))["frameTree"]["frame"]["id"]
        made = await devtools.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "oracle"})
        return cls(devtools, made["executionContextId"])

    async def load(self, script: str) -> None:
        await self.devtools.send("Runtime.evaluate", {"expression": script, "contextId": self.context})

    async def call(self, function: str, *arguments: Any) -> Any:
        """What a function gives for plain data, awaited. Raises playwright's Error for one that throws."""
        from playwright.async_api import Error

        how = {"executionContextId": self.context, "awaitPromise": True, "returnByValue": True}
        given = [{"value": one} for one in arguments]
        said = await self.devtools.send(
            "Runtime.callFunctionOn", {"functionDeclaration": function, "arguments": given, **how}
        )
        if "exceptionDetails" in said:
            raise Error(said["exceptionDetails"]["text"])
        return said["result"].get("value")
