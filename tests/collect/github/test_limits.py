"""Which token is used, how long it waits, and what a refusal means."""

from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from pipeline.collect.github.limits import Patience, Refusal, Tokens, tokens_of_environment
from pipeline.core.errors import InfrastructureError, UserError

IN_A_MINUTE = "2999-01-01T00:00:00Z"


def _at(value: str) -> str:
    """A header; `in 500` means the time in 500 s, since tests run long after they are collected."""
    if value.startswith("date in "):
        return formatdate(time.time() + int(value[8:]), usegmt=True)
    return str(int(time.time()) + int(value[3:])) if value.startswith("in ") else value


def refuse(status: int, message: str = "", attempt: int = 0, **headers: str) -> float | None:
    """The seconds that the only token then waits; None if the refusal is about the request itself."""
    tokens = Tokens(["a"], Patience(first=1, secondary=60, longest=300))
    token, _ = tokens.next()
    named = {name.replace("_", "-"): _at(value) for name, value in headers.items()}
    return round(tokens.next()[1]) if tokens.refused(token, Refusal(status, message, named), attempt) else None


@pytest.mark.rule("limits")
@pytest.mark.parametrize(
    ("status", "message", "headers", "seconds"),
    [
        (403, "You have exceeded a secondary rate limit", {"retry_after": "7"}, 7),
        (429, "Too many", {"retry_after": "9"}, 9),
        (403, "You have exceeded a secondary rate limit", {}, 60),
        (403, "API rate limit exceeded", {"x_ratelimit_reset": "in 1000"}, 1000),
        (200, "RATE_LIMITED", {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "in 500"}, 500),
        (429, "Too many", {"retry_after": "0"}, 0),
        (429, "Too many", {"retry_after": "date in 200"}, 200),
        (429, "Too many", {"retry_after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
        *((429, "Too many", {"retry_after": odd}, 60) for odd in ("", "soon", "nan", "inf", "-1", "1e400")),
        (403, "API rate limit exceeded", {"x_ratelimit_reset": ""}, 1),
        (403, "API rate limit exceeded", {"x_ratelimit_reset": "inf"}, 1),
        (502, "Bad Gateway", {}, 1),
        (0, "connection closed", {}, 1),
        (403, "Resource not accessible", {}, None),
        (404, "Not Found", {}, None),
        (500, "Server Error: Sorry, this diff is taking too long to generate.", {}, None),
        (406, "too large", {}, None),
    ],
)
def test_a_refusal_gives_the_time_to_wait(
    status: int, message: str, headers: dict[str, str], seconds: int | None
) -> None:
    """Retry-After may be a date; whatever a proxy writes there must not end a night's collection."""
    waited = refuse(status, message, **headers)
    assert waited == (pytest.approx(seconds, rel=0.3) if seconds and seconds > 60 else seconds)


def test_waits_grow_to_a_limit() -> None:
    assert [refuse(502, attempt=attempt) for attempt in range(4)] == [1, 2, 4, 8]
    assert refuse(403, "secondary", attempt=6) == 300


def test_the_last_attempt_raises() -> None:
    with pytest.raises(InfrastructureError, match="GitHub keeps failing"):
        refuse(502, attempt=7)


@pytest.mark.rule("limits")
def test_the_token_with_most_points_asks_next() -> None:
    tokens = Tokens(["a", "b", "b"])
    first, _ = tokens.next()
    first.note(4, IN_A_MINUTE)
    second, wait = tokens.next()
    assert (first.name, second.name, wait) == ("token 1 of 2", "token 2 of 2", 0)
    second.note(3, IN_A_MINUTE)
    assert tokens.next()[1] > 1e6
    assert tokens.points == 7


@pytest.mark.invariant(6)
def test_a_token_does_not_show_its_value() -> None:
    token, _ = Tokens(["ghp_secret"]).next()
    assert "secret" not in f"{token} {token!r} {[token]}"


@pytest.mark.rule("bad-input")
def test_a_revoked_last_token_ends_the_run() -> None:
    tokens = Tokens(["a"])
    token, _ = tokens.next()
    assert tokens.refused(token, Refusal(401, "Bad credentials"), 0)
    with pytest.raises(UserError, match="GitHub refuses every token"):
        tokens.next()


def test_tokens_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKENS", "a, b\nc")
    monkeypatch.setenv("GITHUB_TOKEN", "d")
    assert tokens_of_environment() == ["a", "b", "c", "d"]
