"""Waiting for money: how long, what ends it, and what the ledger says afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest
from reserving import reserved

from pipeline.llm.ledger import OPEN, Booking, Key, Ledger, Unaffordable
from pipeline.llm.money import PATIENCE, Busy, patience, reserve

ONE = Decimal(1)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A key `b` of an experiment with a budget of 1 USD, and a key `c` of an answer with such a cap."""
    with closing(Ledger(tmp_path / "ledger.sqlite")) as ledger:
        ledger.issue("b", Key("b", "e", "o/r", "m", "agent", "", "i", ONE))
        ledger.issue("c", Key("c", "f", "o/r", "m", "agent", "", "i", answer="a", cap_usd=ONE))
        yield ledger


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, PATIENCE),
        ({"x-stainless-read-timeout": "600.0"}, 300),
        ({"x-stainless-read-timeout": "20"}, 10),
        ({"x-stainless-timeout": "20"}, 10),
        ({"x-stainless-read-timeout": "NOT_GIVEN", "x-stainless-timeout": "20"}, 10),
        ({"x-stainless-read-timeout": "99999"}, PATIENCE),
        ({"x-stainless-timeout": "-1"}, PATIENCE),
        ({"x-stainless-timeout": "nan"}, PATIENCE),
        ({"x-stainless-timeout": "inf"}, PATIENCE),
    ],
)
def test_a_request_waits_less_long_than_its_client(headers: dict[str, str], seconds: float) -> None:
    assert patience(headers) == seconds


@pytest.mark.rule("budget")
@pytest.mark.parametrize(("key", "status"), [("b", "budget_busy"), ("c", "cap_busy")])
def test_a_request_that_waits_in_vain_is_reported_and_may_be_retried(ledger: Ledger, key: str, status: str) -> None:
    under_way, row = reserved(ledger, key, ONE), ledger.open(key, "m", "llm")
    with pytest.raises(Busy, match="ask again"):
        asyncio.run(reserve(ledger, row, ONE, 0.01))
    assert [request.status for request in ledger.rows()] == [OPEN, status]
    assert (ledger.refusal(key), ledger.committed("e")) == ("", 0)
    ledger.book(under_way, Booking("ok"))
    asyncio.run(reserve(ledger, again := ledger.open(key, "m", "llm"), ONE, 0.01))
    assert ledger.reserve(again, ONE), "a second try has reserved already"


@pytest.mark.rule("budget")
def test_a_request_that_never_fits_is_refused_at_once(ledger: Ledger) -> None:
    reserved(ledger, "b", ONE)
    with pytest.raises(Unaffordable):
        asyncio.run(reserve(ledger, ledger.open("b", "m", "llm"), 2 * ONE, 60))
    assert [request.status for request in ledger.rows()] == [OPEN]


def test_a_request_that_is_cancelled_while_waiting_reserves_nothing(ledger: Ledger) -> None:
    under_way, row = reserved(ledger, "b", ONE), ledger.open("b", "m", "llm")

    async def cancelled() -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(reserve(ledger, row, ONE, 60), 0.01)

    asyncio.run(cancelled())
    ledger.withdraw(row)
    ledger.withdraw(under_way)
    assert [request.id for request in ledger.rows()] == [under_way], "what has reserved money may have been sent"
    with pytest.raises(LookupError):
        ledger.reserve(row, ONE)


@pytest.mark.rule("response-cache")
def test_a_replay_that_is_interrupted_costs_nothing(ledger: Ledger) -> None:
    """Nothing was sent, so no cost is unknown."""
    ledger.open("b", "m", "llm")
    ledger.lose("e")
    assert ([request.unknown for request in ledger.rows()], ledger.committed("e")) == ([0], 0)
