"""GitHub's rate limits: which token to use next, and how refusals are handled.

Tokens rotate: the next request is made with the one that is available soonest and has most points left. A token's value
is never shown; its name is its position in the list. See "Rate limits for the GraphQL API" and "Best practices for
using the REST API" in GitHub's documentation.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from pipeline.core.console import say
from pipeline.core.errors import InfrastructureError, UserError

log = logging.getLogger(__name__)

#: a token with fewer points is not used; every request costs less
RESERVE = 5
#: waits of more seconds are announced
_ANNOUNCED = 2.0
#: more seconds than any server can mean, whether as a duration or since 1970
_NEVER = 1e11


#: GitHub's words for a diff that it cannot make, with several statuses: another try gives the same
_NO_DIFF = "this diff is taking too long to generate"


class Patience(NamedTuple):
    """How often a request is tried while the server fails, and waits in seconds, each twice the one before.

    `secondary` is GitHub's advice for a secondary limit that names no time.
    """

    tries: int = 8
    first: float = 1.0
    longest: float = 300.0
    secondary: float = 60.0


class Refusal(NamedTuple):
    """An answer without the requested data. Status 0 is a broken connection."""

    status: int
    message: str
    headers: Mapping[str, str] = {}


class Token:
    """One token; its value is only used in the header."""

    def __init__(self, value: str, name: str) -> None:
        self.value, self.name = value, name
        self.points: int | None = None
        self.ready_at = 0.0

    def __repr__(self) -> str:
        return self.name

    def note(self, points: int, reset_at: str) -> None:
        """Note the remaining points that an answer reported, and when they are reset, as GraphQL writes it."""
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
        """The remaining points of all tokens that have been used."""
        return sum(token.points or 0 for token in self._tokens)

    def next(self) -> tuple[Token, float]:
        """The token to use, and the seconds to wait before."""
        if not self._tokens:
            hint = "make one at https://github.com/settings/tokens (no scopes) and set GITHUB_TOKEN; nothing was lost"
            raise UserError("GitHub refuses every token (revoked or expired?)", field="GITHUB_TOKEN", hint=hint)
        now = time.time()
        token = min(self._tokens, key=lambda candidate: (max(candidate.ready_at, now), -(candidate.points or 0)))
        wait = max(0.0, token.ready_at - now)
        if wait > _ANNOUNCED:
            say(f"waiting {wait:.0f} s for GitHub ({token}: {token.points or 0} points left)")
        return token, wait

    def refused(self, token: Token, refusal: Refusal, attempt: int) -> bool:
        """Note a refusal. Returns False if it comes neither from limits nor from the server, so a retry is useless.

        `attempt` counts from 0. Raises InfrastructureError after too many attempts.
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
            for other in self._tokens:
                other.ready_at = max(other.ready_at, time.time() + backoff)
        elif cause == "spent":
            token.points = 0
            reset = _number(headers.get("x-ratelimit-reset")) or 0
            token.ready_at = max(reset, time.time() + self._patience.first)
        else:
            wait = min(self._patience.longest, self._patience.secondary * 2**attempt)
            token.ready_at = time.time() + _seconds(headers.get("retry-after"), wait)


def _number(text: str | None) -> float | None:
    """The number in a header; None if there is none, or none that can be a time."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < _NEVER else None


def _seconds(text: str | None, default: float) -> float:
    """The seconds of a Retry-After, which may be a date in HTTP's form; `default` without either."""
    if (number := _number(text)) is not None:
        return number
    try:
        return max(0.0, parsedate_to_datetime(text or "").timestamp() - time.time())
    except (ValueError, TypeError):
        return default


def tokens_of_environment() -> list[str]:
    """The tokens in GITHUB_TOKENS (separated by commas or blanks) and GITHUB_TOKEN. Raises UserError without any."""
    text = f"{os.environ.get('GITHUB_TOKENS', '')} {os.environ.get('GITHUB_TOKEN', '')}"
    values = [value for value in re.split(r"[\s,]+", text) if value]
    if not values:
        hint = "set GITHUB_TOKEN to a token (https://github.com/settings/tokens, no scopes needed), or use --source git"
        raise UserError("GitHub requires a token", field="GITHUB_TOKEN", hint=hint)
    return values


def lacks_diff(message: str) -> bool:
    """Whether GitHub says that it cannot make a diff."""
    return _NO_DIFF in message.lower()


def _cause(refusal: Refusal) -> str | None:
    """The cause of a refusal; None if it is the query itself."""
    status, message = refusal.status, refusal.message.lower()
    if lacks_diff(message):
        return None
    if status == 401:
        return "revoked"
    if status in (200, 403, 429):
        if "secondary" in message or "retry-after" in refusal.headers:
            return "secondary"
        if "rate limit" in message or "rate_limited" in message or refusal.headers.get("x-ratelimit-remaining") == "0":
            return "spent"
        return "busy" if status == 200 else "secondary" if status == 429 else None
    return "busy" if status in (0, 500, 502, 503, 504) else None
