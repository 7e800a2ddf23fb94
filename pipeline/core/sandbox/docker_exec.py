"""Running one command in a container, within limits, and reading one file from it.

The engine has no way to end a single command, so a limit ends the whole container.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from docker.errors import APIError, NotFound
from docker.models.containers import Container

from pipeline.core.sandbox import tar
from pipeline.core.sandbox.base import Completed, Limits, exit_code
from pipeline.core.sandbox.docker_engine import USER, faults

#: where a kernel counts the processes that it killed for their memory: control groups 2, then 1
OOM_COUNTERS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")

KILLED = -9

#: the bits of a Go file mode that say that something is no regular file, and what an archive adds to a file
NOT_REGULAR = 1 << 31 | 1 << 27 | 1 << 26 | 1 << 25 | 1 << 24 | 1 << 21 | 1 << 19
ARCHIVE_OVERHEAD = 2**16


@faults()
def execute(
    container: Container, argv: Sequence[str], *, folder: str, env: dict[str, str], limits: Limits
) -> Completed:
    """Run a command as the user `bench` in a running container.

    `out_of_memory` says that the kernel killed a process of this container since it was started.
    """
    api, started = container.client.api, time.monotonic()
    handle = api.exec_create(container.id, list(argv), environment=env, workdir=folder, user=USER)["Id"]
    with _killed_after(container, limits.seconds) as over:
        output = _read(api.exec_start(handle, stream=True), limits.output)
        truncated = len(output) > limits.output
    if truncated:
        _kill(container)
    code = KILLED if truncated or over.is_set() else _code(api.exec_inspect(handle)["ExitCode"])
    memory = code != 0 and _ran_out_of_memory(container)
    seconds = time.monotonic() - started
    return Completed(code, output[: limits.output], seconds, over.is_set(), memory, truncated)


@contextmanager
def _killed_after(container: Container, seconds: float) -> Iterator[threading.Event]:
    over = threading.Event()

    def end() -> None:
        over.set()
        _kill(container)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield over
    finally:
        timer.cancel()


def _kill(container: Container) -> None:
    with suppress(APIError):  # it may have ended by itself
        container.kill()


def _read(chunks: Iterator[bytes], most: int) -> bytes:
    """All chunks, up to one byte above the limit."""
    kept = bytearray()
    for chunk in chunks:
        kept += chunk
        if len(kept) > most:
            break
    return bytes(kept[: most + 1])


def _code(reported: int | None) -> int:
    """A command has no code when its container died under it."""
    return KILLED if reported is None else exit_code(reported)


def _ran_out_of_memory(container: Container) -> bool:
    container.reload()
    if not container.attrs["State"]["Running"]:
        return container.attrs["State"]["OOMKilled"]
    counters = container.exec_run(["cat", *OOM_COUNTERS], stderr=False).output
    return any(int(count) for count in re.findall(rb"^oom_kill (\d+)", counters, re.MULTILINE))


@faults()
def read(container: Container, path: str, most: int) -> bytes | None:
    """A regular file's bytes; None when there is none or it has more than `most`."""
    with suppress(NotFound):
        chunks, found = container.get_archive(path)
        if found["size"] <= most and not found["mode"] & NOT_REGULAR:
            return tar.only_file(_read(chunks, most + ARCHIVE_OVERHEAD))
    return None
