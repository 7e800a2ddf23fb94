"""Runs a command. When it ends, or at SIGTERM, ends all processes that it started, detached ones included.

Reads /proc and writes nothing. Arguments: the command and its arguments; the command gets all open descriptors. Linux
only. Does not cover processes that end this one first.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

#: the option of prctl that makes a process the parent of its descendants whose own parents ended
SUBREAPER = 36
#: seconds for killed processes to end
ENDING = 5


def children(process: int) -> set[int]:
    """The children of a process; none if it has ended."""
    found: set[int] = set()
    for known in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # a thread ended
            found.update(map(int, known.read_text(encoding="ascii").split()))
    return found


def end_all() -> None:
    """Kill all descendants of this process, and those that they start meanwhile."""
    deadline = time.monotonic() + ENDING
    while (left := _descendants(os.getpid())) and time.monotonic() < deadline:
        for process in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


def _descendants(process: int) -> set[int]:
    own = children(process)
    return own.union(*map(_descendants, own))


def _stop(*_: object) -> None:
    raise SystemExit(1)


def main(command: list[str]) -> None:
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    signal.signal(signal.SIGTERM, _stop)
    try:
        started = os.posix_spawn(command[0], command, os.environ)
        os.closerange(3, 256)
        while os.waitpid(-1, 0)[0] != started:
            pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        end_all()


if __name__ == "__main__":
    main(sys.argv[1:])
