"""A request as the gateway opens it: it reserves its possible cost, or leaves no trace."""

from __future__ import annotations

from decimal import Decimal

from pipeline.llm.ledger import Ledger, Unaffordable


def reserved(ledger: Ledger, hashed: str, worst: Decimal, *, waits: bool = False) -> str:
    """The id of a request that may be sent; empty if it has to wait."""
    request = ledger.open(hashed, "m", "llm")
    try:
        fits = ledger.reserve(request, worst, waits=waits)
    except Unaffordable:
        ledger.withdraw(request)
        raise
    if not fits:
        ledger.withdraw(request)
    return request if fits else ""
