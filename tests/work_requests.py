"""Requests that spawned processes can import, for tests of where work runs."""

from __future__ import annotations

import logging
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.cache import cache_root
from pipeline.core.errors import InfrastructureError
from pipeline.core.work import Event, Tell

log = logging.getLogger("pipeline.requests")


@dataclass(frozen=True)
class Square:
    """Squares a number and reports it; `ways` is what goes wrong on purpose, or the cause of a failure of the
    machine."""

    number: int
    affinity: str = ""
    ways: str = ""
    folder: str = ""

    @property
    def name(self) -> str:
        return f"square of {self.number}"

    def perform(self, tell: Tell) -> int:
        if self.ways == "dies":
            os._exit(7)
        if self.ways == "raises":
            raise ValueError("no number")
        if self.ways == "hangs":
            Path(self.folder, f"{self.number}.begun").touch()
            time.sleep(600)
        if self.ways:
            raise InfrastructureError("the machine failed", cause=self.ways)
        log.debug("%s in %d", self.name, os.getpid())
        tell(Event(self.name, "ready now", "ready", os.getpid()))
        return self.number**2

    def failed(self, error: Exception) -> str:
        return f"{type(error).__name__}: {error}"


@dataclass(frozen=True)
class Slow:
    """Takes some seconds, and records each start in a folder. With `kills`, it kills its process and the worker; with
    `meets`, it waits until that many have started. Its result is its number, or that many bytes."""

    number: int
    folder: str
    seconds: float = 0.0
    kills: bool = False
    meets: int = 0
    size: int = 0
    affinity: str = ""

    @property
    def name(self) -> str:
        return f"slow {self.number}"

    def perform(self, tell: Tell) -> int | bytes:
        begun = Path(self.folder, f"{self.number}.{time.time_ns()}")
        begun.write_text(str(os.getppid()))
        tell(Event(self.name, "begun", data=os.getppid()))
        if self.kills:
            os.kill(os.getppid(), signal.SIGKILL)
            os._exit(9)
        tell(Event(self.name, kind="ready"))
        time.sleep(self.seconds)
        until = time.monotonic() + 60
        while len(list(Path(self.folder).iterdir())) < self.meets:
            assert time.monotonic() < until
            time.sleep(0.1)
        return b"x" * self.size if self.size else self.number

    def failed(self, error: Exception) -> str:
        return f"{getattr(error, 'cause', '')} {error}"


@dataclass(frozen=True)
class Keep:
    """Writes that many bytes into its machine's cache folder and leaves them there; returns its number."""

    number: int
    size: int
    affinity: str = ""

    @property
    def name(self) -> str:
        return f"keep {self.number}"

    def perform(self, tell: Tell) -> int:
        cache_root().mkdir(parents=True, exist_ok=True)
        (cache_root() / f"kept{self.number}").write_bytes(b"x" * self.size)
        tell(Event(self.name, str(cache_root()), "ready"))
        return self.number

    def failed(self, error: Exception) -> str:
        return f"{getattr(error, 'cause', type(error).__name__)}: {error}"


@dataclass(frozen=True)
class Read:
    """Reads a file of a commit, and the number of commits before it."""

    clone: str
    commit: str
    path: str
    affinity: str = ""

    @property
    def name(self) -> str:
        return self.path

    def perform(self, tell: Tell) -> tuple[str, str, str]:
        from pipeline.core.git import open_clone

        clone = open_clone(Path(self.clone))
        return clone.git.show(f"{self.commit}:{self.path}"), clone.git.rev_list("--count", self.commit), self.clone

    def failed(self, error: Exception) -> str:
        return f"{type(error).__name__}: {error}"


@dataclass(frozen=True)
class Reads:
    """A request that refers to a clone through another request, as evidence refers to its runs."""

    read: Read

    @property
    def name(self) -> str:
        return self.read.name

    @property
    def affinity(self) -> str:
        return ""

    @property
    def clone(self) -> str:
        return self.read.clone

    def perform(self, tell: Tell) -> tuple[str, str, str]:
        return self.read.perform(tell)

    def failed(self, error: Exception) -> str:
        return self.read.failed(error)


@dataclass(frozen=True)
class Sandboxed:
    """Opens the local sandbox of its machine; returns its number."""

    number: int
    cache: str
    affinity: str = ""

    @property
    def name(self) -> str:
        return f"sandboxed {self.number}"

    def perform(self, tell: Tell) -> int:
        from pipeline.sandbox.handle import Handle

        Handle("local", self.cache).sandbox()
        return self.number

    def failed(self, error: Exception) -> str:
        return f"{getattr(error, 'cause', type(error).__name__)}: {error}"


@dataclass(frozen=True)
class Call:
    """Stands for a request that asks the model gateway at `base_url`."""

    base_url: str
    affinity: str = ""

    @property
    def name(self) -> str:
        return "call"

    def perform(self, tell: Tell) -> str:
        return "asked"

    def failed(self, error: Exception) -> str:
        return f"{getattr(error, 'cause', '')} {error}"
