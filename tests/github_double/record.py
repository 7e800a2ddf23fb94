"""A double's record of its requests. Of a token, only the start of its digest is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from time import perf_counter
from typing import Any


@dataclass
class Request:
    """One request and its end; `seconds` from its arrival to its answer, `status` 0 if there was none."""

    path: str
    token: str
    operation: str | None = None
    query: str = ""
    variables: dict[str, Any] = field(default_factory=dict)
    status: int = 0
    cost: int = 0
    fault: str = ""
    seconds: float = 0.0


class Record:
    """All requests since the start."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.peak = 0
        self._open = 0

    @contextmanager
    def request(self, path: str, token: str) -> Iterator[Request]:
        """Record a request from its arrival on, counting simultaneous ones."""
        made = Request(path, token)
        self.requests.append(made)
        self._open += 1
        self.peak = max(self.peak, self._open)
        begun = perf_counter()
        try:
            yield made
        finally:
            made.seconds = perf_counter() - begun
            self._open -= 1

    @property
    def points(self) -> int:
        return sum(request.cost for request in self.requests)

    @property
    def tokens(self) -> dict[str, int]:
        """Points by token digest, in the order of their first request."""
        spent: Counter[str] = Counter()
        for request in self.requests:
            spent[request.token] += request.cost
        return dict(spent)

    def summary(self) -> dict[str, Any]:
        """Everything as plain data."""
        requests = [asdict(request) for request in self.requests]
        return {"points": self.points, "peak": self.peak, "tokens": self.tokens, "requests": requests}


def token_digest(token: str) -> str:
    """The name of a token in the record."""
    return sha256(token.encode()).hexdigest()[:12]
