"""The containers of one process in an engine: made, removed when they are given up, and none left when it ends.

Labels go into every image that is made of a container, and from there to the containers that anybody starts of it. So a
container is ours only when a label says its own name, which no other can have. Does not cover a process that is
killed: the next one on the same host sweeps what that left.
"""

from __future__ import annotations

import atexit
import logging
import os
import socket
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, NotFound
from docker.models.containers import Container

from pipeline.core.aside import Aside
from pipeline.sandbox.base import stopped
from pipeline.sandbox.docker.faults import FAULTS

log = logging.getLogger(__name__)

#: labels of a container: what it is for, the host and process that made it, and its own name
LABEL, OWNER, NAME = "a11y-bench", "a11y-bench.owner", "a11y-bench.name"
#: what an image says in their place: neither the host nor the process that made it
NO_CONTAINER = {OWNER: "", NAME: ""}

#: the status of an answer that something is in use, or is being removed already
CONFLICT = 409
#: seconds that the end of a process waits for an engine: removals under way are finished by the engine itself
LAST_WAIT = 10


def owner() -> str:
    """This process, among all that may use the same engine."""
    return f"{socket.gethostname()}/{os.getpid()}"


def is_alive(who: str) -> bool:
    """Whether an owner may still be at work: what another host does cannot be seen here."""
    host, _, process = who.rpartition("/")
    return host != socket.gethostname() or Path(f"/proc/{process}").exists()


def is_ours(row: Mapping[str, Any]) -> bool:
    """Whether a container of the engine's list was made here, and did not only inherit our labels."""
    named = (row["Labels"] or {}).get(NAME)
    return bool(named) and f"/{named}" in row["Names"]


class Containers:
    """Raises what the Docker SDK raises, and InfrastructureError once all is ended."""

    def __init__(self, client: docker.DockerClient) -> None:
        self._client, self._remover = client, Aside()
        self._there, self._coming = set[str](), 0
        self._ended, self._changed = False, threading.Condition()
        atexit.register(self._leave_none)

    def create(self, image: str, words: Sequence[str], purpose: str, **options: Any) -> Container:
        """A container that has not been started."""
        name = f"a11y-bench-{uuid.uuid4().hex[:16]}"
        labels = {LABEL: purpose, OWNER: owner(), NAME: name}
        with self._arriving(name):
            return self._client.containers.create(image, list(words), name=name, labels=labels, **options)

    @contextmanager
    def _arriving(self, name: str) -> Iterator[None]:
        """The end waits for what the engine is just making, and nothing is made after it."""
        with self._changed:
            self.check()
            self._there.add(name)
            self._coming += 1
        try:
            yield
        except BaseException:  # the engine may have made it all the same
            self._remover.submit(self._remove, name)
            self.check()
            raise
        finally:
            with self._changed:
                self._coming -= 1
                self._changed.notify_all()

    def check(self) -> None:
        """Raise InfrastructureError when all has been ended."""
        if self._ended:
            raise stopped()

    def give_up(self, container: Container) -> None:
        """Remove it. Nobody waits for that: it takes a second or more, and many for a large layer."""
        self._remover.submit(self._remove, container.name)

    def settle(self) -> None:
        """Wait until the containers are gone that were given up."""
        self._remover.settle()

    def end(self) -> None:
        """Remove every container of ours at once, and make no more: what works in them fails."""
        with self._changed:
            self._ended = True
            self._changed.wait_for(lambda: not self._coming, LAST_WAIT)
        removers = {name: Aside() for name in tuple(self._there)}
        wait([remover.submit(self._remove, name) for name, remover in removers.items()], LAST_WAIT)
        for remover in removers.values():
            remover.close()

    def _leave_none(self) -> None:
        """When Python ends."""
        if not self._ended:
            self.settle()
            for name in tuple(self._there):
                self._remove(name)

    def _remove(self, name: str) -> None:
        """What the engine fails to remove is swept later."""
        try:
            self._removed(name)
        except NotFound:
            pass
        except FAULTS as error:
            log.warning("a container was not removed: %s", error)
        self._there.discard(name)

    def _removed(self, name: str) -> None:
        try:
            self._client.api.remove_container(name, v=True, force=True)
        except APIError as error:
            if error.status_code != CONFLICT:
                raise
            self._client.api.wait(name, timeout=LAST_WAIT, condition="removed")  # somebody is removing it

    def sweep(self) -> None:
        """Remove the containers of this host's processes that are gone: a process that is killed leaves its own."""
        for row in self._client.api.containers(all=True, filters={"label": NAME}):
            if is_ours(row) and not is_alive(row["Labels"][OWNER]):
                self._remove(row["Id"])
