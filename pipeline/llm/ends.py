"""Noticing the ends of requests, answers that are cut, and waiting requests whose clients go away.

ASGI middleware around the embedded proxy: LiteLLM books nothing for a stream that is cut before its first part, and
guesses the usage of a stream that is cut later. For each request, hooks.py says what to do then. Also runs inside the
proxy's environment: standard library only.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import ExitStack
from contextvars import ContextVar
from typing import Any, TypeVar

from pipeline.llm.rate_limits import App, Message, Receive, Send

T = TypeVar("T")

#: the function to call if the answer to the current request is cut
_CUT: ContextVar[list[Callable[[], None]]] = ContextVar("cut")
#: the function to call when the current request is over, however it ends
_OVER: ContextVar[ExitStack] = ContextVar("over")
#: the channel that receives the messages of the current request
_RECEIVE: ContextVar[Receive] = ContextVar("receive")


class Gone(Exception):
    """A waiting request's client went away."""


def when_cut(act: Callable[[], None]) -> None:
    """Call `act` if the answer to the current request is cut, possibly more than once."""
    _CUT.get().append(act)


def when_over(act: Callable[[], None]) -> None:
    """Call `act` once when the current request is over, however it ends."""
    _OVER.get().callback(act)


async def while_connected(wanted: Coroutine[Any, Any, T]) -> T:
    """The result of `wanted`, for the current request, whose body was read. Raises Gone if the client goes away first;
    `wanted` is then cancelled."""
    waiting, leaving = asyncio.create_task(wanted), asyncio.create_task(_disconnected())
    try:
        await asyncio.wait((waiting, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not waiting.done():
            raise Gone
        return waiting.result()
    finally:
        for task in (waiting, leaving):
            task.cancel()
        await asyncio.gather(waiting, leaving, return_exceptions=True)


async def _disconnected() -> None:
    if (await _RECEIVE.get()())["type"] != "http.disconnect":
        await asyncio.Event().wait()


def _is_last(message: Message) -> bool:
    """Whether a message ends an answer. Clients close a stream at its last event, before the connection says so."""
    if message["type"] != "http.response.body":
        return False
    return not message.get("more_body", False) or message.get("body", b"").rstrip().endswith(b"data: [DONE]")


class Ends:
    """Notices which answers of `app` do not reach their end."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        acts: list[Callable[[], None]] = []
        has_ended = False
        _CUT.set(acts)
        _RECEIVE.set(receive)

        def end() -> None:
            for act in acts if not has_ended else ():
                act()

        async def receiving() -> Message:
            message = await receive()
            if message["type"] == "http.disconnect":
                end()
            return message

        async def sending(message: Message) -> None:
            nonlocal has_ended
            await send(message)
            has_ended = has_ended or _is_last(message)

        with ExitStack() as over:
            _OVER.set(over)
            over.callback(end)
            await self._app(scope, receiving, sending)
