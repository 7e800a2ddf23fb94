"""Notices the ends of requests, and answers that are cut: their clients go away before the end.

ASGI, around the embedded proxy: LiteLLM books nothing for a stream that is cut before its first part, and guesses the
usage of one that is cut later. hooks.py says for each request what to do then. Also runs inside the proxy's
environment: standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from contextvars import ContextVar

from pipeline.llm.turns import App, Message, Receive, Send

#: what is to do if the answer to the request that this code runs for is cut
_CUT: ContextVar[list[Callable[[], None]]] = ContextVar("cut")
#: what is to do when the request that this code runs for is over, however it ends
_OVER: ContextVar[ExitStack] = ContextVar("over")


def when_cut(act: Callable[[], None]) -> None:
    """Call `act` if the answer to the request that this code runs for is cut; maybe more than once."""
    _CUT.get().append(act)


def when_over(act: Callable[[], None]) -> None:
    """Call `act` once when the request that this code runs for is over, however it ends."""
    _OVER.get().callback(act)


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
