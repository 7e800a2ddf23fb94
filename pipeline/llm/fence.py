"""Removing everything that is not in the protocol from a request before LiteLLM sees it: headers, query, fields.

ASGI middleware around the embedded proxy: some of LiteLLM's own fields and headers (time-outs, tries, tags,
bookkeeping) take effect before any of its hooks is called. policy.py says which fields stay; requests that it refuses
are answered here and cost nothing, as are requests that are too large. Also runs inside the proxy's environment.
"""

from __future__ import annotations

import json
from typing import Any

from pipeline.llm.money import TOLD
from pipeline.llm.policy import CAUSE, SAMPLE, TOO_LARGE, Refused, allowed
from pipeline.llm.rate_limits import App, Message, Receive, Send, TooLarge, read_body, replay

#: the headers of a request that LiteLLM may see
HEADERS = (
    *(b"host", b"authorization", b"accept", b"content-type", b"user-agent", b"connection"),
    *(name.encode() for name in (SAMPLE, *TOLD)),
)
#: the routes that take a body -> its kind
KINDS = {"/chat/completions": "chat", "/embeddings": "embedding"}
#: the most bytes of a request's body, as at OpenAI
MOST_BYTES = 50_000_000


class Fence:
    """`app` gets requests of the protocol only."""

    def __init__(self, app: App) -> None:
        self._app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        headers = [(name, value) for name, value in scope["headers"] if name.lower() in HEADERS]
        scope = {**scope, "query_string": b"", "headers": headers}
        kind = KINDS.get(scope["path"].removeprefix("/v1"))
        if scope["method"] != "POST" or kind is None:
            return await self._app(scope, receive, send)
        dropped: list[str] = []
        try:
            received = _parsed(await read_body(receive, MOST_BYTES))
            body = json.dumps(allowed(kind, received, dropped), allow_nan=False).encode()
        except TooLarge as error:
            return await _refuse(send, str(error), TOO_LARGE, "context")
        except Refused as error:
            return await _refuse(send, str(error))
        if dropped:
            print(f"left out of a request: {', '.join(sorted(set(dropped)))}", flush=True)
        size = (b"content-length", str(len(body)).encode())
        typed = [(name, value) for name, value in headers if name.lower() != b"content-type"]
        scope["headers"] = [*typed, (b"content-type", b"application/json"), size]
        return await self._app(scope, replay(body, receive), send)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise Refused("a request is a JSON object") from None


async def _refuse(send: Send, message: str, status: int = 400, cause: str = "configuration") -> None:
    answer = {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": str(status)}}
    body = json.dumps(answer).encode()
    size, reason = str(len(body)).encode(), [(b"x-should-retry", b"false"), (CAUSE.encode(), cause.encode())]
    headers = [(b"content-type", b"application/json"), (b"content-length", size), *reason]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
