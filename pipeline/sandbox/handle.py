"""A sandbox as plain data, for requests that cross a process border: its name and the folder of its cache.

Each process opens a sandbox once. Does not cover workers on other machines, whose cache folder is their own.
"""

from __future__ import annotations

import threading
from multiprocessing import parent_process
from multiprocessing.util import Finalize
from pathlib import Path
from typing import NamedTuple
from weakref import WeakValueDictionary

from pipeline.sandbox import open_sandbox
from pipeline.sandbox.base import Sandbox


class Handle(NamedTuple):
    """`cache` is the folder in which the sandbox keeps what it fetches and makes."""

    name: str
    cache: str

    def sandbox(self) -> Sandbox:
        """The sandbox, opened when this process first asks. Raises as `open_sandbox` does."""
        with _opening:
            if sandbox := _known.get(self):
                return sandbox
            if self not in _opened:
                _opened[self] = open_sandbox(self.name, Path(self.cache))
                if parent_process():  # a worker's process leaves nothing running when it is told to end
                    Finalize(None, _opened[self].abort, exitpriority=1)
            return _opened[self]


#: what somebody else holds open in this process, and what a handle opened here
_known: WeakValueDictionary[Handle, Sandbox] = WeakValueDictionary()
_opened: dict[Handle, Sandbox] = {}
_opening = threading.Lock()


def handle(sandbox: Sandbox) -> Handle:
    """The handle of a sandbox that is open here, by which this process finds it again."""
    known = Handle(sandbox.name, str(getattr(sandbox, "cache", id(sandbox))))
    _known[known] = sandbox
    return known
