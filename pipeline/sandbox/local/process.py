"""Commands on the host, each in a session of its own, which ends with it and which Ctrl-C in a terminal does not reach.

Not covered: memory, CPUs, processes, disk and network, which are not limited; a child that starts its own session and
outlives its parents.
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
#: seconds that one poll of a silent command waits
POLL = 0.1


def run(
    argv: Sequence[str], *, folder: Path, env: dict[str, str], limits: Limits, running: Running | None = None
) -> Completed:
    """Run a command without a shell and with no other variables than `env`, within the limits on seconds and output.

    It is in `running` while it runs. A command that cannot be started ends with 127. Processes that it leaves are
    killed. Raises InfrastructureError if `running` was ended, since the command's result then means nothing.
    """
    started_at = time.monotonic()
    with contextlib.ExitStack() as stack:
        commands = Running() if running is None else running
        try:
            session = started(argv, folder=folder, env=env, output=subprocess.PIPE, running=commands)
            process = stack.enter_context(session)
        except OSError as error:
            return Completed(NOT_FOUND, str(error).encode(), 0)
        output = read_output(process, started_at + limits.seconds, limits.output)
        limit = _limit(process, len(output) > limits.output, started_at + limits.seconds)
    seconds = time.monotonic() - started_at
    return Completed(exit_code(process.returncode), output[: limits.output], seconds, limit)


class Running(set[int]):
    """The commands that are running, so that all can be ended at once."""

    ended = False

    def end(self) -> None:
        """Kill them and everything that they started, and start no more."""
        self.ended = True
        for pid in tuple(self):
            _kill(pid)

    def check(self) -> None:
        """Raise InfrastructureError after `end`."""
        if self.ended:
            raise stopped()


@contextlib.contextmanager
def started(
    argv: Sequence[str], *, folder: Path, env: dict[str, str], output: IO[bytes] | int, running: Running
) -> Iterator[subprocess.Popen[bytes]]:
    """A command with no other variables than `env`, whose whole session is killed at the end of the block.

    Raises OSError, and InfrastructureError if `running` was ended.
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
            running.check()  # `end` may have been called before the command was added
            yield process
        finally:
            running.discard(process.pid)
            _kill(process.pid)
    running.check()


def _kill(session: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(session, signal.SIGKILL)


def read_output(process: subprocess.Popen[bytes], deadline: float, limit: int) -> bytes:
    """Read output until its end, the deadline, one byte above the limit, or the end of the command, even if children of
    it keep the pipe open.

    Each round first checks whether the command has ended, so the poll that follows finds everything it wrote.
    """
    assert process.stdout
    data, poller = bytearray(), select.poll()  # select() fails where a process holds a thousand files open
    poller.register(process.stdout, select.POLLIN)
    while len(data) <= limit and time.monotonic() < deadline:
        ended = process.poll() is not None
        ready = poller.poll(0 if ended else POLL * 1000)
        chunk = os.read(process.stdout.fileno(), min(2**16, limit + 1 - len(data))) if ready else None
        if chunk == b"" or (ended and not ready):
            break
        data += chunk or b""
    return bytes(data)


def _limit(process: subprocess.Popen[bytes], flooded: bool, deadline: float) -> Limit | None:
    """The limit that a command has reached; None if it has ended without one."""
    if flooded:
        return "output"
    try:
        process.wait(timeout=max(0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        return "time"
    return None
