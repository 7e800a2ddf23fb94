"""Where a unit's time goes: installs, test processes, waiting for its turn, and our own overhead.

A clock belongs to a thread and is available to all code that the thread calls, so that no signature has to pass it on.
Without a clock, nothing is measured.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

Kind = Literal["install", "tests", "waiting"]
#: the keys of a clock's result: its kinds, and all other time
KINDS = ("install", "tests", "waiting", "other")


class Clock:
    """Measures its block, and collects what is timed in its thread meanwhile."""

    def __init__(self) -> None:
        self._by_kind: dict[str, float] = {}
        self._ended: float | None = None

    def __enter__(self) -> Clock:
        self._started, self._before = time.monotonic(), _running.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = time.monotonic()
        _running.reset(self._before)

    def add(self, kind: Kind, seconds: float) -> None:
        self._by_kind[kind] = self._by_kind.get(kind, 0) + seconds

    @property
    def seconds(self) -> dict[str, float]:
        """Seconds of the block by kind, so far or in total, to the hundredth."""
        total = (self._ended or time.monotonic()) - self._started
        other = total - sum(self._by_kind.values())
        return {kind: round((self._by_kind | {"other": other}).get(kind, 0), 2) for kind in KINDS}


_running: ContextVar[Clock | None] = ContextVar("clock", default=None)


@contextmanager
def timed(kind: Kind) -> Iterator[None]:
    """Add the block's duration to the clock of this thread, even if it fails."""
    started = time.monotonic()
    try:
        yield
    finally:
        if clock := _running.get():
            clock.add(kind, time.monotonic() - started)
