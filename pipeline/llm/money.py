"""Reserving money for a request, or waiting for money, but not as long as the client waits for its answer.

A request that fits a limit only if others under way cost less than they may waits for these. It then gets its money, is
refused, or is told that the gateway is busy: its client then asks again, after others have had their turn. Also runs
inside the proxy's environment: standard library only.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from decimal import Decimal

from pipeline.llm.ledger import BUDGET_BUSY, BUDGET_EXCEEDED, CAP_BUSY, Booking, Ledger, Unaffordable

#: the maximum seconds that a request waits if its client does not say how long it waits, and the seconds between two
#: tries to reserve
PATIENCE, PAUSE = 300.0, 0.2
#: the headers in which OpenAI's clients say how many seconds they wait
TOLD = ("x-stainless-read-timeout", "x-stainless-timeout")
#: the share of a client's time that may pass before its request is sent
SHARE = 0.5


#: the status of a request whose client has gone; LiteLLM does not retry requests with this status
LEFT = 499


class Busy(Exception):
    """A request that waited, did not get its money, and may fit later: its client, not LiteLLM, sends it again."""

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
    """Let an open request reserve `worst`, in USD, within some seconds. If this is cancelled, nothing is reserved.

    Raises Unaffordable, after which the ledger has no row of the request; Busy, which is recorded in its row;
    LookupError if the request is not open any more.
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
