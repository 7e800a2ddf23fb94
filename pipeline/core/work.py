"""Work as data. A unit is a request: plain data that says what to do, with which settings and on which objects. Its
`perform` method returns a result, also plain data. Only the coordinator, which calls `each`, writes to the store.

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
from pipeline.core.full_disk import explained, is_full
from pipeline.core.timing import timed

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

R = TypeVar("R", covariant=True)
#: causes of failures that are this machine's own: a unit may succeed on another one
LOCAL = ("disk", "engine", "sandbox")
log = logging.getLogger(__name__)


class Event(NamedTuple):
    """A message from a unit under way: a `step` to show to people, or `ready` when it has made what other units of its
    affinity wait for. `data` is plain data for the coordinator."""

    unit: str
    text: str = ""
    kind: Literal["step", "ready"] = "step"
    data: Any = None


Tell = Callable[[Event], None]


class Request(Protocol[R]):
    """A unit of work: plain data that survives pickling. Units of the same affinity share what the first one makes;
    a unit with an empty affinity shares nothing. One that reads a clone names it as `clone`, and one that asks the
    model gateway names that as `base_url`: workers on other machines need both."""

    @property
    def name(self) -> str: ...

    @property
    def affinity(self) -> str: ...

    def perform(self, tell: Tell) -> R:
        """The result: a pure function of the request and the objects it names. Does not write to the store."""

    def failed(self, error: Exception) -> R:
        """The result if `perform` raised, so that one broken unit never stops a batch. An error raised here does stop
        it."""


class Settled(NamedTuple):
    """The result of a request that need not be performed."""

    result: Any


class Interrupts(NamedTuple):
    """Calls at the first Ctrl-C, when no new work starts any more, and before a batch is ended at once."""

    first: Callable[[], None] = partial(say, "stopping after what is under way; press Ctrl-C again to stop at once")
    second: Callable[[], None] = lambda: None


DEFAULT = Interrupts()
Done = tuple[Any, Any]


def silent(_: Event) -> None:
    """Ignore an event."""


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

    `admit` is called when a request's turn comes: it returns the request to perform, or its result if there is nothing
    to perform. `hear` takes events; an error that it raises ends the batch. Both run in threads of the coordinator.
    `ahead` more workers make what other affinities need while all jobs run, as long as fewer than `jobs` requests are
    ready. Ctrl-C ends the batch after the units under way; then KeyboardInterrupt is raised.
    """
    crew = _Crew(_by_affinity(requests), jobs, hear, admit, ENGINES[engine])
    with _handling(signal.SIGTERM, _stop), _first_interrupt(lambda: crew.messages.put(("interrupt", None))):
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
    """Requests grouped by affinity, in the order of the first of each group."""
    groups: dict[object, list[Request[Any]]] = {}
    for request in requests:
        groups.setdefault(request.affinity or object(), []).append(request)
    return list(groups.values())


Message = tuple[Literal["result", "error", "interrupt", "end"], Any]


class Worker(Protocol):
    """Where requests are performed, one at a time. It belongs to one thread of the coordinator.

    A unit that says that it is ready continues when there is room for it. With `keeps_slot` it continues at once, since
    it holds a slot for which the units before it may be waiting.
    """

    keeps_slot: bool

    def perform(self, request: Request[Any], tell: Tell) -> Any: ...

    def end(self) -> None:
        """End at once, whatever is under way."""


class _InThread:
    """A worker in a thread of the coordinator. The batch's Interrupts end its unit."""

    keeps_slot = False

    def perform(self, request: Request[Any], tell: Tell) -> Any:
        return _performed(request, tell)

    def end(self) -> None:
        """Threads cannot be ended from outside."""


def _performed(request: Request[Any], tell: Tell) -> Any:
    try:
        return _attempted(request, tell)
    except InfrastructureError as error:
        return request.failed(error)


def _attempted(request: Request[Any], tell: Tell) -> Any:
    """The result. Raises InfrastructureError if this machine failed, such as its disk: another one may do better."""
    try:
        return request.perform(tell)
    except Exception as error:  # the border of a unit
        if is_full(error) or isinstance(error, A11yBenchError):  # the unit's outcome reports it
            log.debug("%s", request.name, exc_info=True)
        else:
            log.exception("%s", request.name)
        if is_full(error):
            raise explained(error) from error
        if isinstance(error, InfrastructureError) and error.cause in LOCAL:
            raise
        return request.failed(error)


def _record(record: logging.LogRecord) -> None:
    logging.getLogger(record.name).handle(record)


