"""Running one command in a container, within limits, and reading one file from it.

The engine has no way to end a single command, so a limit ends the whole container.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import IO

from docker.errors import NotFound
from docker.models.containers import Container

from pipeline.sandbox.base import Completed, Limit, Limits, exit_code
from pipeline.sandbox.docker import tar
from pipeline.sandbox.docker.engine import USER
from pipeline.sandbox.docker.faults import faults
from pipeline.sandbox.docker.limits import died, kill, reached, watched
from pipeline.sandbox.docker.stream import Attached, client_of, start_command

KILLED = -9

#: the bits of a Go file mode that mark anything but a regular file, and the overhead of an archive
NOT_REGULAR = 1 << 31 | 1 << 27 | 1 << 26 | 1 << 25 | 1 << 24 | 1 << 21 | 1 << 19
ARCHIVE_OVERHEAD = 2**16


@faults()
def execute(
    container: Container, argv: Sequence[str], *, folder: str, env: dict[str, str], limits: Limits, user: str = USER
) -> Completed:
    """Run a command in a running container, as the user `bench` by default."""
    started = time.monotonic()
    command = start_command(container, argv, environment=env, workdir=folder, user=user)
    with watched(container, limits, command) as watch:
        output = _read(iter(command), limits.output)
    return completed(container, command, limits, output, time.monotonic() - started, watch.limit)


def completed(
    container: Container,
    command: Attached,
    limits: Limits,
    output: bytes,
    seconds: float,
    limit: Limit | None,
    code: int | None = None,
) -> Completed:
    """The result of a command whose output was read up to the limit. `limit` is the limit for which a watch ended it;
    without a `code`, the engine is asked for it."""
    if not limit and len(output) > limits.output:
        limit = "output"
        command.close()  # the engine waits for a reader, even to kill
        kill(container)
    if limit:
        return Completed(KILLED, output[: limits.output], seconds, limit)
    if code is None:
        code = client_of(container).api.exec_inspect(command.id)["ExitCode"]
    if code is None:  # the container ended during the command
        return Completed(KILLED, output, seconds, died(container))
    code = exit_code(code)
    return Completed(code, output, seconds, reached(container, limits, code) if code else None)


def _read(chunks: Iterator[bytes], limit: int) -> bytes:
    """Read all chunks, up to one byte above the limit."""
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > limit:
            break
    return bytes(data[: limit + 1])


@faults()
def read(container: Container, path: str, limit: int) -> bytes | None:
    """The bytes of a regular file; None if there is none, or if it has more than `limit` bytes."""
    with suppress(NotFound):
        chunks, stat = container.get_archive(path)
        if stat and stat["size"] <= limit and not stat["mode"] & NOT_REGULAR:
            return tar.only_file(_read(chunks, limit + ARCHIVE_OVERHEAD))
    return None


@faults()
def fetch(container: Container, folder: str, target: IO[bytes], limit: int | None = None) -> None:
    """Write a folder, if it exists, to `target` as an archive that begins with its name, up to about `limit` bytes."""
    with suppress(NotFound):
        for chunk in container.get_archive(folder)[0]:
            target.write(chunk)
            if limit is not None and target.tell() > limit:
                break
