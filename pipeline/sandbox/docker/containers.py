"""The containers of one process in an engine: created, removed after use, and all removed when the process ends.

Labels of a container pass to every image that is made from it, and from there to containers that anybody starts. A
container is therefore ours only if a label has its own name, which no other container can have. Does not cover a
process that is killed: the next one on the same host sweeps its containers.
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
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import docker
from docker.errors import APIError, NotFound
from docker.models.containers import Container

from pipeline.core.background import Background
from pipeline.sandbox.base import stopped
from pipeline.sandbox.docker.faults import FAULTS

log = logging.getLogger(__name__)

#: labels of a container: its purpose, the host and process that created it, and its own name
LABEL, OWNER, NAME = "a11y-bench", "a11y-bench.owner", "a11y-bench.name"
#: their values in an image, which names neither host nor process
NO_CONTAINER = {OWNER: "", NAME: ""}

#: the HTTP status for something that is in use, or is being removed already
CONFLICT = 409
#: seconds that a process waits for the engine when it ends; the engine completes removals by itself
LAST_WAIT = 10


def owner() -> str:
    """A name of this process among all that may use the same engine."""
    return f"{socket.gethostname()}/{os.getpid()}"


def is_alive(owner_name: str) -> bool:
    """Whether an owner may still be running; owners on other hosts always may."""
    host, _, process = owner_name.rpartition("/")
    return host != socket.gethostname() or Path(f"/proc/{process}").exists()


def is_ours(row: Mapping[str, Any]) -> bool:
    """Whether a container in the engine's list was created here, and did not only inherit our labels."""
    name = (row["Labels"] or {}).get(NAME)
    return bool(name) and f"/{name}" in row["Names"]


class Containers:
    """The containers of this process. Raises what the Docker SDK raises, and InfrastructureError after `end`."""

    def __init__(self, client: docker.DockerClient) -> None:
        self._client, self._remover = client, Background()
        self._names, self._pending = set[str](), 0
        self._ended, self._changed = False, threading.Condition()
        atexit.register(self._remove_all)

    def create(self, image: str, command: Sequence[str], purpose: str, **options: Any) -> Container:
        """Create a container without starting it."""
        name = f"a11y-bench-{uuid.uuid4().hex[:16]}"
        labels = {LABEL: purpose, OWNER: owner(), NAME: name}
        with self._creating(name):
            return self._client.containers.create(image, list(command), name=name, labels=labels, **options)

    @contextmanager
    def _creating(self, name: str) -> Iterator[None]:
        """Count a creation, so that `end` waits for it; nothing is created after that."""
        with self._changed:
            self.check()
            self._names.add(name)
            self._pending += 1
        try:
            yield
        except BaseException:  # the engine may have created it nevertheless
            self._remover.submit(self._remove, name)
            self.check()
            raise
        finally:
            with self._changed:
                self._pending -= 1
                self._changed.notify_all()

    def check(self) -> None:
        """Raise InfrastructureError after `end`."""
        if self._ended:
            raise stopped()

    def give_up(self, container: Container) -> None:
        """Remove a container in the background, since that takes a second, and much longer with a large layer."""
        self._remover.submit(self._remove, container.name)

    def settle(self) -> None:
        """Wait until all containers that were given up are removed."""
        self._remover.settle()

    def end(self) -> None:
        """Remove all our containers at once and create no more. Commands that run in them fail."""
        with self._changed:
            self._ended = True
            self._changed.wait_for(lambda: not self._pending, LAST_WAIT)
        removers = {name: Background() for name in tuple(self._names)}
        wait([remover.submit(self._remove, name) for name, remover in removers.items()], LAST_WAIT)
        for remover in removers.values():
            remover.close()

    def _remove_all(self) -> None:
        """Remove all containers when Python exits. Ctrl-C ends that; a later sweep removes the others."""
        if not self._ended:
            with suppress(KeyboardInterrupt):
                self.settle()
                for name in tuple(self._names):
                    self._remove(name)

    def _remove(self, name: str) -> None:
        """Remove a container; if the engine fails, a later sweep does it."""
        try:
            self._remove_now(name)
        except NotFound:
            pass
        except FAULTS as error:
            log.warning("a container was not removed: %s", error)
        self._names.discard(name)

    def _remove_now(self, name: str) -> None:
        try:
            self._client.api.remove_container(name, v=True, force=True)
        except APIError as error:
            if error.status_code != CONFLICT:
                raise
            self._client.api.wait(name, timeout=LAST_WAIT, condition="removed")  # it is being removed already

    def sweep(self) -> None:
        """Remove the containers of processes of this host that no longer run, such as killed ones."""
        for row in self._client.api.containers(all=True, filters={"label": NAME}):
            if is_ours(row) and not is_alive(row["Labels"][OWNER]):
                self._remove(row["Id"])
