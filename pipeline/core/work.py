"""Work as data. A unit is a request: plain data that says what to do, with which settings and on which objects. Its
`perform` returns a result, plain data too. Only the coordinator, which calls `each`, writes the store.

Requests run in threads of this process, in separate processes, or on remote workers (`ENGINES`, `cluster.py`), with the
same results. A unit's progress is reported as Events. Units with the same affinity first need the same thing, such as
an environment: one of them goes ahead, and the others start when it says that it is `ready`, so that no worker waits
while there is other work. Ctrl-C ends a batch after the units in progress; a second one, or a request to end (SIGTERM),
ends it at once.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import queue
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from importlib import import_module
from logging.handlers import QueueHandler
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from pipeline.core.console import say
from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.core.timing import timed

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

R = TypeVar("R", covariant=True)
log = logging.getLogger(__name__)


class Event(NamedTuple):
    """What a unit tells while it is under way: a `step` for people, or that it is `ready`: what the others of its
    affinity wait for is there. `data` is plain data for the coordinator."""

    unit: str
    text: str = ""
    kind: Literal["step", "ready"] = "step"
    data: Any = None


Tell = Callable[[Event], None]


class Request(Protocol[R]):
    """A unit of work: plain data that survives pickling. Units of the same affinity share what the first one makes;
    a unit with an empty affinity shares nothing."""

    @property
    def name(self) -> str: ...

    @property
    def affinity(self) -> str: ...

    def perform(self, tell: Tell) -> R:
        """The result: a pure function of the request and of what it names. It writes no store."""

    def failed(self, error: Exception) -> R:
        """The result where `perform` raised: one broken unit never stops a batch. What this raises does."""


class Settled(NamedTuple):
    """The result of a request that need not be performed."""

    result: Any


class Interrupts(NamedTuple):
    """What happens at the first Ctrl-C, beside that no new work starts, and at the end at once, before all ends."""

    first: Callable[[], None] = partial(say, "stopping after what is under way; press Ctrl-C again to stop at once")
    second: Callable[[], None] = lambda: None


DEFAULT = Interrupts()
Done = tuple[Any, Any]


def silent(_: Event) -> None:
    """Hear nothing."""


def each(
    requests: Sequence[Request[Any]],
    *,
    jobs: int,
    ahead: int = 0,
    engine: str = "threads",
    hear: Tell = silent,
    admit: Callable[[Any], Request[Any] | Settled] = lambda request: request,
    interrupts: Interrupts = DEFAULT,
) -> Iterator[Done]:
    """Perform all requests, `jobs` at a time, and yield each with its result, as they end.

    `admit` is asked when a request's turn comes: it returns the request as it is performed, or its result where there
    is nothing to perform. `hear` takes events; what it raises ends the batch. Both run in threads of the coordinator.
    `ahead` more workers make what other affinities need while all jobs run, as long as fewer than `jobs` requests are
    ready. Ctrl-C ends the batch after the units under way, and raises KeyboardInterrupt then.
    """
    crew = _Crew(_by_affinity(requests), jobs, hear, admit, ENGINES[engine])
    with _heard(signal.SIGTERM, _stop), _first_interrupt(lambda: crew.told.put(("interrupt", None))):
        try:
            for _ in range(jobs + ahead):
                threading.Thread(target=crew.run, daemon=True).start()
            yield from crew.results(jobs + ahead, interrupts.first)
        except BaseException:
            crew.stop()
            if crew.working or crew.preparing:
                crew.abort()
                interrupts.second()
            raise


def _by_affinity(requests: Sequence[Request[Any]]) -> list[list[Request[Any]]]:
    """Requests of one affinity together, in the order in which the first of each came."""
    groups: dict[object, list[Request[Any]]] = {}
    for request in requests:
        groups.setdefault(request.affinity or object(), []).append(request)
    return list(groups.values())


Told = tuple[Literal["result", "error", "interrupt", "end"], Any]


class Worker(Protocol):
    """Where requests are performed, one at a time. It belongs to one thread of the coordinator."""

    def perform(self, request: Request[Any], tell: Tell) -> Any: ...

    def end(self) -> None:
        """End at once, whatever is under way."""


class _Here:
    """A worker in the coordinator's own thread. What it has under way ends by the batch's Interrupts."""

    def perform(self, request: Request[Any], tell: Tell) -> Any:
        return _performed(request, tell)

    def end(self) -> None:
        """Threads cannot be ended from outside."""


def _performed(request: Request[Any], tell: Tell) -> Any:
    try:
        return request.perform(tell)
    except A11yBenchError as error:  # its outcome says it
        log.debug("%s", request.name, exc_info=True)
        return request.failed(error)
    except Exception as error:  # the border of a unit
        log.exception("%s", request.name)
        return request.failed(error)


def _record(record: logging.LogRecord) -> None:
    logging.getLogger(record.name).handle(record)


class Spawned:
    """A worker in a process of its own, which is started with the first request."""

    def __init__(self) -> None:
        self._line: Connection | None = None

    def perform(self, request: Request[Any], tell: Tell) -> Any:
        try:
            return self.attempt(request, tell)
        except InfrastructureError as error:
            return request.failed(error)

    def attempt(self, request: Request[Any], tell: Tell, record: Callable[[logging.LogRecord], None] = _record) -> Any:
        """The same; `record` takes what it logs. Raises InfrastructureError where the process ended under it."""
        line = self._line = self._line or self._start()
        try:
            line.send(request)
            return self._result(line, tell, record)
        except (EOFError, OSError):
            self._line = None
            self._process.join()
            message = f"the process that worked on it ended with {self._process.exitcode}"
            raise InfrastructureError(message, cause="worker") from None

    def _result(self, line: Connection, tell: Tell, record: Callable[[logging.LogRecord], None]) -> Any:
        """What the process sends until it sends the result."""
        while True:
            kind, value = line.recv()
            if kind == "result":
                return value
            (tell if kind == "event" else record)(value)
            line.send(None)  # it may go on

    def _start(self) -> Connection:
        spawn = multiprocessing.get_context("spawn")
        line, other = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(other,), daemon=True)
        self._process.start()
        other.close()
        return line

    def end(self) -> None:
        if self._line:
            self._process.terminate()


def _serve(line: Connection) -> None:
    """The life of a worker's process: it performs what it is sent until the coordinator is gone. Ctrl-C is for the
    coordinator; SIGTERM ends the process as an interrupt does, so that what it opened is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop_once)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    sending = threading.Lock()

    def send(kind: str, value: Any) -> None:
        with sending:
            line.send((kind, value))
            line.recv()

    def tell(event: Event) -> None:
        with timed("waiting") if event.kind == "ready" else nullcontext():
            send("event", event)

    root = logging.getLogger("pipeline")
    root.setLevel(logging.DEBUG)
    root.addHandler(_Sent(send))
    with suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            request: Request[Any] = line.recv()
            result = _performed(request, tell)
            line.send(("result", result))


