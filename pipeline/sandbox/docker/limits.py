"""Which limit a command in a container reached, and the end of a container that reaches one.

The kernel enforces memory, CPUs, the number of processes and the size of a single file; nothing but a look from outside
ends a command that takes too long, fills the disk file by file, or forks again whenever it may. Reads what the engine
says of the container's own layer and processes, and the container's counters of its control group (version 1 and 2).

Not covered: files that are open and deleted, the number of files, and what is written to the volume of the runner's
cache, which only the repository's own history may fill: of these, single files are bounded and time is.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from docker.errors import APIError
from docker.models.containers import Container

from pipeline.core.errors import InfrastructureError
from pipeline.sandbox.base import Limit, Limits
from pipeline.sandbox.docker.faults import FAULTS
from pipeline.sandbox.docker.stream import Attached, client_of, start_command

#: seconds between two looks at a running command; the look at its processes takes the engine another one
EVERY = 2.0
#: how many times as long as it took nobody looks at the disk again: an engine walks through all that was written, which
#: takes it seconds where that is much; and the most seconds that nobody looks
REST, LONGEST = 9, 30.0

#: what is looked at after a command that failed: counters of control groups, and the disk of the engine. It never
#: forks, since it has to work where there is no process left
GROUPS = "/sys/fs/cgroup"
COUNTERS = ("memory.events", "memory/memory.oom_control", "pids.events", "pids/pids.events")
LOOK = (
    *("sh", "-c", 'for f; do while read -r line; do echo "$f:$line"; done < "$f"; done 2> /dev/null; exec df -Pk /'),
    *("sh", *(f"{GROUPS}/{name}" for name in COUNTERS)),
)

#: the kernel's count of the most memory that a control group held, by version
PEAKS = ("memory.peak", "memory/memory.max_usage_in_bytes")

#: limit -> the line that says that it was reached at least once since the container was started
REACHED: tuple[tuple[Limit, bytes], ...] = (
    ("memory", rb"/memory\.(?:events|oom_control):oom_kill [1-9]"),
    ("processes", rb"/pids\.events:max [1-9]"),
)

#: how a command ends that the engine could not start, and the processes that it takes to start one
NOT_STARTED, STARTING = 126, 16

#: a disk with less left is full: bytes / 1024
SPARE = 16 * 2**10

#: how a process ends that writes to a file beyond its limit
SIGXFSZ = -25


class Watch(threading.Thread):
    """Kills the container of a command that reaches a limit; `limit` is then that one.

    An engine that does not answer ends the command's output instead, so that nobody waits for it for ever.
    """

    def __init__(self, container: Container, limits: Limits, output: Attached) -> None:
        super().__init__(daemon=True)
        self.container, self.limits, self.output = container, limits, output
        self.limit: Limit | None = None
        self._over, self._lock = threading.Event(), threading.Lock()
        self._deadline = time.monotonic() + limits.seconds
        self._next_look = 0.0

    def run(self) -> None:
        try:
            while not self._over.wait(max(0, min(EVERY, self._deadline - time.monotonic()))):
                if limit := self._reached():
                    self._end(limit)
        except FAULTS:
            self.output.close()

    def _reached(self) -> Limit | None:
        if time.monotonic() >= self._deadline:
            return "time"
        if self._is_full():
            return "disk"
        return "processes" if _processes(self.container) >= self.limits.processes else None

    def _is_full(self) -> bool:
        """Whether too much is written, as far as it is time to look."""
        started = time.monotonic()
        if started < self._next_look:
            return False
        size, ended = written(self.container), time.monotonic()
        self._next_look = ended + min(REST * (ended - started), LONGEST)
        return size >= self.limits.disk

    def _end(self, limit: Limit) -> None:
        with self._lock:
            if not self._over.is_set():
                kill(self.container)
                self.limit = limit
                self._over.set()

    def stop(self) -> None:
        """After this nothing is killed."""
        with self._lock:
            self._over.set()


@contextmanager
def watched(container: Container, limits: Limits, output: Attached) -> Iterator[Watch]:
    """Watch a container while its command runs."""
    watch = Watch(container, limits, output)
    watch.start()
    try:
        yield watch
    finally:
        watch.stop()


def kill(container: Container) -> None:
    with suppress(APIError):  # it may have ended by itself
        container.kill()


def written(container: Container) -> int:
    """Bytes of the files that differ from the container's image. Takes the engine milliseconds or, of many, seconds."""
    found = client_of(container).api.containers(all=True, size=True, filters={"id": container.id})
    return sum(one.get("SizeRw", 0) for one in found)


def _processes(container: Container) -> int:
    told: Any = container.stats(stream=False)
    return told["pids_stats"].get("current", 0)


def reached(container: Container, limits: Limits, code: int) -> Limit | None:
    """The limit that made a command fail with `code`.

    Raises InfrastructureError when the engine's disk is full, it can start nothing, or the container ended by no limit
    of its own.
    """
    if code == SIGXFSZ or written(container) >= limits.disk:
        return "disk"
    try:
        look = start_command(container, LOOK)
        said, looked = b"".join(look), client_of(container).api.exec_inspect(look.id)["ExitCode"]
    except APIError:
        return died(container)
    if looked == NOT_STARTED:
        container.reload()
        if not container.attrs["State"]["Running"]:
            return died(container)
        if _processes(container) + STARTING >= limits.processes:
            return "processes"
        raise InfrastructureError(f"the engine starts no command: {said.decode(errors='replace')}", cause="engine")
    if (left := re.search(rb"\s(\d+)\s+\d+%", said)) and int(left[1]) < SPARE:
        raise InfrastructureError("the engine's disk is full", cause="disk")
    return next((limit for limit, line in REACHED if re.search(line, said)), None)


def peak(container: Container) -> int:
    """The most memory that a container has held, in bytes, files that the kernel kept for it among them; 0 where the
    kernel does not count it (control groups of version 2 before Linux 5.19)."""
    said = b"".join(start_command(container, ("cat", *(f"{GROUPS}/{name}" for name in PEAKS))))
    return max((int(line) for line in said.split() if line.isdigit()), default=0)


def died(container: Container) -> Limit:
    """The limit that ended a whole container: its memory. Raises InfrastructureError for any other hand."""
    container.reload()
    if not container.attrs["State"]["OOMKilled"]:
        raise InfrastructureError("a container ended under its command", cause="workspace_gone")
    return "memory"
