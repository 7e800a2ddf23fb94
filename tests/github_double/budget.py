"""A token's points: how many are left, and when they are restored (GitHub's primary limit)."""

from __future__ import annotations

import math
import time
from datetime import UTC, datetime


class Budget:
    """`limit` points in each `window` seconds; the reset is a whole second, as GitHub's is."""

    def __init__(self, limit: int, window: float) -> None:
        self.limit, self.window = limit, window
        self.remaining = limit
        self.reset = math.ceil(time.time() + window)

    def refill(self) -> None:
        """Restore all points when it is time."""
        if time.time() >= self.reset:
            self.remaining = self.limit
            self.reset = math.ceil(time.time() + self.window)

    def exhaust(self, reset_in: float) -> None:
        """Leave nothing until the first whole second after `reset_in` seconds."""
        self.remaining, self.reset = 0, math.ceil(time.time() + reset_in)

    def spend(self, points: int) -> bool:
        """Take the points, or none if fewer are left."""
        self.refill()
        if points > self.remaining:
            return False
        self.remaining -= points
        return True

    @property
    def reset_at(self) -> str:
        return datetime.fromtimestamp(self.reset, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def headers(self, resource: str) -> dict[str, str]:
        """GitHub's headers of every answer."""
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.remaining),
            "x-ratelimit-used": str(self.limit - self.remaining),
            "x-ratelimit-reset": str(self.reset),
            "x-ratelimit-resource": resource,
        }

    def summary(self) -> dict[str, int]:
        """In the form of `GET /rate_limit`."""
        self.refill()
        used = self.limit - self.remaining
        return {"limit": self.limit, "used": used, "remaining": self.remaining, "reset": self.reset}
