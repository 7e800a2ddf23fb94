"""How much of the machine other programs use while a page is tested: evidence that no page can produce.

Reads /proc (Linux; elsewhere nothing is known) and writes nothing. Counts the processor time of all processes, those
that have ended included, except for the page's engine with all that it started, and for the kernel's own threads: a
page can make these swap. For the same reason, the kernel's measures of pressure do not count: a page with many threads
raises them. Does not cover the limits of a container, programs outside of it, and what a hypervisor withholds.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
#: the processors that a page needs: the good examples of our own cases pass with half of one
NEEDED = 0.5
#: seconds over which the use is measured while nothing is tested, and over which it can be measured at all
SAMPLE, SHORTEST = 2.0, 0.1
#: the share by which a measurement may be wrong
TOLERANCE = 0.1
#: of a process's flags: it is a thread of the kernel
_KERNEL = 0x00200000
#: states of a process that has ended
_ENDED = "ZX"
#: the fields of /proc/PID/stat after the name: state, parent, flags, and times (its own and of the children that it
#: waited for, in user and kernel mode)
_STATE, _PARENT, _FLAGS, _TIMES = 0, 1, 6, slice(11, 15)


class Others:
    """Measures how many processors all processes that are not below `root` used during a block, on average; None if
    nothing is known. If `root` is 0, all processes count."""

    used: float | None = None

    def __init__(self, root: int = 0) -> None:
        self._root = root

    def __enter__(self) -> Others:
        self._since, self._before = time.monotonic(), _used(self._root)
        return self

    def __exit__(self, *_: object) -> None:
        after, seconds = _used(self._root), time.monotonic() - self._since
        if self._before is not None and after is not None:
            self.used = (after - self._before) / max(seconds, SHORTEST)

    @property
    def busy(self) -> str:
        """What they used, in words, if it left too little for a page. More than there is comes from a program that
        ended while its time was read, and says nothing."""
        there = os.cpu_count() or 1
        if self.used is None or not there - NEEDED < self.used < there * (1 + TOLERANCE):
            return ""
        used = min(self.used, there)
        return f"other programs used {used:.1f} of {there} processors while the page was tested"


def wait_for_quiet(seconds: float) -> None:
    """Wait, at most for this time, until other programs leave enough for a page."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with Others() as others:
            time.sleep(SAMPLE)
        if not others.busy:
            return


class _Process(NamedTuple):
    state: str
    parent: int
    flags: int
    ticks: int


def _used(root: int) -> float | None:
    """The seconds that all processes not below `root` have used so far. None if there is no /proc, or if `root` has
    ended: then its descendants are no longer below it."""
    known = _processes()
    if not known or (root and (root not in known or known[root].state in _ENDED)):
        return None
    counted = [one for process, one in known.items() if not (one.flags & _KERNEL or _is_below(process, root, known))]
    return sum(one.ticks for one in counted) / os.sysconf("SC_CLK_TCK")


def _is_below(process: int, root: int, known: dict[int, _Process]) -> bool:
    while process != root and process in known:
        process = known[process].parent
    return bool(root) and process == root


def _processes() -> dict[int, _Process]:
    found = {}
    for path in PROC.glob("[0-9]*/stat"):
        with suppress(OSError):  # it ended
            fields = path.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            ticks = sum(map(int, fields[_TIMES]))
            found[int(path.parent.name)] = _Process(fields[_STATE], int(fields[_PARENT]), int(fields[_FLAGS]), ticks)
    return found
