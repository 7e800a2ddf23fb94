"""The browser that tests and benchmarks look at our own pages in: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pipeline import browser


@contextmanager
def launched() -> Iterator[Any]:
    """Ended with the block: its event loop stands in the way of every other browser in this thread."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        program = play.chromium.launch(executable_path=browser.executable(), args=["--no-sandbox"])
        yield program
        program.close()
