"""Requests that spawned processes can import, for tests of where work runs."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.work import Event, Tell

log = logging.getLogger("pipeline.requests")


@dataclass(frozen=True)
class Square:
    """Squares a number, and tells of it; what is in `ways` goes wrong on purpose."""

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
        log.debug("%s in %d", self.name, os.getpid())
        tell(Event(self.name, "ready now", "ready", os.getpid()))
        return self.number**2

    def failed(self, error: Exception) -> str:
        return f"{type(error).__name__}: {error}"
