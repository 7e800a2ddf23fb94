"""Requests to one provider wait for their turn, so that it is asked no more at once than it bears.

ASGI, around the embedded proxy: LiteLLM's own limit refuses what is too much at once instead of letting it wait. A
stream keeps its turn until it ends, a request that is tried again until it is answered. Also runs inside the proxy's
environment: standard library only.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class Turns:
    """`provider_of` names the provider behind each model, `limits` the most requests in flight to a provider."""

    def __init__(self, app: App, provider_of: Mapping[str, str], limits: Mapping[str, int]) -> None:
        self._app, self._provider_of = app, provider_of
        self._free = {provider: asyncio.Semaphore(limit) for provider, limit in limits.items()}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            return await self._app(scope, receive, send)
        body = await read_body(receive)
        async with self._turn(body):
            return await self._app(scope, replay(body, receive), send)

    def _turn(self, body: bytes) -> AbstractAsyncContextManager[Any]:
        return self._free.get(self._provider_of.get(_model(body), ""), nullcontext())


def _model(body: bytes) -> str:
    try:
        return str(json.loads(body)["model"])
    except (ValueError, KeyError, TypeError):
        return ""


async def read_body(receive: Receive) -> bytes:
    """All that a request sends."""
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


def replay(body: bytes, receive: Receive) -> Receive:
    """What the application receives: the body that was read here, and then what comes."""
    first = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return first.pop() if first else await receive()

    return replayed
