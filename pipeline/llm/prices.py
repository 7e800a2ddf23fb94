"""What a request costs: tokens times the list's prices, in decimals.

Also runs inside the proxy's environment: standard library only. Does not cover prices that change with the hour,
and those of pictures and sound; a list that has such a price is refused.
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
    parts of `tokens_in`, `tokens_reasoning` (thought, and not shown) of `tokens_out`."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_stored: int = 0
    tokens_reasoning: int = 0


class Price(NamedTuple):
    """USD per token. A token that a provider's cache has or takes costs `cached` or `stored`, one that a model thinks
    with `reasoning`, where that is not as any other. `tiers` are other prices of the whole request, by the number of
    tokens in that it has to have more than."""

    input: Decimal
    output: Decimal
    cached: Decimal
    stored: Decimal
    reasoning: Decimal | None = None
    tiers: tuple[tuple[int, Price], ...] = ()

    def at(self, tokens_in: int) -> Price:
        """The price of a request of that length."""
        return next((price for above, price in sorted(self.tiers, reverse=True) if tokens_in > above), self)

    def cost(self, usage: Usage) -> Decimal:
        """USD, exact."""
        price = self.at(usage.tokens_in)
        plain = usage.tokens_in - usage.tokens_cached - usage.tokens_stored
        thought = usage.tokens_reasoning if price.reasoning is not None else 0
        said = usage.tokens_out - thought
        counts = (plain, said, usage.tokens_cached, usage.tokens_stored, thought)
        each = (*price[:4], price.reasoning or Decimal(0))
        return total(EXACT.multiply(count, one) for count, one in zip(counts, each, strict=True))

    def described(self) -> dict[str, Any]:
        """As plain data, amounts as digits; `read` gives it back."""
        fields = {name: value for name, value in self._asdict().items() if name != "tiers"}
        amounts = {name: None if value is None else format(value, "f") for name, value in fields.items()}
        return {**amounts, "tiers": [[above, price.described()] for above, price in self.tiers]}

    @classmethod
    def read(cls, said: Mapping[str, Any]) -> Price:
        """The price that `described` gave."""
        amounts = {name: value and Decimal(value) for name, value in said.items() if name != "tiers"}
        return cls(**amounts, tiers=tuple((above, cls.read(price)) for above, price in said["tiers"]))

    def worst(self, request: Mapping[str, Any], most: int) -> Decimal:
        """USD that a request may cost at most: a token has a byte or more, and an answer no more tokens than it asks
        for, else `most`, or as many as any model has; there may be several answers (`n`)."""
        fields = {name: value for name, value in request.items() if name not in ("metadata", "proxy_server_request")}
        said = json.dumps(fields, default=str)
        tokens_in = len(said.encode()) + PICTURE * said.count("data:image/")
        asked = [request[name] for name in ("max_tokens", "max_completion_tokens") if request.get(name)]
        tokens_out = 0 if "input" in request else max(asked, default=most or ANY) * (request.get("n") or 1)
        every = [self, *(price for _, price in self.tiers)]
        costly = max(amount for one in every for amount in (one.input, one.cached, one.stored))
        said_out = max(amount for one in every for amount in (one.output, one.reasoning or Decimal(0)))
        return total((EXACT.multiply(tokens_in, costly), EXACT.multiply(tokens_out, said_out)))


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
        tokens_reasoning=(reported.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0,
    )
