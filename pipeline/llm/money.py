"""Reserving money for a request, or waiting for it, for less time than the client waits for its answer.

A request that fits a limit only if others under way cost less than they may waits for these. It ends with the money,
with a refusal, or busy: then its client asks again, and others had their turn. Also runs inside the proxy's
environment: standard library only.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from decimal import Decimal

from pipeline.llm.ledger import BUDGET_BUSY, BUDGET_EXCEEDED, CAP_BUSY, Booking, Ledger, Unaffordable

#: seconds that a request waits at most, if its client does not say how long it waits; and between two looks
PATIENCE, PAUSE = 300.0, 0.2
#: the headers in which OpenAI's clients say how many seconds they wait
TOLD = ("x-stainless-read-timeout", "x-stainless-timeout")
#: the part of a client's time that may pass before its request is sent
SHARE = 0.5


#: the status of a request that nobody waits for any more; LiteLLM does not try one with this status again
LEFT = 499


class Busy(Exception):
    """A request that waited in vain, and may fit later: its client, and not LiteLLM, tries it again."""

    status_code = LEFT


def patience(headers: Mapping[str, str]) -> float:
    """The seconds that a request with these headers may wait."""
    for name in TOLD:
        try:
            seconds = float(headers.get(name, ""))
        except ValueError:
            continue
        if seconds > 0:
            return min(PATIENCE, SHARE * seconds)
    return PATIENCE


async def reserve(ledger: Ledger, request: str, worst: Decimal, seconds: float) -> None:
    """Let an open request reserve `worst`, in USD, which may take so many seconds. Whoever is cancelled has reserved
    nothing.

    Raises Unaffordable, which leaves no row; Busy, which leaves one that says so; LookupError if the request is not
    open any more.
    """
    deadline = time.monotonic() + seconds
    try:
        while not ledger.reserve(request, worst, waits=time.monotonic() < deadline):
            await asyncio.sleep(PAUSE)
    except Unaffordable as error:
        if error.limit.left(at_best=True) < worst:
            ledger.withdraw(request)
            raise
        ledger.book(request, Booking(BUDGET_BUSY if error.limit.cause == BUDGET_EXCEEDED else CAP_BUSY))
        raise Busy(f"{error}: it waited for others that may use this up; ask again") from None
