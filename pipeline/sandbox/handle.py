"""A sandbox as plain data, for requests that are sent to other processes: its name and the folder of its cache.

Each process opens a sandbox once. Does not cover workers on other machines, which have their own cache folder.
"""

from __future__ import annotations

import socket
import threading
from multiprocessing import parent_process
from multiprocessing.util import Finalize
from pathlib import Path
from typing import NamedTuple
from weakref import WeakValueDictionary

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.sandbox import open_sandbox
from pipeline.sandbox.base import Sandbox

#: the cause of a unit that failed since the sandbox cannot work on its worker's machine (core/work.py)
UNFIT = "sandbox"


class Handle(NamedTuple):
    """The name of a sandbox, and the folder in which it keeps what it fetches and makes."""

    name: str
    cache: str

    def sandbox(self) -> Sandbox:
        """The sandbox, opened once per process. Raises as `open_sandbox` does; in a worker's process
        InfrastructureError, since the sandbox may work on another machine."""
        with _opening:
            if sandbox := _registered.get(self):
                return sandbox
            if self not in _opened:
                _opened[self] = self._in_worker() if parent_process() else self._open()
            return _opened[self]

    def _open(self) -> Sandbox:
        return open_sandbox(self.name, Path(self.cache))

    def _in_worker(self) -> Sandbox:
        try:
            sandbox = self._open()
        except UserError as error:
            hint = f"; {error.hint}" if error.hint else ""
            raise InfrastructureError(f"on {socket.gethostname()}: {error.message}{hint}", cause=UNFIT) from error
        Finalize(None, sandbox.abort, exitpriority=1)  # a worker's process must leave nothing running at its end
        return sandbox


#: sandboxes that other code has open in this process, and those that a handle opened
_registered: WeakValueDictionary[Handle, Sandbox] = WeakValueDictionary()
_opened: dict[Handle, Sandbox] = {}
_opening = threading.Lock()


def handle(sandbox: Sandbox) -> Handle:
    """The handle of an open sandbox. In this process, it leads to the same sandbox."""
    key = Handle(sandbox.name, str(getattr(sandbox, "cache", id(sandbox))))
    _registered[key] = sandbox
    return key
