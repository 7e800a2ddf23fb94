"""What a request costs: tokens times the list's prices, in decimals.

Also runs inside the proxy's environment: standard library only. Does not cover prices that change with the length of
the prompt or the hour; a list of models must not contain such a model without saying so.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from typing import Any, NamedTuple

#: digits enough for any sum or product here to be exact: rounding would be an error, not an approximation
EXACT = Context(prec=100)
#: tokens that a picture may cost beyond its bytes, and that an answer may have where nobody says
PICTURE, ANY = 20_000, 131_072


class Usage(NamedTuple):
    """Tokens of one request. `tokens_cached` (read from a provider's cache) and `tokens_stored` (written to it) are
    parts of `tokens_in`."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_stored: int = 0


class Price(NamedTuple):
    """USD per token. A token that a provider's cache has or takes costs `cached` or `stored`."""

    input: Decimal
    output: Decimal
    cached: Decimal
    stored: Decimal

    def cost(self, usage: Usage) -> Decimal:
        """USD, exact."""
        plain = usage.tokens_in - usage.tokens_cached - usage.tokens_stored
        counts = (plain, usage.tokens_out, usage.tokens_cached, usage.tokens_stored)
        return total(EXACT.multiply(count, price) for count, price in zip(counts, self, strict=True))

    def worst(self, request: Mapping[str, Any], most: int) -> Decimal:
        """USD that a request may cost at most: a token has a byte or more, and an answer no more tokens than it asks
        for, else `most`, or as many as any model has."""
        fields = {name: value for name, value in request.items() if name not in ("metadata", "proxy_server_request")}
        said = json.dumps(fields, default=str)
        tokens_in = len(said.encode()) + PICTURE * said.count("data:image/")
        asked = [request[name] for name in ("max_tokens", "max_completion_tokens") if request.get(name)]
        tokens_out = 0 if "input" in request else max(asked, default=most or ANY)
        costly = max(self.input, self.cached, self.stored)
        return total((EXACT.multiply(tokens_in, costly), EXACT.multiply(tokens_out, self.output)))


def total(amounts: Iterable[Decimal]) -> Decimal:
    """The exact sum of amounts."""
    result = Decimal(0)
    for amount in amounts:
        result = EXACT.add(result, amount)
    return result


def usage_of(reported: Mapping[str, Any] | None) -> Usage:
    """From the `usage` of an OpenAI-compatible answer, as LiteLLM normalises it for every provider."""
    reported = reported or {}
    details = reported.get("prompt_tokens_details") or {}
    return Usage(
        tokens_in=reported.get("prompt_tokens") or 0,
        tokens_out=reported.get("completion_tokens") or 0,
        tokens_cached=details.get("cached_tokens") or 0,
        tokens_stored=details.get("cache_creation_tokens") or 0,
    )
