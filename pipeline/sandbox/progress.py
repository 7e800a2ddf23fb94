"""Telling a waiting person what is going on."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def telling(say: Callable[[str], None], what: str, every: float = 15) -> Iterator[None]:
    """Say `what` at the start, again with the time so far `every` so many seconds, and how long it took at the end."""
    started, over = time.monotonic(), threading.Event()

    def tick() -> None:
        while not over.wait(every):
            say(f"{what}: {time.monotonic() - started:.0f} s")

    say(what)
    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        over.set()
        ticker.join()
    say(f"{what}: done in {time.monotonic() - started:.0f} s")
