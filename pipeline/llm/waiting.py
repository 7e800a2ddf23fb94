"""How long requests took: an agent can send several at once, and waits only once for these. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pipeline.core.errors import UserError
from pipeline.llm.ledger import Request


def under_way(requests: Iterable[Request]) -> float:
    """The seconds in which at least one of the requests was under way. Raises UserError for a time that is none."""
    seconds = until = 0.0
    for begin, end in sorted(map(_span, requests)):
        seconds += max(0.0, end - max(begin, until))
        until = max(until, end)
    return round(seconds, 3)


def _span(request: Request) -> tuple[float, float]:
    try:
        begin = datetime.fromisoformat(request.time).timestamp()
    except ValueError:
        hint = "restore a copy of the ledger"
        raise UserError(f"'{request.time}' is not a time", field=f"request {request.id}", hint=hint) from None
    return begin, begin + request.latency_ms / 1000
