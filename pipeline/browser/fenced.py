"""Chromium behind a fence: in its own sandbox, as nobody where we are root, without network, with limited memory.

Reads nothing, writes an empty profile in a temporary folder. Does not cover a hole in Chromium's sandbox itself.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pipeline.browser.program import executable
from pipeline.core.errors import InfrastructureError, UserError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

#: what is not answered by us goes to a proxy that is not there, this machine's own addresses included
ARGUMENTS = (
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
#: bytes of data that one process of the browser may hold
MEMORY = 2 * 2**30
#: the user and group `nobody`
NOBODY = 65534
#: seconds for the browser to end by itself
ENDING = 5


@asynccontextmanager
async def started() -> AsyncIterator[Browser]:
    """A browser with an empty profile.

    Raises UserError where there is none, and InfrastructureError (`browser`) for one that does not start.
    """
    from playwright.async_api import async_playwright

    program = executable()
    if program is None:
        raise UserError("there is no browser to look at pages", hint="run: just browser-install")
    with tempfile.TemporaryDirectory(prefix="a11y-bench-browser-", ignore_cleanup_errors=True) as folder:
        async with async_playwright() as play:
            context = await _launched(play, program, Path(folder))
            browser = context.browser
            if browser is None:
                raise InfrastructureError("the browser ended as it started", cause="browser")
            process = await _process(browser)
            try:
                yield browser
            finally:
                await _end(context, process)


async def _launched(play: Playwright, program: str, home: Path) -> BrowserContext:
    """The context of a profile of its own: only a launch with one leaves the choice of its folder's owner to us."""
    from playwright.async_api import Error

    script = fence(program, home, drop=not os.geteuid())
    try:
        return await play.chromium.launch_persistent_context(
            home / "profile",
            executable_path=script,
            args=ARGUMENTS,
            chromium_sandbox=True,
            offline=True,
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
    except Error as error:
        raise InfrastructureError(f"the browser does not start: {error.message}", cause="browser") from None


def fence(program: str, home: Path, *, drop: bool) -> Path:
    """A script that starts the browser with little memory. `home` is the browser's home;
    `drop` starts it as nobody: its sandbox refuses root."""
    words = ["env", f"HOME={home}", program]
    if drop:
        words = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", *words]
        shutil.chown(home, NOBODY, NOBODY)
    script = home / "browser"
    script.write_text(f'#!/bin/sh\nulimit -d {MEMORY // 1024}\nexec {shlex.join(words)} "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    return script


async def _process(browser: Browser) -> int:
    devtools = await browser.new_browser_cdp_session()
    found = (await devtools.send("SystemInfo.getProcessInfo"))["processInfo"]
    return next(one["id"] for one in found if one["type"] == "browser")


async def _end(context: BrowserContext, process: int) -> None:
    """Ask first; a browser that does not answer is killed."""
    from playwright.async_api import Error

    try:
        await asyncio.wait_for(context.close(), ENDING)
    except TimeoutError:
        os.kill(process, signal.SIGKILL)
    except Error:
        pass  # it has ended already
