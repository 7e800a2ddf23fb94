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

from pipeline.core.errors import InfrastructureError
from pipeline.core.sandbox import tar
from pipeline.core.sandbox.base import Completed, Limits, exit_code
from pipeline.core.sandbox.docker_engine import USER, faults

#: where a kernel counts the processes that it killed for their memory: control groups 2, then 1
OOM_COUNTERS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")

#: the engine would read the two streams apart and lose their order; the command's own words are passed as they are
MERGED = ("sh", "-c", 'exec "$@" 2>&1', "sh")

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
    handle = api.exec_create(container.id, [*MERGED, *argv], environment=env, workdir=folder, user=USER)["Id"]
    with _killed_after(container, limits.seconds) as over:
        chunks = api.exec_start(handle, stream=True)
        output = _read(chunks, limits.output)
    seconds = time.monotonic() - started
    if over.is_set():
        return Completed(KILLED, output[: limits.output], seconds, timed_out=True)
    if len(output) > limits.output:
        chunks.close()  # the engine waits for a reader, even to kill
        _kill(container)
        return Completed(KILLED, output[: limits.output], seconds, truncated=True)
    code = _code(container, api.exec_inspect(handle)["ExitCode"])
    return Completed(code, output, seconds, out_of_memory=code != 0 and _ran_out_of_memory(container))


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


def _code(container: Container, reported: int | None) -> int:
    """A command has no code when its container died under it: of its memory, or by somebody else's hand."""
    if reported is not None:
        return exit_code(reported)
    if not _ran_out_of_memory(container):
        raise InfrastructureError("a container ended under its command", cause="workspace_gone")
    return KILLED


def _ran_out_of_memory(container: Container) -> bool:
    with suppress(APIError):  # it may have died as a whole
        counters = container.exec_run(["cat", *OOM_COUNTERS], stderr=False).output
        return any(int(count) for count in re.findall(rb"^oom_kill (\d+)", counters, re.MULTILINE))
    container.reload()
    return container.attrs["State"]["OOMKilled"]


@faults()
def read(container: Container, path: str, most: int) -> bytes | None:
    """A regular file's bytes; None when there is none or it has more than `most`."""
    with suppress(NotFound):
        chunks, found = container.get_archive(path)
        if found["size"] <= most and not found["mode"] & NOT_REGULAR:
            return tar.only_file(_read(chunks, most + ARCHIVE_OVERHEAD))
    return None
