"""The disk space that a build may use: when it is reached, unused layers are removed, the least useful first.

Layers and caches of instances go first, then environments, then tools, and the oldest first within each kind. Removed
layers are made again from the clone when needed (`execution.images`), so only time is lost. Does not cover the space
that a single environment needs while it is made.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterable

from pipeline.build import layers
from pipeline.core.console import say
from pipeline.core.sizes import show_size
from pipeline.sandbox.base import Sandbox
from pipeline.sandbox.images import Kept

log = logging.getLogger(__name__)


class Budget:
    """At most `limit` bytes, but no more than fit on the engine's disk; by default what is in use now plus half of what
    is `free`. Thread-safe.

    Layers that are held for a unit stay. A measurement is reused for `fresh` seconds: engines need a second or more.
    """

    def __init__(self, sandbox: Sandbox, limit: int | None, free: int, fresh: float = 60) -> None:
        self.sandbox, self.limit, self.free, self.fresh = sandbox, limit, free, fresh
        self.used = 0
        self._held: dict[str, set[str]] = {}
        self._lock, self._measured = threading.Lock(), -math.inf
        self._most: int | None = None

    def hold(self, unit: str, *digests: str) -> None:
        """Keep these layers until the unit is done."""
        with self._lock:
            self._held[unit] = set(digests)

    def add(self, units: Iterable[str], digest: str) -> None:
        """Also keep this layer for those of the units that are not done."""
        with self._lock:
            for unit in self._held.keys() & units:
                self._held[unit].add(digest)

    def release(self, unit: str) -> None:
        """Let go of the layers of a unit that is done."""
        with self._lock:
            self._held.pop(unit, None)

    def keep(self) -> str:
        """Remove layers until the limit is met or nothing more can go; returns the use and the limit as text."""
        with self._lock:
            if time.monotonic() - self._measured > self.fresh:
                self._measure()
                self._measured = time.monotonic()
            return f"{show_size(self.used)} of {show_size(self.limit or 0)}"

    def _measure(self) -> None:
        kept = self.sandbox.images.kept()
        self.used = sum(layer.size for layer in kept)
        limit = self.limit = self._within_disk()
        if self.used > limit:
            self._remove(kept, limit)

    def _within_disk(self) -> int:
        """The limit, by what was free at the beginning. A tenth of that stays free for what tests write."""
        if self._most is None:
            self._most = self.used + self.free * 9 // 10
        if self.limit is None:
            return self.used + self.free // 2
        if self.limit > self._most:
            say(f"the engine's disk has no room for more: the limit of the layers is {show_size(self._most)}")
        return min(self.limit, self._most)

    def _remove(self, kept: list[Kept], limit: int) -> None:
        held = set().union(*self._held.values())
        staying = set(layers.standing(kept, lambda layer: layer.busy or layer.digest in held))
        for layer in layers.least_useful(kept, staying):
            if self.used <= limit:
                return
            if layer.name not in staying and self.sandbox.images.remove(layer):
                self.used -= layer.size
                log.info("removed %s (%s), to keep within %s", layer.name, show_size(layer.size), show_size(limit))
            else:
                staying.add(layer.on)
        log.warning("%s are used and nothing more can be removed: everything else is in use", show_size(self.used))
