"""Answers that are cut short: noticed as soon as the client leaves, or at the latest when the application ends."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any

import pytest

from pipeline.llm.ends import Ends, Gone, when_cut, when_over, while_connected

PART = {"type": "http.response.body", "body": b"data: {}\n\n", "more_body": True}
DONE = {"type": "http.response.body", "body": b"data: [DONE]\n\n", "more_body": True}
END = {"type": "http.response.body", "body": b""}


def cuts(*messages: dict[str, Any], leaves: bool = False) -> int:
    """How often an answer of these messages counts as cut short, if its client then `leaves`."""
    acts: list[None] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.create_task(noted())
        for message in messages:
            await send(message)
        if leaves:
            await receive()
            await send(END)

    async def noted() -> None:
        when_cut(lambda: acts.append(None))

    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    asyncio.run(Ends(app)({"type": "http"}, receive, send))
    return len(acts)


@pytest.mark.trap("usage-missing-is-free")
@pytest.mark.parametrize(
    ("messages", "leaves", "count"),
    [
        ((), False, 1),
        ((PART,), False, 1),
        ((PART,), True, 1),
        ((PART, DONE), True, 0),
        ((PART, DONE), False, 0),
        ((PART, END), False, 0),
        ((PART, END), True, 0),
    ],
)
def test_an_answer_is_cut_unless_its_end_was_sent(
    messages: tuple[dict[str, Any], ...], leaves: bool, count: int
) -> None:
    """A task that the application started belongs to the same request."""
    assert cuts(*messages, leaves=leaves) == count


@pytest.mark.parametrize("fails", [False, True])
def test_a_request_ends_exactly_once(fails: bool) -> None:
    acts: list[None] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        when_over(lambda: acts.append(None))
        await send(END)
        assert not acts
        if fails:
            raise RuntimeError

    async def send(message: Any) -> None:
        pass

    with pytest.raises(RuntimeError) if fails else nullcontext():
        asyncio.run(Ends(app)({"type": "http"}, send, send))
    assert len(acts) == 1


@pytest.mark.parametrize(("seconds", "expected"), [(0, "money"), (60, "gone")])
def test_waiting_ends_when_the_client_disconnects(seconds: float, expected: str) -> None:
    """Nobody waits for it any more: it gives up its place, and nothing is sent."""
    found: list[str] = []
    ended: list[None] = []

    async def money() -> str:
        try:
            await asyncio.sleep(seconds)
            return "money"
        finally:
            ended.append(None)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        try:
            found.append(await while_connected(money()))
        except Gone:
            found.append("gone")
        await send(END)

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.05)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pass

    asyncio.run(Ends(app)({"type": "http"}, receive, send))
    assert (found, len(ended)) == ([expected], 1)
