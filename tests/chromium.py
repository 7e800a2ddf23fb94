"""The browser in which tests and benchmarks view our own pages: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pipeline import browser


@contextmanager
def launched() -> Iterator[Any]:
    """Ends with the block, since its event loop blocks every other browser in this thread."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=30_000)  # in ms: beside other tests, a large report takes longer than the default
    with sync_playwright() as play:
        program = play.chromium.launch(executable_path=browser.executable(), args=["--no-sandbox"])
        yield program
        program.close()
