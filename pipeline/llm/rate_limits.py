"""Making requests wait for their turn, within a provider's limits of simultaneous requests and of requests per minute.

ASGI middleware around the embedded proxy, since LiteLLM's own limits refuse excess requests instead of making them
wait. A request whose client goes away while it waits is not sent, since the client may send it again. A stream keeps
its turn until it ends, and a retried request until it is answered; a minute counts the requests that began in it. As
providers do, a request's tokens are estimated before it is answered: its characters / 4, a fixed number for each
picture, and the maximum length of its answer. The proxy with a database uses only the queues, for its limits per minute
(paced.py). Also runs inside the proxies' environments: standard library only.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

#: seconds over which requests and tokens are counted
MINUTE = 60.0
#: fields of a chat's request with the most tokens of its answer, which LiteLLM translates for every provider
#: (Anthropic's messages share the second); and the Responses API's name, which it would hand on as it is
SENT, OF_RESPONSES = ("max_completion_tokens", "max_tokens"), "max_output_tokens"
LENGTHS = (*SENT, OF_RESPONSES)
CHARS_PER_TOKEN = 4
#: tokens that a picture takes, about: its base64 text is not counted
PICTURE = 2000
#: the limits per minute, by LiteLLM's names, and the word in place of a key for a server that needs none
PACES, NO_KEY = ("rpm", "tpm"), "none"


class Turns:
    """`provider_of` names the provider behind each model; `limits` are the limits of each provider by LiteLLM's names:
    `max_parallel_requests`, `rpm`, `tpm`."""

    def __init__(
        self, app: App, provider_of: Mapping[str, str], limits: Mapping[str, Mapping[str, int]], minute: float = MINUTE
    ) -> None:
        self._app, self._provider_of = app, provider_of
        self._lanes = {provider: Lane(minute=minute, **numbers) for provider, numbers in limits.items()}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        body = await read_body(receive)
        model, tokens = requested(body)
        lane = self._lanes.get(self._provider_of.get(model, ""), FREE)
        async with AsyncExitStack() as turn:
            if await _first(turn.enter_async_context(lane.turn(tokens)), _gone(receive)):
                await self._app(scope, replay(body, receive), send)


async def _first(wanted: Coroutine[Any, Any, Any], other: Coroutine[Any, Any, Any]) -> bool:
    """Whether `wanted` ends before `other`; the later one is cancelled."""
    tasks = asyncio.create_task(wanted), asyncio.create_task(other)
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        return not tasks[1].done()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _gone(receive: Receive) -> None:
    """Wait until the client of a request, whose body was read, goes away."""
    if (await receive())["type"] != "http.disconnect":
        await asyncio.Event().wait()


class Lane:
    """The queue for one provider: limits of requests at once, and of requests and tokens per minute."""

    def __init__(
        self,
        max_parallel_requests: int | None = None,
        rpm: int | None = None,
        tpm: int | None = None,
        minute: float = MINUTE,
    ) -> None:
        self._free = asyncio.Semaphore(max_parallel_requests) if max_parallel_requests else None
        self._most = (rpm, tpm)
        self._minute, self._begun, self._door = minute, deque[tuple[float, int]](), asyncio.Lock()

    @asynccontextmanager
    async def turn(self, tokens: int) -> AsyncIterator[None]:
        """Wait for a turn, which lasts for the block."""
        if self._free is None:
            await self._pace(tokens)
            yield
            return
        async with self._free:
            await self._pace(tokens)
            yield

    async def _pace(self, tokens: int) -> None:
        """Wait until there is room. First come, first served: the next request waits until this one has room."""
        if self._most == (None, None):
            return
        async with self._door:
            while (seconds := self._until(tokens, time.monotonic())) > 0:
                await asyncio.sleep(seconds)
            self._begun.append((time.monotonic(), tokens))

    def _until(self, tokens: int, now: float) -> float:
        """Seconds until there may be room. A request with more tokens than a minute allows is sent alone."""
        while self._begun and now - self._begun[0][0] >= self._minute:
            self._begun.popleft()
        rpm, tpm = self._most
        is_full = rpm is not None and len(self._begun) >= rpm
        is_large = tpm is not None and sum(count for _, count in self._begun) + tokens > tpm
        return self._begun[0][0] + self._minute - now if self._begun and (is_full or is_large) else 0


#: for providers without limits
FREE = Lane()


def paced(entries: Iterable[Mapping[str, Any]], minute: float = MINUTE) -> dict[str, Lane]:
    """The queue of each model of LiteLLM's list, for limits per minute only. Models of one provider share a queue with
    the smallest of their numbers."""
    limits: dict[str, dict[str, int]] = {}
    provider_of: dict[str, str] = {}
    for entry in entries:
        parameters = entry["litellm_params"]
        provider = provider_of[entry["model_name"]] = _provider(parameters)
        own, of_provider = {name: parameters[name] for name in PACES if parameters.get(name)}, limits.get(provider, {})
        limits[provider] = {**of_provider, **{name: min(own[name], of_provider.get(name, own[name])) for name in own}}
    lanes = {provider: Lane(minute=minute, **numbers) for provider, numbers in limits.items()}
    return {model: lanes[provider] for model, provider in provider_of.items()}


def _provider(parameters: Mapping[str, Any]) -> str:
    """Whose limits a model shares: those of its key, or of its address if it needs no key."""
    key = parameters.get("api_key") or NO_KEY
    return str(parameters.get("api_base") if key == NO_KEY else key)


def requested(body: bytes) -> tuple[str, int]:
    """The requested model, empty for none, and the most tokens that the prompt and the answers may have together."""
    try:
        request = json.loads(body)
        model = str(request["model"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", 0
    lengths = [request[name] for name in LENGTHS if type(request.get(name)) is int]
    count = request["n"] if type(request.get("n")) is int else 1
    shown = pictures(request)
    chars = len(body) - sum(map(length, shown))
    return model, chars // CHARS_PER_TOKEN + PICTURE * len(shown) + max([0, *lengths]) * max(1, count)


def pictures(request: Mapping[str, Any]) -> list[str]:
    """The data URLs of a chat's pictures. Text that only looks like one is text."""
    contents = [message.get("content") for message in _objects(request.get("messages"))]
    shown = [part.get("image_url") for content in contents for part in _objects(content)]
    addresses = [picture.get("url") for picture in _objects(shown)]
    return [address for address in addresses if isinstance(address, str) and address.startswith("data:image/")]


def length(text: str) -> int:
    """The bytes of a text. Its JSON form never has fewer."""
    return len(text.encode("utf-8", "surrogatepass"))


def _objects(value: Any) -> list[dict[str, Any]]:
    return [member for member in value if isinstance(member, dict)] if isinstance(value, list) else []


class TooLarge(Exception):
    """A request whose body has too many bytes."""


async def read_body(receive: Receive, most: int | None = None) -> bytes:
    """The whole body of a request. Raises TooLarge for more than `most` bytes, once the client has sent them all: only
    then does it read an answer. Never keeps more than `most`."""
    parts, size, has_more = [], 0, True
    while has_more:
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if most is None or size <= most:
            parts.append(part)
        has_more = message.get("more_body", False)
    if most is not None and size > most:
        raise TooLarge(f"a request has at most {most} bytes")
    return b"".join(parts)


def replay(body: bytes, receive: Receive) -> Receive:
    """What the application receives: the body that was already read, then what follows."""
    pending = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return pending.pop() if pending else await receive()

    return replayed
