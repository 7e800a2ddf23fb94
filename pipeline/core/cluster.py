"""Units on remote workers, through a scheduler of dask.distributed: the coordinator's side.

Reads A11Y_BENCH_SCHEDULER, the scheduler's address. The scheduler transports requests, results and messages and knows
the workers. This module decides which worker gets a unit: one unit per slot, where its environment was made if there is
room. Received results are written. Losing a worker or the scheduler costs only the work in progress there, which is
performed elsewhere. A unit that TRIES workers did not survive is not tried again: it is not evaluated, with that cause.
A worker whose disk is full, whose sandbox does not work, or that does not reach the model gateway, gets no work for a
while, as long as there are others.
"""

from __future__ import annotations

import logging
import os
import pickle
import queue
import socket
import threading
import time
import uuid
from collections import defaultdict
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pipeline.core import packs, slot
from pipeline.core.console import say
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.full_disk import HINT
from pipeline.core.slot import Order, Returned
from pipeline.core.store import digest
from pipeline.core.work import Request, Tell

ADDRESS = "A11Y_BENCH_SCHEDULER"
NAME = f"name it: {ADDRESS}=tcp://HOST:8786"
#: workers that may fail a unit
TRIES = 3
#: seconds: between two listings of the workers; to wait for a slot where a unit's environment is; to wait for a lost
#: scheduler, and for a result; to wait for a message that was announced; without work for a worker that needs a person
LOOK, NEAR, PATIENCE, LATE, REST = 0.5, 30.0, 900.0, 60.0, 120.0
#: seconds for a connection to the scheduler
CONNECT = 10


class Failure(NamedTuple):
    """How workers fail a unit: the cause of one that is given up, what they did, and what a person can do about it."""

    cause: str
    what: str
    hint: str = ""

    @property
    def advice(self) -> str:
        return f"; {self.hint}" if self.hint else ""


def endpoint(address: str) -> tuple[str, int]:
    """Host and port of a scheduler's address (tcp://HOST:PORT). Raises ValueError."""
    parts = urlsplit(address)
    if not parts.hostname or not parts.port:
        raise ValueError("host or port is missing")
    return parts.hostname, parts.port


#: by the kind of `Returned`
FAILURES = {
    "died": Failure("worker", "workers ended while they performed it"),
    "missing": Failure("worker", "workers performed it, but its result did not arrive"),
    "full": Failure("disk", "workers had no disk space for it", HINT),
    "unfit": Failure("sandbox", "workers had no working sandbox for it", "just doctor shows there what is missing"),
    "apart": Failure(
        "gateway",
        "workers did not reach the model gateway",
        "on other machines, they need the proxy with a database at an address that they reach (A11Y_BENCH_PROXY_URL)",
    ),
}
#: workers that delay the next listing by a second: each takes 2 KB
MANY = 200

log = logging.getLogger(__name__)


