"""Background work: one thread that performs calls in order. The end of the process does not wait for it.

The standard library's pools are always waited for and refuse new work from then on, so a process that was asked to end
would run on and fail.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

R = TypeVar("R")


class Aside:
    """A thread, started with the first work. As a context manager it is awaited, but not by who is asked to end."""

    def __init__(self) -> None:
        self._work = SimpleQueue[Callable[[], None] | None]()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def submit(self, work: Callable[..., R], *arguments: Any) -> Future[R]:
        """Do `work` after all that was given before; its result, or what it raised, is the future's."""
        future = Future[R]()
        self._work.put(lambda: _fulfil(future, work, arguments))
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, daemon=True)
                self._thread.start()
        return future

    def settle(self, seconds: float | None = None) -> None:
        """Wait for what was given until now. Raises TimeoutError after `seconds`."""
        if self._thread:
            self.submit(lambda: None).result(seconds)

    def close(self) -> None:
        """The thread ends after what was given until now."""
        self._work.put(None)

    def _run(self) -> None:
        while work := self._work.get():
            work()

    def __enter__(self) -> Aside:
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
