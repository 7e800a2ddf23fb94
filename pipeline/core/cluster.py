"""Units on remote workers, through a scheduler of dask.distributed: the coordinator's side.

Reads A11Y_BENCH_SCHEDULER, the scheduler's address. The scheduler transports requests, results and messages and knows
the workers. Which worker gets a unit is decided here, one unit per slot, where its environment was made if there is
room. Received results are written. Losing a worker or the scheduler costs only the work in progress there, which is
performed elsewhere. A unit under which TRIES workers ended is not tried again: it is not evaluated, with that cause.
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
from typing import Any

from pipeline.core import packs, slot
from pipeline.core.console import say
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.slot import Order, Returned
from pipeline.core.store import digest
from pipeline.core.work import Request, Tell

ADDRESS = "A11Y_BENCH_SCHEDULER"
#: workers that may end under one unit
TRIES = 3
#: seconds: between two looks at who is there; that a unit waits for a slot where its environment is; that a scheduler
#: which is gone is waited for; that what was announced may take
LOOK, NEAR, PATIENCE, LATE = 0.5, 30.0, 900.0, 60.0
#: workers for which one second more passes between two looks: each is 2 KB
MANY = 200

log = logging.getLogger(__name__)


class Far:
    """A worker anywhere: `each` has one for each unit that is under way."""

    def __init__(self) -> None:
        self._cluster, self._unit, self._ended = _Cluster.join(), "", False

    def perform(self, request: Request[Any], tell: Tell) -> Any:
        died: list[str] = []
        while len(died) < TRIES:
            address = self._cluster.take(request.affinity)
            try:
                returned = self._sent(request, address, tell)
            finally:
                self._cluster.give(address)
            if returned.kind == "result":
                return pickle.loads(returned.value)
            if returned.kind == "broken":
                return request.failed(returned.value)
            if returned.kind == "died":
                died.append(f"{address}: {returned.value}")
                log.warning("%s: %s", request.name, died[-1])
        message = f"{TRIES} workers ended under it: {'; '.join(died)}"
        return request.failed(InfrastructureError(message, cause="worker"))

    def _sent(self, request: Request[Any], address: str, tell: Tell) -> Returned:
        """How it went on one worker, which is given the objects that it asks for."""
        cluster, data = self._cluster, None
        clone = getattr(request, "clone", "")
        order = Order("", cluster.topic, pickle.dumps(request), slot.code(), slot.places(), clone)
        if clone:
            order = order._replace(key=digest(socket.gethostname(), clone))
        for _ in range(3):
            self._unit = uuid.uuid4().hex
            returned = cluster.perform(
                order._replace(unit=self._unit), data, address, self._heard(request, address, tell)
            )
            if returned.kind == "other_code":
                cluster.refuse(address)
            if returned.kind != "lacks":
                return returned
            commits = packs.commits_named(Path(clone), order.request)
            lacking = set(commits) - set(returned.value)
            order, data = order._replace(commits=commits), None
            if lacking:
                data = cluster.packed(Path(clone), tuple(sorted(lacking)), tuple(sorted(returned.value)))
        raise InfrastructureError(f"{address} did not accept the objects of {clone}", cause="worker")

    def _heard(self, request: Request[Any], address: str, tell: Tell) -> Tell:
        def hear(event: Any) -> None:
            if event.kind == "ready" and request.affinity:
                self._cluster.made(request.affinity, address)
            tell(event)

        return hear

    def end(self) -> None:
        """Whatever is under way ends on its worker, too."""
        if not self._ended:
            self._ended = True
            self._cluster.leave(self._unit)


Message = tuple[str, Any]


class _Cluster:
    """The connection to a scheduler, which all that is under way share, and the slots of its workers."""

    _joined: dict[str, _Cluster] = {}
    _joining = threading.Lock()

    @classmethod
    def join(cls) -> _Cluster:
        """The connection that is there, or a new one. Raises UserError, InfrastructureError."""
        address = os.environ.get(ADDRESS, "")
        if not address:
            hint = f"start one (a11y-bench scheduler) and name it: {ADDRESS}=tcp://HOST:8786"
            raise UserError("no scheduler is named", field=ADDRESS, hint=hint)
        with cls._joining:
            found = cls._joined.get(address)
            if found is None or found.closed:
                found = cls._joined[address] = cls(address)
            found.users += 1
            return found

    def __init__(self, address: str) -> None:
        self.address, self.topic = address, f"a11y-bench-{uuid.uuid4().hex}"
        self.users, self.closed, self.failure = 0, False, ""
        self.changed = threading.Condition()
        self.free: dict[str, int] = {}
        self.hosts: dict[str, str] = {}
        self.refused: set[str] = set()
        self.near = defaultdict[str, set[str]](set)
        self.flights: dict[str, tuple[str, queue.SimpleQueue[Message]]] = {}
        self.packs: dict[Any, bytes] = {}
        self._packing = threading.Lock()
        try:
            self.client = self._connected()
        except OSError as error:
            hint = "start one: a11y-bench scheduler"
            raise UserError(f"no scheduler answers: {error}", field=ADDRESS, hint=hint) from None
        threading.Thread(target=self._watch, daemon=True).start()

    def _connected(self) -> Any:
        from distributed import Client

        client: Any = Client(self.address, timeout=10, set_as_default=False, name="a11y-bench")
        client.subscribe_topic(self.topic, self._hear)
        return client

    # -- messages -----------------------------------------------------------------------------------------------------
    def _hear(self, event: tuple[float, Any]) -> None:
        unit, kind, value = event[1]
        if flight := self.flights.get(unit):
            flight[1].put((kind, pickle.loads(value)))

    def perform(self, order: Order, data: bytes | None, address: str, hear: Tell) -> Returned:
        """Perform a unit on one worker; what it tells is heard until it has ended."""
        messages = queue.SimpleQueue[Message]()
        self.flights[order.unit] = (address, messages)
        try:
            future = self._submitted(order, data, address, messages)
            return self._ended(future, messages, hear)
        except (OSError, RuntimeError) as error:  # the connection is closed
            return Returned("lost", str(error))
        finally:
            del self.flights[order.unit]

    def _submitted(self, order: Order, data: bytes | None, address: str, messages: queue.SimpleQueue[Message]) -> Any:
        client = self.client
        given = [order] if data is None else [order, client.scatter(data, workers=[address], hash=False)]
        future = client.submit(slot.perform, *given, key=order.unit, workers=[address], pure=False)
        future.add_done_callback(lambda done: messages.put(("end", done.status)))
        return future

    def _ended(self, future: Any, messages: queue.SimpleQueue[Message], hear: Tell) -> Returned:
        """Hear what a unit tells until its end is known. A small result comes with the messages."""
        heard, fetched = 0, None
        while fetched is None or heard < fetched.told:
            try:
                kind, value = messages.get(timeout=LATE if fetched else None)
            except queue.Empty:
                kind, value = "lost", "what it told did not arrive"
            match kind, value:
                case "returned", Returned():
                    return value
                case "end", "finished":
                    fetched = self._fetched(future)
                case "end", "error":
                    return Returned("broken", future.exception())
                case "event" | "log", _:
                    heard += 1
                    _take(kind, value, hear)
                case _ if fetched and fetched.kind != "told":
                    return fetched  # what it told on its way is not worth another try
                case _:
                    with suppress(Exception):
                        future.cancel()
                    return Returned("died" if kind == "gone" else "lost", value)
        return fetched

    def _fetched(self, future: Any) -> Returned:
        try:
            return Returned(*future.result(timeout=LATE))
        except Exception as error:  # its worker ended with it, or the scheduler did
            return Returned("lost", f"its result did not arrive: {error!r}")

    # -- slots --------------------------------------------------------------------------------------------------------
    def take(self, affinity: str) -> str:
        """The worker that a unit goes to, once one has a free slot. Raises InfrastructureError where nobody is left
        to wait for."""
        asked = time.monotonic()
        with self.changed:
            while True:
                if self.failure:
                    raise InfrastructureError(self.failure, cause="scheduler")
                if address := self._chosen(affinity, time.monotonic() - asked):
                    self.free[address] -= 1
                    return address
                self.changed.wait(1)

    def _chosen(self, affinity: str, waited: float) -> str:
        free = [one for one, slots in self.free.items() if slots > 0 and one not in self.refused]
        there = [one for one in self.free if self.hosts[one] in self.near[affinity]] if affinity else []
        best = [one for one in free if one in there]
        if not best and there and waited < NEAR:
            return ""
        return max(best or free, key=lambda one: self.free[one], default="")

    def give(self, address: str) -> None:
        with self.changed:
            if address in self.free:
                self.free[address] += 1
            self.changed.notify_all()

    def made(self, affinity: str, address: str) -> None:
        """What units of an affinity share is there."""
        with self.changed:
            if address in self.hosts:
                self.near[affinity].add(self.hosts[address])

    def refuse(self, address: str) -> None:
        """A worker of another version of the program gets nothing. Raises UserError where there is no other."""
        with self.changed:
            if address not in self.refused:
                say(f"the worker {address} runs another version of this program and gets no work")
            self.refused.add(address)
            if self.free.keys() <= self.refused:
                hint = "bring the same version there (just remote-push HOST --without-data) and start the workers again"
                raise UserError("all workers run another version of this program", hint=hint)

    def packed(self, clone: Path, commits: tuple[str, ...], without: tuple[str, ...]) -> bytes:
        """A pack, made once for all workers that lack the same."""
        key = (clone, commits, without)
        with self._packing:
            if key not in self.packs:
                self.packs = {key: packs.pack(clone, commits, without)}  # the last one: others come for the same
            return self.packs[key]

    # -- who is there -------------------------------------------------------------------------------------------------
    def _watch(self) -> None:
        """Look who is there; connect again to a scheduler that is gone, as long as it is waited for."""
        began, said = time.monotonic(), False
        while not self.closed:
            there = self._looked()
            if self.closed:
                return
            if there is None:
                self._reconnect()
                continue
            self._seen(there)
            if not there and not said and time.monotonic() - began > 5:
                said = True
                say(f"no worker yet; start one: a11y-bench worker {self.address}")
            time.sleep(LOOK + len(there) / MANY)

    def _looked(self) -> dict[str, Any] | None:
        """The workers as the scheduler itself says, None where it says nothing; what the client remembers of them is
        often empty."""
        if self.client.status != "running":
            return None
        try:
            found: dict[str, Any] = self.client.sync(self.client.scheduler.identity, n_workers=-1)["workers"]
            return found
        except Exception:
            return None

    def _seen(self, there: dict[str, Any]) -> None:
        with self.changed:
            for address in self.free.keys() - there.keys():
                del self.free[address], self.hosts[address]
                self._tell_flights("gone", "the worker is gone", address)
            for address in there.keys() - self.free.keys():
                self.free[address], self.hosts[address] = there[address]["nthreads"], there[address]["host"]
            self.changed.notify_all()

    def _tell_flights(self, kind: str, value: str, address: str = "") -> None:
        for at, messages in list(self.flights.values()):
            if not address or at == address:
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
        """One of those that share the connection needs it no more; its unit, if it is under way, ends at once."""
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


def _take(kind: str, value: Any, hear: Tell) -> None:
    if kind == "event":
        hear(value)
    else:
        logging.getLogger(value.name).handle(value)