def _end_with_parent() -> None:
    """A parent that was killed could not say so: a unit of minutes must not outlive it."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


class _Sent(QueueHandler):
    """Sends records of a worker's log to the coordinator, whose log file they belong to."""

    def __init__(self, send: Callable[[str, Any], None]) -> None:
        super().__init__(queue.SimpleQueue[logging.LogRecord]())  # records go by `enqueue` alone
        self._send = send

    def enqueue(self, record: logging.LogRecord) -> None:
        self._send("log", record)


def _far() -> Worker:
    far: Worker = import_module("pipeline.core.cluster").Far()
    return far


#: where requests are performed
ENGINES: dict[str, Callable[[], Worker]] = {"threads": _Here, "processes": Spawned, "dask": _far}


class _Crew(Generic[R]):
    """What the threads of one batch share: the requests that are left, and what they tell."""

    def __init__(
        self,
        groups: Sequence[Sequence[Request[R]]],
        jobs: int,
        hear: Tell,
        admit: Callable[[Any], Request[Any] | Settled],
        worker: Callable[[], Worker],
    ) -> None:
        self.groups, self.ready, self.jobs = deque(groups), deque[Request[R]](), jobs
        self.listener, self.admit, self.worker = hear, admit, worker
        self.preparing, self.waiting, self.working, self.stopped = 0, 0, 0, False
        self.changed, self.told = threading.Condition(), queue.SimpleQueue[Told]()
        self.workers: list[Worker] = []

    def stop(self) -> None:
        """Start nothing new."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()

    def abort(self) -> None:
        """End what is under way in processes."""
        for worker in self.workers:
            worker.end()

    def results(self, threads: int, interrupted: Callable[[], None]) -> Iterator[Done]:
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

    def hear(self, event: Event) -> None:
        """What fails here is the coordinator's fault and not the unit's: it ends the batch, after what is under way."""
        try:
            self.listener(event)
        except Exception as error:
            self.stop()
            self.told.put(("error", error))

    def run(self) -> None:
        """A thread's life."""
        try:
            worker = self.worker()
        except Exception as error:  # there is no scheduler, for example
            self.told.put(("error", error))
            self.told.put(("end", None))
            return
        self.workers.append(worker)
        while task := self._next(worker):
            try:
                self.told.put(("result", task()))
            except BaseException as error:
                self.told.put(("error", error))
        worker.end()
        self.told.put(("end", None))

    def _next(self, worker: Worker) -> Callable[[], Done] | None:
        """What to do next, which is waited for; None when there will be nothing more."""
        with self.changed:
            while not self.stopped and (self.ready or self.groups or self.preparing):
                if self.ready and self._has_room:
                    self.working += 1
                    return partial(self._work_on, worker, self.ready.popleft())
                if self.groups and len(self.ready) < self.jobs:
                    self.preparing += 1
                    return partial(self._prepare, worker, self.groups.popleft())
                self.changed.wait()
        return None

    @property
    def _has_room(self) -> bool:
        return self.working + self.waiting < self.jobs

    def _work_on(self, worker: Worker, request: Request[R]) -> Done:
        try:
            return self._perform(worker, request, self.hear)
        finally:
            self._end()

    def _prepare(self, worker: Worker, group: Sequence[Request[R]]) -> Done:
        """Perform the first of a group, which makes room for the others once, when it is ready or at its end."""
        waiting = [group[1:]]

        def release() -> None:
            while waiting:
                self._release(waiting.pop())

        def hear(event: Event) -> None:
            self.hear(event)
            if event.kind == "ready":
                release()

        try:
            return self._perform(worker, group[0], hear)
        finally:
            release()
            self._end()

    def _perform(self, worker: Worker, request: Request[R], hear: Tell) -> Done:
        admitted = self.admit(request)
        result = admitted.result if isinstance(admitted, Settled) else worker.perform(admitted, hear)
        return request, result

    def _release(self, others: Sequence[Request[R]]) -> None:
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


def _stop_once(number: int, _: object) -> None:
    """A process that ends already is not told again."""
    signal.signal(number, signal.SIG_IGN)
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