class RemoteWorker:
    """A worker on any machine: `each` uses one for each unit under way."""

    keeps_slot = True

    def __init__(self) -> None:
        self._cluster, self._unit, self._ended = _Cluster.join(), "", False

    def perform(self, request: Request[Any], tell: Tell) -> Any:
        failures: list[str] = []
        while len(failures) < TRIES:
            address = self._cluster.take(request.affinity)
            try:
                returned = self._perform_on(request, address, tell)
            finally:
                self._cluster.give(address)
            if returned.kind == "result":
                return pickle.loads(returned.value)
            if returned.kind == "broken":
                return request.failed(returned.value)
            if returned.kind in FAILURES:
                failure = FAILURES[returned.kind]
                failures.append(f"{address}: {returned.value.removesuffix(failure.advice)}")
                log.warning("%s: %s", request.name, failures[-1])
                if failure.hint:
                    self._cluster.rest(address, f"{failures[-1]}{failure.advice}")
            elif returned.kind == "lost":
                log.info("%s: again, since %s", request.name, returned.value)
        message = f"{TRIES} {failure.what}: {'; '.join(failures)}{failure.advice}"
        return request.failed(InfrastructureError(message, cause=failure.cause))

    def _perform_on(self, request: Request[Any], address: str, tell: Tell) -> Returned:
        """Perform a request on one worker, which is sent the objects that it asks for."""
        cluster, data, hear = self._cluster, None, self._listener(request, address, tell)
        try:
            order = self._order(request)
        except UserError as error:  # its clone is gone
            return Returned("broken", error)
        for _ in range(3):
            self._unit = uuid.uuid4().hex
            returned = cluster.perform(order._replace(unit=self._unit), data, address, hear)
            if returned.kind == "other_code":
                cluster.refuse(address)
            if returned.kind != "lacks":
                return returned
            if lacking := set(order.commits) - set(returned.value):
                data = cluster.packed(Path(order.clone), tuple(sorted(lacking)), tuple(sorted(returned.value)))
        raise InfrastructureError(f"{address} did not accept the objects of {order.clone}", cause="worker")

    def _order(self, request: Request[Any]) -> Order:
        """The request as it is sent. Raises UserError if its clone cannot be read."""
        clone, data = getattr(request, "clone", ""), pickle.dumps(request)
        order = Order("", self._cluster.topic, data, slot.code(), slot.places(), clone)
        order = order._replace(gateway=getattr(request, "base_url", ""))
        if not clone:
            return order
        commits = packs.commits_named(Path(clone), data)
        return order._replace(key=digest(socket.gethostname(), clone), commits=commits)

    def _listener(self, request: Request[Any], address: str, tell: Tell) -> Tell:
        def hear(event: Any) -> None:
            if event.kind == "ready" and request.affinity:
                self._cluster.made(request.affinity, address)
            tell(event)

        return hear

    def end(self) -> None:
        """End the unit under way on its worker, too."""
        if not self._ended:
            self._ended = True
            self._cluster.leave(self._unit)


Message = tuple[str, Any]


