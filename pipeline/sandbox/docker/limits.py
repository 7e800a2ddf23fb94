"""Which limit a command in a container reached, and stopping the container that reaches one.

The kernel enforces memory, CPUs, the number of processes and the size of a single file. A watch from outside ends
commands that take too long, fill the disk file by file, or keep forking. Reads what the engine reports on the
container's own layer and processes, and the counters of the container's control group (versions 1 and 2).

Not covered: files that are open and deleted, the number of files, and the volume of the runner's cache, which only the
repository's own history may fill. For these, the size of single files and the time are limited.
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

#: seconds between two checks of a running command; checking its processes takes the engine another second
EVERY = 2.0
#: the disk is checked again after REST times the duration of the last check, but after LONGEST seconds at most: an
#: engine walks through all written files, which can take seconds
REST, LONGEST = 9, 30.0

#: prints the counters of control groups and the engine's disk after a failed command. It never forks, since it must
#: work if no process is left
GROUPS = "/sys/fs/cgroup"
COUNTERS = ("memory.events", "memory/memory.oom_control", "pids.events", "pids/pids.events")
LOOK = (
    *("sh", "-c", 'for f; do while read -r line; do echo "$f:$line"; done < "$f"; done 2> /dev/null; exec df -Pk /'),
    *("sh", *(f"{GROUPS}/{name}" for name in COUNTERS)),
)

#: the kernel's file with a control group's peak memory, by version
PEAKS = ("memory.peak", "memory/memory.max_usage_in_bytes")

#: limit -> the line that shows that it was reached since the container was started
REACHED: tuple[tuple[Limit, bytes], ...] = (
    ("memory", rb"/memory\.(?:events|oom_control):oom_kill [1-9]"),
    ("processes", rb"/pids\.events:max [1-9]"),
)

#: the exit code of a command that the engine could not start, and the processes that starting one takes
NOT_STARTED, STARTING = 126, 16
#: how often a container that starts no command is checked before it counts as running, and the seconds between checks
LOOKS, BETWEEN = 10, 0.2

#: a disk with less free space is full, in KiB
SPARE = 16 * 2**10

#: the exit code of a process that exceeds the size limit of a file
SIGXFSZ = -25


class Watch(threading.Thread):
    """Kills the container of a command that reaches a limit; `limit` is then that limit.

    If the engine does not answer, it ends the command's output instead, so that nothing waits forever.
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
        """Whether too much was written; checked only when it is due."""
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
        """Stop watching: nothing is killed after this."""
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
    with suppress(APIError):  # the container may have ended by itself
        container.kill()


def written(container: Container) -> int:
    """Bytes of files that differ from the container's image. Takes the engine milliseconds, for many files seconds."""
    rows = client_of(container).api.containers(all=True, size=True, filters={"id": container.id})
    return sum(row.get("SizeRw", 0) for row in rows)


def _processes(container: Container) -> int:
    stats: Any = container.stats(stream=False)
    return stats["pids_stats"].get("current", 0)


def _ended(container: Container) -> bool:
    """Whether a container that starts no command has ended, which a busy engine takes a moment to notice."""
    for _ in range(LOOKS):
        container.reload()
        if not container.attrs["State"]["Running"]:
            return True
        time.sleep(BETWEEN)
    return False


def reached(container: Container, limits: Limits, code: int) -> Limit | None:
    """The limit that made a command fail with `code`.

    Raises InfrastructureError if the engine's disk is full, if it cannot start commands, or if the container ended for
    another reason than its limits.
    """
    if code == SIGXFSZ or written(container) >= limits.disk:
        return "disk"
    try:
        probe = start_command(container, LOOK)
        output, probe_code = b"".join(probe), client_of(container).api.exec_inspect(probe.id)["ExitCode"]
    except APIError:
        return died(container)
    if probe_code == NOT_STARTED:
        if _processes(container) + STARTING >= limits.processes:
            return "processes"
        if _ended(container):
            return died(container)
        raise InfrastructureError(f"the engine starts no command: {output.decode(errors='replace')}", cause="engine")
    if (free := re.search(rb"\s(\d+)\s+\d+%", output)) and int(free[1]) < SPARE:
        raise InfrastructureError("the engine's disk is full", cause="disk")
    return next((limit for limit, line in REACHED if re.search(line, output)), None)


def peak(container: Container) -> int:
    """The peak memory of a container in bytes, including cached files; 0 if the kernel does not count it (control
    groups of version 2 before Linux 5.19)."""
    output = b"".join(start_command(container, ("cat", *(f"{GROUPS}/{name}" for name in PEAKS))))
    return max((int(line) for line in output.split() if line.isdigit()), default=0)


def died(container: Container) -> Limit:
    """The limit that ended a whole container: memory. Raises InfrastructureError for any other cause."""
    container.reload()
    if not container.attrs["State"]["OOMKilled"]:
        raise InfrastructureError("a container ended during its command", cause="workspace_gone")
    return "memory"
