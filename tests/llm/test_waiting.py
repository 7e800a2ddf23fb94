"""How long several requests took together."""

from __future__ import annotations

import pytest

from pipeline.core.errors import UserError
from pipeline.llm.ledger import Request
from pipeline.llm.waiting import under_way


def sent(second: float, seconds: float, time: str = "") -> Request:
    """A request that was sent at a second of a minute, and took some seconds."""
    time = time or f"2026-01-02T03:04:{second:06.3f}+00:00"
    fields = dict.fromkeys(Request._fields, "") | {"id": "r", "time": time, "latency_ms": round(1000 * seconds)}
    return Request(**fields)


@pytest.mark.parametrize(
    ("spans", "seconds"),
    [
        ([], 0),
        ([(1, 2)], 2),
        ([(1, 2), (1, 2), (1, 1)], 2),
        ([(1, 2), (2, 2)], 3),
        ([(10, 2), (1, 2)], 4),
        ([(1, 9), (2, 1), (5, 1)], 9),
    ],
)
def test_what_is_under_way_at_once_counts_once(spans: list[tuple[float, float]], seconds: float) -> None:
    assert under_way(sent(*span) for span in spans) == seconds


@pytest.mark.rule("bad-input")
def test_a_time_that_is_none_is_refused() -> None:
    with pytest.raises(UserError, match="'yesterday' is not a time"):
        under_way([sent(0, 0, "yesterday")])
