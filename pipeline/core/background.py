"""Background work: one thread that performs calls in order. The end of the process does not wait for it.

The pools of the standard library do not fit: at exit, Python waits for them and refuses new work, so a process that was
asked to end would keep running and then fail.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

R = TypeVar("R")


class Background:
    """A thread that starts with the first call. As a context manager, it waits for all calls, unless interrupted."""

    def __init__(self) -> None:
        self._work = SimpleQueue[Callable[[], None] | None]()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def submit(self, work: Callable[..., R], *arguments: Any) -> Future[R]:
        """Queue a call; the future gets its result or its exception."""
        future = Future[R]()
        self._work.put(lambda: _fulfil(future, work, arguments))
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
        return future

    def settle(self, seconds: float | None = None) -> None:
        """Wait for all calls queued so far. Raises TimeoutError after `seconds`."""
        if self._thread:
            self.submit(lambda: None).result(seconds)

    def close(self) -> None:
        """End the thread after the calls queued so far."""
        self._work.put(None)

    def _run(self) -> None:
        while work := self._work.get():
            work()

    def __enter__(self) -> Background:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        if error is None or isinstance(error, Exception):
            self.settle()
        self.close()


def _fulfil(future: Future[R], work: Callable[..., R], arguments: tuple[Any, ...]) -> None:
    try:
        future.set_result(work(*arguments))
    except BaseException as error:
        future.set_exception(error)
