"""Faults on command: each one wraps a request's answer, and its docstring says what the client then sees (README.md has
a table)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from github_double.budget import Budget

PAGE = b"<html><head><title>%d</title></head><body>%s</body></html>"
BROKEN = "Something went wrong while executing your query. Please include `0000:0000` when reporting this issue."
SECONDARY = {
    "documentation_url": "https://docs.github.com/graphql/overview/rate-limits-for-the-graphql-api#secondary-rate-limits",
    "message": "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.",
}


@dataclass(frozen=True)
class Answer:
    """An answer as sent; with `share` below 1, the connection ends after that part of the body."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    media: str = "application/json; charset=utf-8"
    share: float = 1.0
    points: int = 0


class Call(NamedTuple):
    """A request being processed: its token's budget, and a function for the proper answer."""

    budget: Budget
    answer: Callable[[], Awaitable[Answer]]


class Fault(NamedTuple):
    """A fault with its name, and its effect on a request."""

    name: str
    apply: Callable[[Call], Awaitable[Answer]]


def primary_limit(reset_in: float = 1.0) -> Fault:
    """The token's points are used up for at least this many seconds."""

    async def apply(call: Call) -> Answer:
        call.budget.exhaust(reset_in)
        return await call.answer()

    return Fault("primary_limit", apply)


def secondary_limit(status: int = 403, retry_after: int | None = 1) -> Fault:
    """GitHub's message about too many requests at once; `retry_after` in seconds, None omits the header."""
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    return _instead("secondary_limit", Answer(status, json.dumps(SECONDARY).encode(), headers))


def bad_gateway() -> Fault:
    """502 with an HTML page."""
    return _instead("bad_gateway", Answer(502, PAGE % (502, b"Bad Gateway"), media="text/html"))


def unavailable() -> Fault:
    """503 with an HTML page."""
    return _instead("unavailable", Answer(503, PAGE % (503, b"No server is available"), media="text/html"))


def broken() -> Fault:
    """200 with an error and no data, GitHub's answer to a query that took too long."""
    return _instead("broken", Answer(200, json.dumps({"data": None, "errors": [{"message": BROKEN}]}).encode()))


def partial(*path: str | int) -> Fault:
    """200 with data, but null at `path`, and the error that says so."""

    async def apply(call: Call) -> Answer:
        answer = await call.answer()
        body = json.loads(answer.body)
        place: Any = body["data"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = None
        body.setdefault("errors", []).append({"type": "SERVICE_UNAVAILABLE", "path": path, "message": BROKEN})
        return replace(answer, body=json.dumps(body).encode())

    return Fault("partial", apply)


def slow(seconds: float) -> Fault:
    """The proper answer, late."""

    async def apply(call: Call) -> Answer:
        await asyncio.sleep(seconds)
        return await call.answer()

    return Fault("slow", apply)


def cut(share: float = 0.5) -> Fault:
    """The connection closes after that share of the body."""

    async def apply(call: Call) -> Answer:
        return replace(await call.answer(), share=share)

    return Fault("cut", apply)


def garbled() -> Fault:
    """Half of the JSON, with a length that fits it."""

    async def apply(call: Call) -> Answer:
        answer = await call.answer()
        return replace(answer, body=answer.body[: len(answer.body) // 2])

    return Fault("garbled", apply)


def _instead(name: str, answer: Answer) -> Fault:
    async def apply(call: Call) -> Answer:
        return answer

    return Fault(name, apply)


@dataclass
class Planned:
    """A fault that lets `after` requests pass and applies to the next `times`; `on` is graphql, rest or any."""

    fault: Fault
    after: int
    times: int
    on: str

    def take(self, kind: str) -> Fault | None:
        """The fault, when it is this request's turn."""
        if self.on not in (kind, "any") or self.times == 0:
            return None
        if self.after:
            self.after -= 1
            return None
        self.times -= 1
        return self.fault
