"""What a request costs: tokens times the list's prices, in decimals.

Also runs inside the proxy's environment: standard library only. Does not cover prices that change with the length of
the prompt or the hour; a list of models must not contain such a model without saying so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from typing import Any, NamedTuple

#: digits enough for any sum or product here to be exact: rounding would be an error, not an approximation
EXACT = Context(prec=100)


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