class _Cluster:
    """The connection to a scheduler, shared by all units under way, and the slots of its workers."""

    _joined: dict[str, _Cluster] = {}
    _joining = threading.Lock()

    @classmethod
    def join(cls) -> _Cluster:
        """The existing connection, or a new one. Raises UserError, InfrastructureError."""
        address = os.environ.get(ADDRESS, "")
        if not address:
            raise UserError("no scheduler is named", field=ADDRESS, hint=f"start one (a11y-bench scheduler) and {NAME}")
        with cls._joining:
            cluster = cls._joined.get(address)
            if cluster is None or cluster.closed:
                cluster = cls._joined[address] = cls(address)
            cluster.users += 1
            return cluster

    def __init__(self, address: str) -> None:
        self.address, self.topic = address, f"a11y-bench-{uuid.uuid4().hex}"
        self.users, self.closed, self.failure = 0, False, ""
        self.changed = threading.Condition()
        self.free: dict[str, int] = {}
        self.hosts: dict[str, str] = {}
        self.refused: set[str] = set()
        self.resting: dict[str, float] = {}
        self.near = defaultdict[str, set[str]](set)
        self.flights: dict[str, tuple[str, queue.SimpleQueue[Message]]] = {}
        self.packs: dict[Any, bytes] = {}
        self._packing = threading.Lock()
        try:
            self.client = self._connected()
        except OSError as error:
            hint = f"start one (a11y-bench scheduler), and {NAME}"
            raise UserError(f"no scheduler answers at {address}: {error}", field=ADDRESS, hint=hint) from None
        except ValueError as error:
            raise UserError(f"'{address}' is not a scheduler's address: {error}", field=ADDRESS, hint=NAME) from None
        threading.Thread(target=self._watch, daemon=True).start()

    def _connected(self) -> Any:
        """A client. Raises OSError at once if nothing answers, and ValueError for an invalid address."""
        from distributed import Client

        with socket.create_connection(endpoint(self.address), CONNECT):
            pass
        logging.getLogger("distributed").setLevel(logging.WARNING)
        client: Any = Client(self.address, timeout=CONNECT, set_as_default=False, name="a11y-bench")
        client.subscribe_topic(self.topic, self._hear)
        return client

    # -- messages -----------------------------------------------------------------------------------------------------
    def _hear(self, event: tuple[float, Any]) -> None:
        unit, kind, value = event[1]
        if flight := self.flights.get(unit):
            flight[1].put((kind, pickle.loads(value)))

    def perform(self, order: Order, data: bytes | None, address: str, hear: Tell) -> Returned:
        """Perform a unit on one worker; `hear` gets its events until it has ended. A result that does not arrive is
        `lost` with the connection to the scheduler, else `missing`."""
        client, messages = self.client, queue.SimpleQueue[Message]()
        self.flights[order.unit] = (address, messages)
        try:
            future = self._submitted(order, data, address, messages)
            returned = self._ended(future, messages, hear)
        except (OSError, RuntimeError) as error:  # the connection is closed
            returned = Returned("lost", str(error))
        finally:
            del self.flights[order.unit]
        is_connected = returned.kind == "lost" and client is self.client and self._list_workers() is not None
        return returned._replace(kind="missing") if is_connected else returned

    def _submitted(self, order: Order, data: bytes | None, address: str, messages: queue.SimpleQueue[Message]) -> Any:
        client = self.client
        arguments = [order] if data is None else [order, client.scatter(data, workers=[address], hash=False)]
        future = client.submit(slot.perform, *arguments, key=order.unit, workers=[address], pure=False)
        future.add_done_callback(lambda done: messages.put(("end", done.status)))
        return future

    def _ended(self, future: Any, messages: queue.SimpleQueue[Message], hear: Tell) -> Returned:
        """Receive a unit's messages until its end is known. A small result comes with the messages; a large one is
        fetched, while the messages say whether its worker is still there."""
        received, fetched = 0, None
        while fetched is None or received < fetched.messages:
            try:
                kind, value = messages.get(timeout=LATE if fetched else None)
            except queue.Empty:
                kind, value = "lost", "its messages did not arrive"
            match kind, value:
                case "returned", Returned():
                    return value
                case "end", "finished":
                    threading.Thread(target=self._fetch, args=(future, messages), daemon=True).start()
                case "fetched", Returned("lost"):
                    return value
                case "fetched", Returned():
                    fetched = value
                case "end", "error":
                    return Returned("broken", future.exception())
                case "event" | "log", _:
                    received += 1
                    _pass_on(kind, value, hear)
                case _ if fetched and fetched.kind != "told":
                    return fetched  # missing progress messages do not justify another try
                case _:
                    with suppress(Exception):
                        future.cancel()
                    return Returned("died" if kind == "gone" else "lost", value)
        return fetched

    def _fetch(self, future: Any, messages: queue.SimpleQueue[Message]) -> None:
        try:
            fetched = Returned(*future.result(timeout=PATIENCE))
        except Exception as error:  # the worker or the scheduler ended
            fetched = Returned("lost", f"its result did not arrive: {error!r}")
        messages.put(("fetched", fetched))

    # -- slots --------------------------------------------------------------------------------------------------------
    def take(self, affinity: str) -> str:
        """The worker for a unit, once one has a free slot. Raises InfrastructureError if the connection failed, and
        UserError if all workers run another version."""
        started = time.monotonic()
        with self.changed:
            while True:
                if self.failure:
                    raise InfrastructureError(self.failure, cause="scheduler")
                self._require_able()
                if address := self._chosen(affinity, time.monotonic() - started):
                    self.free[address] -= 1
                    return address
                self.changed.wait(1)

    def _chosen(self, affinity: str, waited: float) -> str:
        able = [worker for worker in self.free if worker not in self.refused]
        able = [worker for worker in able if self.resting.get(worker, 0) < time.monotonic()] or able
        free = [worker for worker in able if self.free[worker] > 0]
        near = [worker for worker in able if self.hosts[worker] in self.near[affinity]] if affinity else []
        best = [worker for worker in free if worker in near]
        if not best and near and waited < NEAR:
            return ""
        return max(best or free, key=lambda worker: self.free[worker], default="")

    def give(self, address: str) -> None:
        with self.changed:
            if address in self.free:
                self.free[address] += 1
            self.changed.notify_all()

    def made(self, affinity: str, address: str) -> None:
        """Note that a worker's machine has what units of an affinity share."""
        with self.changed:
            if address in self.hosts:
                self.near[affinity].add(self.hosts[address])

    def refuse(self, address: str) -> None:
        """Send no work to a worker with another version of the program. Raises UserError if no other is left."""
        with self.changed:
            if address not in self.refused:
                say(f"the worker {address} runs another version of this program and gets no work")
            self.refused.add(address)
            self._require_able()

    def _require_able(self) -> None:
        if self.free and self.free.keys() <= self.refused:
            hint = "stop them, bring the same version there (just remote-push HOST --without-data), and start them"
            raise UserError("all workers run another version of this program", hint=hint)

    def rest(self, address: str, why: str) -> None:
        """Send a worker that needs a person no work for a while."""
        with self.changed:
            if self.resting.get(address, 0) < time.monotonic():
                say(f"a worker gets no work for {REST:.0f} s: {why}")
            self.resting[address] = time.monotonic() + REST

    def packed(self, clone: Path, commits: tuple[str, ...], without: tuple[str, ...]) -> bytes:
        """A pack, made once for all workers that lack the same objects."""
        key = (clone, commits, without)
        with self._packing:
            if key not in self.packs:
                self.packs = {key: packs.pack(clone, commits, without)}  # the latest: others need the same
            return self.packs[key]

    # -- workers ------------------------------------------------------------------------------------------------------
    def _watch(self) -> None:
        """Keep the list of workers current, and reconnect to a lost scheduler for up to PATIENCE seconds."""
        began, reported = time.monotonic(), False
        while not self.closed:
            workers = self._list_workers()
            if self.closed:
                return
            if workers is None:
                self._reconnect()
                continue
            self._update_slots(workers)
            if not workers and not reported and time.monotonic() - began > 5:
                reported = True
                say(f"no worker yet; start one: a11y-bench worker {self.address}")
            time.sleep(LOOK + len(workers) / MANY)

    def _list_workers(self) -> dict[str, Any] | None:
        """The workers according to the scheduler itself, or None if it does not answer. The client's own list is often
        empty."""
        if self.client.status != "running":
            return None
        try:
            workers: dict[str, Any] = self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"]
            return workers
        except Exception:
            return None

    def _update_slots(self, workers: dict[str, Any]) -> None:
        with self.changed:
            for address in self.free.keys() - workers.keys():
                del self.free[address], self.hosts[address]
                self._tell_flights("gone", "the worker is gone", address)
            for address in workers.keys() - self.free.keys():
                self.free[address], self.hosts[address] = workers[address]["nthreads"], workers[address]["host"]
            self.changed.notify_all()

    def _tell_flights(self, kind: str, value: str, address: str = "") -> None:
        for worker, messages in list(self.flights.values()):
            if not address or worker == address:
                messages.put((kind, value))

    def _reconnect(self) -> None:
        say(f"lost the scheduler {self.address}; waiting for it; results so far are kept")
        with self.changed:
            self.free.clear()
            self.hosts.clear()
            self._tell_flights("lost", "the scheduler is gone")
        self._close_client()
        until = time.monotonic() + PATIENCE
        while not self.closed and time.monotonic() < until:
            with suppress(OSError):
                self.client = self._connected()
                say("the scheduler is back")
                return
            time.sleep(LOOK)
        with self.changed:
            self.closed, self.failure = True, f"the scheduler {self.address} did not come back in {PATIENCE:.0f} s"
            self.changed.notify_all()

    # -- the end ------------------------------------------------------------------------------------------------------
    def leave(self, unit: str) -> None:
        """Release one share of the connection; if its unit is under way, end it at once."""
        if (flight := self.flights.get(unit)) and not self.closed:
            with suppress(Exception):
                self.client.run(slot.stop, unit, workers=[flight[0]], on_error="ignore")
        with self._joining:
            self.users -= 1
            if self.users > 0 or self.closed:
                return
            self.closed = True
        self._close_client()

    def _close_client(self) -> None:
        with suppress(Exception):
            self.client.close(timeout=5)


def _pass_on(kind: str, value: Any, hear: Tell) -> None:
    if kind == "event":
        hear(value)
    else:
        logging.getLogger(value.name).handle(value)
