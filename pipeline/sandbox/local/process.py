"""Commands on the host, each in a session of its own that dies with it, and that Ctrl-C in a terminal does not reach.

Does not cover: memory, CPUs, processes, disk and network, which are not limited; a child that starts a session of its
own, which outlives its parents.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from pipeline.sandbox.base import Completed, Limit, Limits, exit_code, stopped

NOT_FOUND = 127
#: seconds for which a look at a silent command waits
POLL = 0.1


def run(
    argv: Sequence[str], *, folder: Path, env: dict[str, str], limits: Limits, running: Running | None = None
) -> Completed:
    """Run a command without a shell and with nothing but `env`, within the limits on seconds and output.

    It is in `running` meanwhile. A command that cannot be started ends with 127. What it leaves running is killed.
    Raises InfrastructureError when `running` was ended: how the command came out says nothing then.
    """
    begun = time.monotonic()
    with contextlib.ExitStack() as stack:
        known = Running() if running is None else running
        try:
            process = stack.enter_context(started(argv, folder=folder, env=env, output=subprocess.PIPE, running=known))
        except OSError as error:
            return Completed(NOT_FOUND, str(error).encode(), 0)
        output = read_output(process, begun + limits.seconds, limits.output)
        limit = _limit(process, len(output) > limits.output, begun + limits.seconds)
    seconds = time.monotonic() - begun
    return Completed(exit_code(process.returncode), output[: limits.output], seconds, limit)


class Running(set[int]):
    """The commands that run now, for an end at once."""

    ended = False

    def end(self) -> None:
        """Kill them with all that they have started, and start no more."""
        self.ended = True
        for pid in tuple(self):
            _kill(pid)

    def check(self) -> None:
        """Raise InfrastructureError when all has been ended."""
        if self.ended:
            raise stopped()


@contextlib.contextmanager
def started(
    argv: Sequence[str], *, folder: Path, env: dict[str, str], output: IO[bytes] | int, running: Running
) -> Iterator[subprocess.Popen[bytes]]:
    """A command with nothing but `env`, whose whole session is killed at the end of the block.

    Raises OSError, and InfrastructureError when `running` was ended.
    """
    running.check()
    with subprocess.Popen(
        argv,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        running.add(process.pid)
        try:
            running.check()  # the end may have come before it was known
            yield process
        finally:
            running.discard(process.pid)
            _kill(process.pid)
    running.check()


def _kill(session: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


def read_output(process: subprocess.Popen[bytes], deadline: float, most: int) -> bytes:
    """Output until its end, the deadline, one byte above the limit, or the end of a command whose children hold on.

    Whether the command has ended is asked before each look: what it wrote until then, that look finds.
    """
    assert process.stdout
    kept, looking = bytearray(), select.poll()  # select() fails where a process holds a thousand files open
    looking.register(process.stdout, select.POLLIN)
    while len(kept) <= most and time.monotonic() < deadline:
        ended = process.poll() is not None
        ready = looking.poll(0 if ended else POLL * 1000)
        data = os.read(process.stdout.fileno(), min(2**16, most + 1 - len(kept))) if ready else None
        if data == b"" or (ended and not ready):
            break
        kept += data or b""
    return bytes(kept)


def _limit(process: subprocess.Popen[bytes], flooded: bool, deadline: float) -> Limit | None:
    """The limit that a command has reached; without one it has ended."""
    if flooded:
        return "output"
    try:
        process.wait(timeout=max(0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return "time"
    return None
