"""Progress messages for a waiting person."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def reporting(say: Callable[[str], None], activity: str, every: float = 15) -> Iterator[None]:
    """Report an activity at its start, every `every` seconds with the time so far, and at its end with its duration."""
    started, over = time.monotonic(), threading.Event()

    def tick() -> None:
        while not over.wait(every):
            say(f"{activity}: {time.monotonic() - started:.0f} s")

    say(activity)
    ticker = threading.Thread(target=tick, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        over.set()
        ticker.join()
    say(f"{activity}: done in {time.monotonic() - started:.0f} s")
