"""GitHub's limits: which token may ask now, and what an answer that is no answer means.

Tokens rotate: the next request is made with the one that may ask soonest and has most points left. A token's value is
shown to nobody: its name is its place in the list. Docs: "Rate limits for the GraphQL API", "Best practices for REST".
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from pipeline.core.console import say
from pipeline.core.errors import InfrastructureError, UserError

log = logging.getLogger(__name__)

#: a token with fewer points is not asked with: the dearest request costs less
RESERVE = 5
#: a wait of so many seconds is told
_ANNOUNCED = 2.0


class Patience(NamedTuple):
    """How often a request is tried while the server fails, and waits in seconds; each is twice the one before.

    `secondary` is GitHub's advice where a secondary limit names no time.
    """

    tries: int = 8
    first: float = 1.0
    longest: float = 300.0
    secondary: float = 60.0


class Refusal(NamedTuple):
    """An answer without what was asked for. Status 0 is a connection that broke."""

    status: int
    message: str
    headers: Mapping[str, str] = {}


class Token:
    """One token: its value is for the header alone."""

    def __init__(self, value: str, name: str) -> None:
        self.value, self.name = value, name
        self.points: int | None = None
        self.ready_at = 0.0

    def __repr__(self) -> str:
        return self.name

    def note(self, points: int, reset_at: str) -> None:
        """What an answer said is left; `reset_at` as GraphQL writes it."""
        self.points = points
        if points < RESERVE:
            self.ready_at = datetime.fromisoformat(reset_at).timestamp()


class Tokens:
    """The tokens of one API, which has its own budget. Raises UserError when none is left."""

    def __init__(self, values: Sequence[str], patience: Patience | None = None) -> None:
        self._patience = patience or Patience()
        distinct = list(dict.fromkeys(values))
        self._tokens = [Token(value, f"token {n} of {len(distinct)}") for n, value in enumerate(distinct, 1)]

    @property
    def points(self) -> int:
        """Points left, over all tokens that answered so far."""
        return sum(token.points or 0 for token in self._tokens)

    def next(self) -> tuple[Token, float]:
        """The token to ask with, and the seconds to wait before."""
        if not self._tokens:
            hint = "make one at https://github.com/settings/tokens (no scopes) and set GITHUB_TOKEN; nothing was lost"
            raise UserError("GitHub refuses every token (revoked or expired?)", field="GITHUB_TOKEN", hint=hint)
        now = time.time()
        token = min(self._tokens, key=lambda one: (max(one.ready_at, now), -(one.points or 0)))
        wait = max(0.0, token.ready_at - now)
        if wait > _ANNOUNCED:
            say(f"waiting {wait:.0f} s for GitHub ({token}: {token.points or 0} points left)")
        return token, wait

    def refused(self, token: Token, refusal: Refusal, attempt: int) -> bool:
        """Take note of a refusal; False when it is none of limits or of the server, so that asking again is useless.

        `attempt` counts from 0. Raises InfrastructureError after too many, and UserError with the last token.
        """
        cause = _cause(refusal)
        if cause is None:
            return False
        log.info("%s: %s (%s %s)", token, cause, refusal.status, refusal.message[:200])
        if cause == "revoked":
            self._drop(token)
        elif cause != "spent" and attempt + 1 >= self._patience.tries:
            raise InfrastructureError(f"GitHub keeps failing: {refusal.message[:300]}", cause="github")
        else:
            self._delay(token, cause, refusal.headers, attempt)
        return True

    def _drop(self, token: Token) -> None:
        if token in self._tokens:
            say(f"GitHub refuses {token}; it is no longer used")
            self._tokens.remove(token)

    def _delay(self, token: Token, cause: str, headers: Mapping[str, str], attempt: int) -> None:
        backoff = min(self._patience.longest, self._patience.first * 2**attempt)
        if cause == "busy":
            for each in self._tokens:
                each.ready_at = max(each.ready_at, time.time() + backoff)
        elif cause == "spent":
            token.points = 0
            reset = float(headers.get("x-ratelimit-reset", 0))
            token.ready_at = max(reset, time.time() + self._patience.first)
        else:
            wait = min(self._patience.longest, self._patience.secondary * 2**attempt)
            token.ready_at = time.time() + float(headers.get("retry-after", wait))


def tokens_of_environment() -> list[str]:
    """GITHUB_TOKENS (several, with commas or blanks between) and GITHUB_TOKEN. Raises UserError when there is none."""
    text = f"{os.environ.get('GITHUB_TOKENS', '')} {os.environ.get('GITHUB_TOKEN', '')}"
    values = [value for value in re.split(r"[\s,]+", text) if value]
    if not values:
        hint = "set GITHUB_TOKEN to a token (https://github.com/settings/tokens, no scopes needed), or use --source git"
        raise UserError("GitHub requires a token", field="GITHUB_TOKEN", hint=hint)
    return values


def _cause(refusal: Refusal) -> str | None:
    """What a refusal is about; None when it is about the question."""
    status, message = refusal.status, refusal.message.lower()
    if status == 401:
        return "revoked"
    if status in (200, 403, 429):
        if "secondary" in message or "retry-after" in refusal.headers:
            return "secondary"
        if "rate limit" in message or "rate_limited" in message or refusal.headers.get("x-ratelimit-remaining") == "0":
            return "spent"
        return "busy" if status == 200 else "secondary" if status == 429 else None
    return "busy" if status in (0, 500, 502, 503, 504) else None
