"""Where work runs: threads of this process. One broken unit never stops a batch.

Each unit's result is handed over as it completes, so that the caller writes it at once. Units that need the same thing
first (an environment) come as a group: the first makes it, and no thread waits for it while there is other work. Ctrl-C
ends a batch after the units under way; a second one, or a request to end (SIGTERM), ends it at once.
"""

from __future__ import annotations

import queue
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from pipeline.core.console import say
from pipeline.core.timing import timed

T = TypeVar("T")
R = TypeVar("R")
#: what a unit calls when that is there which the others of its group wait for
Prepared = Callable[[], None]


class Interrupts(NamedTuple):
    """What happens at the first Ctrl-C, beside that no new work starts, and at the end at once, before all ends."""

    first: Callable[[], None] = partial(say, "stopping after what is under way; press Ctrl-C again to stop at once")
    second: Callable[[], None] = lambda: None


DEFAULT = Interrupts()


def each(items: Sequence[T], work: Callable[[T], R], *, jobs: int, interrupts: Interrupts = DEFAULT) -> Iterator[R]:
    """Do `work` on every item, `jobs` at a time, and yield results as they come. See `in_groups`."""
    return in_groups([[item] for item in items], lambda item, _: work(item), jobs=jobs, interrupts=interrupts)


def in_groups(
    groups: Sequence[Sequence[T]],
    work: Callable[[T, Prepared], R],
    *,
    jobs: int,
    ahead: int = 0,
    interrupts: Interrupts = DEFAULT,
) -> Iterator[R]:
    """Do `work` on every item, `jobs` at a time, and yield results as they come.

    The first item of a group comes before the others, which wait until it calls what it is given, or ends. `ahead` more
    threads prepare groups while all others work, as long as less than `jobs` items are ready. `work` records its own
    failures as data; what it raises all the same ends the batch, after the units under way. So does Ctrl-C, which
    raises KeyboardInterrupt then.
    """
    crew = _Crew(groups, work, jobs)
    with _heard(signal.SIGTERM, _stop), _first_interrupt(lambda: crew.told.put(("interrupt", None))):
        try:
            for _ in range(jobs + ahead):
                threading.Thread(target=crew.run, daemon=True).start()
            yield from crew.results(jobs + ahead, interrupts.first)
        except BaseException:
            crew.stop()
            if crew.working or crew.preparing:
                interrupts.second()
            raise


Told = tuple[Literal["result", "error", "interrupt", "end"], Any]


class _Crew(Generic[T, R]):
    """What the threads of one batch share: the work that is left, and what they tell of it."""

    def __init__(self, groups: Sequence[Sequence[T]], work: Callable[[T, Prepared], R], jobs: int) -> None:
        self.groups, self.ready, self.work, self.jobs = deque(groups), deque[T](), work, jobs
        self.preparing, self.waiting, self.working, self.stopped = 0, 0, 0, False
        self.changed, self.told = threading.Condition(), queue.SimpleQueue[Told]()

    def stop(self) -> None:
        """Start nothing new."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()

    def results(self, threads: int, interrupted: Callable[[], None]) -> Iterator[R]:
        """What the threads made, until the last has ended; then raise what one of them raised."""
        failure: BaseException | None = None
        while threads:
            kind, value = self.told.get()
            if kind == "result":
                yield value
            elif kind == "end":
                threads -= 1
            else:
                failure = failure or value or KeyboardInterrupt()
                self.stop()
                if kind == "interrupt":
                    interrupted()
        if failure:
            raise failure

    def run(self) -> None:
        """A thread's life."""
        while task := self._next():
            try:
                self.told.put(("result", task()))
            except BaseException as error:
                self.told.put(("error", error))
        self.told.put(("end", None))

    def _next(self) -> Callable[[], R] | None:
        """What to do next, which is waited for; None when there will be nothing more."""
        with self.changed:
            while not self.stopped and (self.ready or self.groups or self.preparing):
                if self.ready and self._has_room:
                    self.working += 1
                    return partial(self._work_on, self.ready.popleft())
                if self.groups and len(self.ready) < self.jobs:
                    self.preparing += 1
                    return partial(self._prepare, self.groups.popleft())
                self.changed.wait()
        return None

    @property
    def _has_room(self) -> bool:
        return self.working + self.waiting < self.jobs

    def _work_on(self, item: T) -> R:
        try:
            return self.work(item, lambda: None)
        finally:
            self._end()

    def _prepare(self, group: Sequence[T]) -> R:
        """Work on the first of a group, which makes room for the others once, when it is prepared or at its end."""
        waiting = [group[1:]]

        def prepared() -> None:
            while waiting:
                self._release(waiting.pop())

        try:
            return self.work(group[0], prepared)
        finally:
            prepared()
            self._end()

    def _release(self, others: Sequence[T]) -> None:
        """The others of a group are ready; this thread works from now on, as soon as there is room."""
        with self.changed, timed("waiting"):
            self.preparing -= 1
            self.waiting += 1
            self.ready.extend(others)
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.working < self.jobs)
            self.waiting -= 1
            self.working += 1

    def _end(self) -> None:
        with self.changed:
            self.working -= 1
            self.changed.notify_all()


def _first_interrupt(call: Callable[[], None]) -> AbstractContextManager[None]:
    """The first Ctrl-C calls `call`, later ones do what they did before."""
    before = signal.getsignal(signal.SIGINT)

    def heard(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        call()

    return _heard(signal.SIGINT, heard) if callable(before) else nullcontext()


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


@contextmanager
def _heard(number: signal.Signals, handler: Callable[..., None]) -> Iterator[None]:
    """Handle a signal while the block lasts, in the main thread: no other one hears of any."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
