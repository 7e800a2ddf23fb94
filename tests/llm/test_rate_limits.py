"""Queues for a provider: limits for requests at once, and for requests and tokens per minute; minutes are short
here."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from pipeline.llm.rate_limits import Turns, paced, requested

MINUTE = 0.3


def seconds(limits: dict[str, int], *requests: dict[str, Any]) -> list[float]:
    """When each request reached the application, counted from the first; all were sent at once."""
    begun: list[float] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        assert json.loads((await receive())["body"])["model"] == "m"
        begun.append(time.monotonic())

    async def all_at_once() -> None:
        turns = Turns(app, {"m": "key"}, {"key": limits}, MINUTE)
        await asyncio.gather(*(turns({"type": "http", "method": "POST"}, sends(request), None) for request in requests))

    asyncio.run(all_at_once())
    return [moment - begun[0] for moment in begun]


def sends(request: dict[str, Any]) -> Any:
    body = json.dumps({"model": "m", **request}).encode()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive


@pytest.mark.rule("provider-limit")
@pytest.mark.parametrize(
    ("limits", "request_", "waves"),
    [
        ({}, {}, [0, 0, 0, 0]),
        ({"rpm": 2}, {}, [0, 0, 1, 1]),
        ({"rpm": 1}, {}, [0, 1, 2, 3]),
        ({"tpm": 250}, {"max_tokens": 100}, [0, 0, 1, 1]),
        ({"tpm": 50}, {"max_tokens": 100}, [0, 1, 2, 3]),
        ({"rpm": 3, "tpm": 10_000, "max_parallel_requests": 1}, {}, [0, 0, 0, 1]),
    ],
)
def test_requests_beyond_the_limit_per_minute_wait(limits: dict[str, int], request_: Any, waves: list[int]) -> None:
    """No request is refused, and none overtakes another; one with more than a minute's tokens is sent alone."""
    found = seconds(limits, *[request_] * len(waves))
    assert [int((moment + 0.02) / MINUTE) for moment in found] == waves


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"no JSON", ("", 0)),
        (b"[]", ("", 0)),
        (b'{"model": "m"}', ("m", 3)),
        (b'{"model": "m", "max_tokens": 10}', ("m", 18)),
        (b'{"model": "m", "max_tokens": "10"}', ("m", 8)),
        (b'{"model": "m", "max_tokens": 10, "n": 4}', ("m", 50)),
        (b'{"model": "m", "max_tokens": 10, "n": -4}', ("m", 20)),
        (b'{"model": "m", "max_tokens": -10, "n": 4}', ("m", 10)),
        (b'{"model": "m", "max_tokens": 10, "max_completion_tokens": 20}', ("m", 35)),
        (b"[" * 5000, ("", 0)),
        (b"3", ("", 0)),
    ],
)
def test_tokens_of_a_request_are_estimated(body: bytes, expected: tuple[str, int]) -> None:
    """Never a negative number, which would make room for others: agents write these values."""
    assert requested(body) == expected


def test_a_queued_request_of_a_disconnected_client_is_not_sent() -> None:
    """Its client asks again after a time-out: both requests were sent and paid for."""
    sent: list[str] = []

    async def three() -> None:
        done, left = asyncio.Event(), asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            sent.append(scope["name"])
            await done.wait()

        def receives(leaves: bool) -> Any:
            messages = [{"type": "http.request", "body": b'{"model": "m"}', "more_body": False}]

            async def receive() -> dict[str, Any]:
                if messages:
                    return messages.pop()
                await (left if leaves else asyncio.Event()).wait()
                return {"type": "http.disconnect"}

            return receive

        turns = Turns(app, {"m": "key"}, {"key": {"max_parallel_requests": 1}}, MINUTE)
        scopes = [{"type": "http", "method": "POST", "name": name} for name in ("first", "second", "third")]
        tasks = [asyncio.create_task(turns(one, receives(one["name"] == "second"), None)) for one in scopes]
        await asyncio.sleep(0.01)
        left.set()
        await tasks[1]
        done.set()
        await asyncio.gather(*tasks)

    asyncio.run(asyncio.wait_for(three(), 5))
    assert sent == ["first", "third"]


def test_every_picture_counts_the_same_whatever_its_size() -> None:
    """A screenshot as base64 text has more tokens than a minute allows: such requests were sent alone, one per
    minute."""

    def taken(kind: str, size: int) -> int:
        content = [{"type": kind, kind: {"url": "data:image/png;base64," + "A" * size}}]
        return requested(json.dumps({"model": "m", "messages": [{"role": "user", "content": content}]}).encode())[1]

    assert taken("image_url", 10) == taken("image_url", 10**6) < 3000
    assert taken("text", 10**6) > 200_000, "a text is no picture"


def entry(name: str, **parameters: object) -> dict[str, Any]:
    return {"model_name": name, "litellm_params": {"model": f"openai/{name}", **parameters}}


@pytest.mark.rule("provider-limit")
def test_models_of_one_provider_share_a_queue_with_the_lowest_limits() -> None:
    """The proxy with a database has its model list in LiteLLM's form only; free servers are told apart by address."""
    entries = [
        entry("a", api_key="k", rpm=5),
        entry("b", api_key="k", rpm=1, tpm=None),
        entry("c", api_key="none", api_base="http://c", rpm=1),
        entry("d", api_key="none", api_base="http://d"),
    ]
    lanes = paced(entries, MINUTE)
    assert lanes["a"] is lanes["b"] and len({id(lane) for lane in lanes.values()}) == 3

    async def waited(*models: str) -> bool:
        begun = time.monotonic()
        for model in models:
            async with lanes[model].turn(0):
                pass
        return time.monotonic() - begun >= MINUTE

    assert asyncio.run(waited("a", "b"))
    assert not asyncio.run(waited("c", "d", "d"))