class Spawned:
    """A worker in a process of its own, started with the first request."""

    keeps_slot = False

    def __init__(self) -> None:
        self._line: Connection | None = None

    def perform(self, request: Request[Any], tell: Tell) -> Any:
        try:
            return self.attempt(request, tell)
        except InfrastructureError as error:
            return request.failed(error)

    def attempt(self, request: Request[Any], tell: Tell, record: Callable[[logging.LogRecord], None] = _record) -> Any:
        """The same; `record` takes log records. Raises InfrastructureError if the process or the machine failed."""
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
        """Receive messages from the process until it sends the result."""
        while True:
            kind, value = line.recv()
            if kind == "result":
                return value
            if kind == "unable":
                message, cause = value
                raise InfrastructureError(message, cause=cause)
            (tell if kind == "event" else record)(value)
            line.send(None)  # lets it continue

    def _start(self) -> Connection:
        spawn = multiprocessing.get_context("spawn")
        line, far_end = spawn.Pipe()
        self._process = spawn.Process(target=_serve, args=(far_end,), daemon=True)
        self._process.start()
        far_end.close()
        return line

    def end(self) -> None:
        if self._line:
            self._process.terminate()


def _serve(line: Connection) -> None:
    """The main loop of a worker's process: perform requests until the coordinator ends. Ctrl-C is left to the
    coordinator; SIGTERM ends the process like an interrupt, so that open resources are closed."""
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
            try:
                end = "result", _attempted(request, tell)
            except InfrastructureError as error:
                end = "unable", (str(error), error.cause)
            line.send(end)


def _end_with_parent() -> None:
    """End with the parent, even if it was killed: a unit that takes minutes must not outlive it."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


class _Sent(QueueHandler):
    """Sends a worker's log records to the coordinator, which writes the log file."""

    def __init__(self, send: Callable[[str, Any], None]) -> None:
        super().__init__(queue.SimpleQueue[logging.LogRecord]())  # a dummy: `enqueue` sends the records
        self._send = send

    def enqueue(self, record: logging.LogRecord) -> None:
        self._send("log", record)


def _remote() -> Worker:
    worker: Worker = import_module("pipeline.core.cluster").RemoteWorker()
    return worker


#: the engine whose units other machines may perform, each with a sandbox of its own
REMOTE = "dask"
#: where requests are performed
ENGINES: dict[str, Callable[[], Worker]] = {"threads": _InThread, "processes": Spawned, REMOTE: _remote}


class _Crew(Generic[R]):
    """What the threads of one batch share: the remaining requests, and messages to the coordinator."""

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
        self.changed, self.messages = threading.Condition(), queue.SimpleQueue[Message]()
        self.workers: list[Worker] = []

    def stop(self) -> None:
        """Start nothing new."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()

    def abort(self) -> None:
        """End the units that run in processes."""
        for worker in self.workers:
            worker.end()

    def results(self, threads: int, interrupted: Callable[[], None]) -> Iterator[Done]:
        """The results until the last thread has ended; then raise the first error of a thread, if any."""
        failure: BaseException | None = None
        while threads:
            kind, value = self.messages.get()
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
        """Pass an event on. An error here is the coordinator's fault: it ends the batch after the units under way."""
        try:
            self.listener(event)
        except Exception as error:
            self.stop()
            self.messages.put(("error", error))

    def run(self) -> None:
        """The main loop of a thread."""
        try:
            worker = self.worker()
        except Exception as error:  # there is no scheduler, for example
            self.messages.put(("error", error))
            self.messages.put(("end", None))
            return
        self.workers.append(worker)
        while task := self._next(worker):
            try:
                self.messages.put(("result", task()))
            except BaseException as error:
                self.messages.put(("error", error))
        worker.end()
        self.messages.put(("end", None))

    def _next(self, worker: Worker) -> Callable[[], Done] | None:
        """Wait for the next task; None when nothing is left."""
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
        """Perform the first request of a group. The others are released once, when it is ready or ends."""
        waiting = [group[1:]]

        def release() -> None:
            while waiting:
                self._release(waiting.pop(), worker.keeps_slot)

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

    def _release(self, others: Sequence[Request[R]], keeps_slot: bool) -> None:
        """Release the others of a group; this thread then counts as working: at once, or as soon as there is room."""
        with self.changed, timed("waiting"):
            self.preparing -= 1
            self.waiting += 1
            self.ready.extend(others)
            self.changed.notify_all()
            self.changed.wait_for(lambda: keeps_slot or self.working < self.jobs)
            self.waiting -= 1
            self.working += 1

    def _end(self) -> None:
        with self.changed:
            self.working -= 1
            self.changed.notify_all()


def _first_interrupt(call: Callable[[], None]) -> AbstractContextManager[None]:
    """The first Ctrl-C calls `call`; later ones have their usual effect."""
    before = signal.getsignal(signal.SIGINT)

    def handle(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        call()

    return _handling(signal.SIGINT, handle) if callable(before) else nullcontext()


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def _stop_once(number: int, _: object) -> None:
    """Interrupt the process, and ignore the signal from then on."""
    signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


@contextmanager
def _handling(number: signal.Signals, handler: Callable[..., None]) -> Iterator[None]:
    """Handle a signal during the block. Does nothing outside the main thread, since only that gets signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
