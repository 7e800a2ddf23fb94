"""Chromium behind a fence: in its own sandbox, as `nobody` if we are root, without network, with limited memory.

Reads nothing, writes an empty profile to a temporary folder. Does not cover holes in Chromium's sandbox itself.
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

from pipeline.browser import ordinary
from pipeline.browser.program import executable
from pipeline.core.errors import InfrastructureError, UserError

if TYPE_CHECKING:
    from playwright.async_api import Browser, BrowserContext, Playwright

#: requests that we do not answer, even those to this machine, go to a proxy that does not exist; there are no shared
#: workers, since their requests belong to no page
ARGUMENTS = (
    *ordinary.ARGUMENTS,
    "--disable-shared-workers",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--proxy-server=http://127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
)
#: the maximum data of one process of the browser, in bytes
MEMORY = 2 * 2**30
#: the user and group `nobody`
NOBODY = 65534
#: seconds for the browser to exit by itself
ENDING = 5


@asynccontextmanager
async def started() -> AsyncIterator[Browser]:
    """A browser with an empty profile.

    Raises UserError if there is none, and InfrastructureError (`browser`) if it does not start.
    """
    from playwright.async_api import async_playwright

    program = executable()
    if program is None:
        raise UserError("no browser is installed", hint="run: just browser-install")
    with tempfile.TemporaryDirectory(prefix="a11y-bench-browser-", ignore_cleanup_errors=True) as folder:
        async with async_playwright() as playwright:
            context = await _launched(playwright, program, Path(folder))
            browser = context.browser
            if browser is None:
                raise InfrastructureError("the browser ended while it started", cause="browser")
            process = await _process(browser)
            try:
                yield browser
            finally:
                await _end(context, process)


async def _launched(playwright: Playwright, program: str, home: Path) -> BrowserContext:
    """A browser with a profile of its own: only with such a launch can we choose the owner of the profile's folder."""
    from playwright.async_api import Error

    script = fence(program, home, drop=not os.geteuid())
    try:
        return await playwright.chromium.launch_persistent_context(
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
    """A script that starts the browser with limited memory. `home` is the browser's home directory; `drop` starts it
    as `nobody`, since its sandbox refuses root."""
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
    processes = (await devtools.send("SystemInfo.getProcessInfo"))["processInfo"]
    return next(process["id"] for process in processes if process["type"] == "browser")


async def _end(context: BrowserContext, process: int) -> None:
    """Close the browser, and kill it if it does not answer."""
    from playwright.async_api import Error

    try:
        await asyncio.wait_for(context.close(), ENDING)
    except TimeoutError:
        os.kill(process, signal.SIGKILL)
    except Error:
        pass  # it has ended already
