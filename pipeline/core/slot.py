"""A unit on a worker: the part of a scheduler's task that runs on the worker's machine.

Each slot of a worker has its own process, so that a unit that ends its process ends nothing else. The unit's messages
and log go to its coordinator as they happen. Paths on the coordinator's machine (the project, its cache, a clone) are
translated to this machine's; if the clone is missing here, its objects are sent by content (`packs.py`).
"""

from __future__ import annotations

import dataclasses
import pickle
import socket
import subprocess
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pipeline.core import packs
from pipeline.core.cache import cache_root
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.full_disk import explained, is_full
from pipeline.core.git import has_commit, opened_clone
from pipeline.core.work import Event, Request, Spawned, Tell

#: bytes; a result up to this size is sent with the messages, which saves one transfer
MOST = 1 << 16
#: default ports, and seconds for a connection to the model gateway
PORTS, CONNECT = {"http": 80, "https": 443}, 5
#: the cause of a unit that failed here -> the kind of `Returned`
KINDS = {"disk": "full", "engine": "unfit", "sandbox": "unfit"}
PROJECT = Path(__file__).parents[2]


class Order(NamedTuple):
    """A unit as it is sent: the topic for its messages, the pickled request, and the sender's code digest and paths.
    `commits` are those that it names of the clone; `gateway` is the URL of the model gateway that it asks, if any."""

    unit: str
    topic: str
    request: bytes
    code: str
    places: tuple[str, ...]
    clone: str = ""
    key: str = ""
    commits: tuple[str, ...] = ()
    gateway: str = ""


class Returned(NamedTuple):
    """The end of a unit. `kind` is `result` (`value`: the pickled result), `died` (how), `full` (which disk), `unfit`
    (why the sandbox does not work here), `apart` (which gateway cannot be reached from here), `lacks` (the commits that
    are here, when objects are missing) or `other_code`. `messages` is the number of messages sent before."""

    kind: str
    value: Any
    messages: int = 0


Send = Callable[[str, Any], None]


def perform(order: Order, data: bytes | None = None) -> Returned:
    """Perform a unit, as the scheduler's task; `data` is a pack for the clone's copy."""
    from distributed import get_worker

    worker, sent = get_worker(), 0

    def send(kind: str, value: Any) -> None:
        nonlocal sent
        sent += 1
        worker.log_event(order.topic, (order.unit, kind, pickle.dumps(value)))

    if order.code != code():
        return Returned("other_code", str(worker.address))
    if order.gateway and not _is_reachable(order.gateway):
        return Returned("apart", order.gateway)
    try:
        clone = _clone(order, data)
    except (OSError, subprocess.CalledProcessError) as error:
        if is_full(error):
            return Returned("full", str(explained(error)))
        raise
    if clone is None:
        return Returned("lacks", packs.held(packs.copy_of(order.key)))
    moves = ({order.clone: clone} if clone else {}) | dict(zip(order.places, places(), strict=True))
    request = _moved(pickle.loads(order.request), moves)
    kind, value = _slots.perform(order.unit, request, send)
    if len(value) > MOST:
        return Returned(kind, value, sent)
    send("returned", Returned(kind, value, sent))
    return Returned("told", None, sent)


def _is_reachable(url: str) -> bool:
    """Whether anything answers at the address of a URL."""
    parts = urlsplit(url)
    port = parts.port or PORTS[parts.scheme]
    with suppress(OSError), socket.create_connection((parts.hostname, port), CONNECT):
        return True
    return False


def _clone(order: Order, data: bytes | None) -> str | None:
    """The clone here if it has the unit's commits, else the copy of the sender's objects; empty for a unit that needs
    none, None if objects are missing."""
    if not order.clone or _has_all(order.clone, order.commits):
        return order.clone
    copy = packs.copy_of(order.key)
    if data is not None and order.commits:
        packs.add(copy, data, order.commits)
    return str(copy) if order.commits and set(order.commits) <= set(packs.held(copy)) else None


def _has_all(path: str, commits: Iterable[str]) -> bool:
    """Whether there is a clone at this path that has these commits: an older one lacks the newest."""
    if not Path(path).exists():
        return False
    try:
        clone = opened_clone(path)
    except UserError:
        return False
    return all(has_commit(clone, commit) for commit in commits)


# -- processes -------------------------------------------------------------------------------------------------------
class Slots:
    """The processes of this worker, one for each thread that performs units, and their current units."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._busy: dict[str, Spawned] = {}
        self._idle: list[Spawned] = []

    def perform(self, unit: str, request: Request[Any], send: Send) -> tuple[str, Any]:
        with self._lock:
            process = self._idle.pop() if self._idle else Spawned()
            self._busy[unit] = process
        try:
            tell: Tell = lambda event: send("event", Event(*event))  # noqa: E731
            return "result", pickle.dumps(process.attempt(request, tell, lambda record: send("log", record)))
        except InfrastructureError as error:
            return KINDS.get(error.cause, "died"), str(error)
        finally:
            with self._lock:
                self._busy.pop(unit, None)
                self._idle.append(process)

    def stop(self, *units: str) -> None:
        """End the processes of these units, or of all if none is named."""
        with self._lock:
            for unit in units or list(self._busy):
                if process := self._busy.get(unit):
                    process.end()


_slots = Slots()


def stop(*units: str) -> None:
    """End units of this worker, or all if none is named: called by a coordinator that is asked to end."""
    _slots.stop(*units)


# -- places ----------------------------------------------------------------------------------------------------------
@cache
def code() -> str:
    """The digest of the program: all units of a batch are performed by the same version."""
    total = sha256()
    for path in sorted((PROJECT / "pipeline").rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            total.update(f"{path.relative_to(PROJECT)}\0".encode() + path.read_bytes())
    return total.hexdigest()


def places() -> tuple[str, ...]:
    """The paths that differ between machines: the cache and the project."""
    return str(cache_root()), str(PROJECT)


def _moved(value: Any, moves: dict[str, str]) -> Any:
    """Plain data, with paths below each source moved below its target; the first source that fits counts."""
    if all(source == target for source, target in moves.items()):
        return value
    if isinstance(value, str | Path):
        text = str(value)
        for source, target in moves.items():
            if text == source or text.startswith(f"{source}/"):
                return type(value)(target + text[len(source) :])
        return value
    if isinstance(value, tuple):
        parts = [_moved(part, moves) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    if isinstance(value, dict):
        return {key: _moved(part, moves) for key, part in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value) if field.init]
        return type(value)(**{name: _moved(getattr(value, name), moves) for name in fields})
    return value
