"""What a request costs: tokens times the list's prices, in decimals.

Also runs inside the proxy's environment: standard library only. Does not cover prices that depend on the time of
day, and those of pictures and sound; a list with such a price is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from typing import Any, NamedTuple

from pipeline.llm.rate_limits import LENGTHS, length, pictures

#: enough digits for any sum or product here to be exact
EXACT = Context(prec=100)
#: the most tokens that a request can be said to have: far above any model's, and within what the ledger can store
COUNTABLE = 10**12
#: the most tokens of a picture (gpt-4o-mini takes up to 48,000), and of a prompt and of an answer of any model
PICTURE, ANY_PROMPT, ANY = 50_000, 2_097_152, 262_144
#: the most bytes of a token, far above those of any tokenizer (128 in most)
TOKEN_BYTES = 1024


class Usage(NamedTuple):
    """Tokens of one request. `tokens_cached` (read from a provider's cache) and `tokens_stored` (written to it) are
    parts of `tokens_in`, `tokens_reasoning` (thought, and not shown) of `tokens_out`."""

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    tokens_stored: int = 0
    tokens_reasoning: int = 0

    @property
    def is_possible(self) -> bool:
        """Whether all values are counts, and no part exceeds its whole, which would make a price negative."""
        if not all(type(count) is int and 0 <= count <= COUNTABLE for count in self):
            return False
        return self.tokens_cached + self.tokens_stored <= self.tokens_in and self.tokens_reasoning <= self.tokens_out


class Price(NamedTuple):
    """USD per token. A token that is read from a provider's cache costs `cached`, one written to it `stored`, and a
    reasoning token `reasoning`, if it has a price of its own. `tiers` are other prices for the whole request, by the
    number of input tokens that it exceeds."""

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
        """The exact cost in USD."""
        price = self.at(usage.tokens_in)
        plain = usage.tokens_in - usage.tokens_cached - usage.tokens_stored
        reasoned = usage.tokens_reasoning if price.reasoning is not None else 0
        shown = usage.tokens_out - reasoned
        counts = (plain, shown, usage.tokens_cached, usage.tokens_stored, reasoned)
        amounts = (*price[:4], price.reasoning or Decimal(0))
        return total(EXACT.multiply(count, amount) for count, amount in zip(counts, amounts, strict=True))

    def described(self) -> dict[str, Any]:
        """The price as plain data, with amounts as digits, for `read`."""
        fields = {name: value for name, value in self._asdict().items() if name != "tiers"}
        amounts = {name: None if value is None else format(value, "f") for name, value in fields.items()}
        return {**amounts, "tiers": [[above, price.described()] for above, price in self.tiers]}

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Price:
        """The price that `described` returned."""
        amounts = {name: value and Decimal(value) for name, value in fields.items() if name != "tiers"}
        return cls(**amounts, tiers=tuple((above, cls.read(price)) for above, price in fields["tiers"]))

    def worst(self, request: Mapping[str, Any], context: int, limit: int) -> Decimal:
        """The highest possible cost of a request, in USD. A token of text has at least one byte. A chat's prompt, and
        each input of a request for embeddings, has no more tokens than the model's `context`, and an answer no more
        than the model's `limit` or the request's own; if these are 0, the maxima of all models apply. There may be
        several answers (`n`)."""
        if "input" in request:
            sizes = [len(json.dumps(one)) for one in _inputs(request)]
            return self._most(sum(min(size, context or size) for size in sizes), 0)
        shown = pictures(request)
        text = len(json.dumps(request, default=str).encode()) - sum(map(length, shown))
        asked = [request[name] for name in LENGTHS if request.get(name)]
        tokens_in = min(text + PICTURE * len(shown), context or ANY_PROMPT)
        tokens_out = min(max(asked, default=limit or ANY), limit or ANY) * (request.get("n") or 1)
        return self._most(tokens_in, tokens_out)

    def worst_of_any(self, context: int, limit: int) -> Decimal:
        """The highest possible cost of a request of unknown content, in USD, with one prompt and one answer."""
        return self._most(context or ANY_PROMPT, limit or ANY)

    def _most(self, tokens_in: int, tokens_out: int) -> Decimal:
        """The highest possible cost of these numbers of tokens, in USD."""
        prices = [self, *(price for _, price in self.tiers)]
        costly = max(amount for price in prices for amount in (price.input, price.cached, price.stored))
        costly_out = max(amount for price in prices for amount in (price.output, price.reasoning or Decimal(0)))
        return total((EXACT.multiply(tokens_in, costly), EXACT.multiply(tokens_out, costly_out)))


def is_too_long(request: Mapping[str, Any], context: int) -> bool:
    """Whether a request cannot fit a model's `context`, in tokens (0: unknown), whatever its tokenizer."""
    if not context:
        return False
    if "input" in request:
        return any(_fewest_tokens(one) > context for one in _inputs(request))
    shown = pictures(request)
    text = json.dumps(request, default=str, ensure_ascii=False)
    return (length(text) - sum(map(length, shown))) // TOKEN_BYTES > context


def _inputs(request: Mapping[str, Any]) -> list[Any]:
    """The inputs of a request for embeddings, each a text or its tokens."""
    given = request["input"]
    is_one = isinstance(given, str) or isinstance(given[0], int)
    return [given] if is_one else given


def _fewest_tokens(given: str | list[int]) -> int:
    return length(given) // TOKEN_BYTES if isinstance(given, str) else len(given)


def total(amounts: Iterable[Decimal]) -> Decimal:
    """The exact sum of amounts."""
    result = Decimal(0)
    for amount in amounts:
        result = EXACT.add(result, amount)
    return result


def usage_of(reported: Any) -> Usage:
    """The usage of an OpenAI-compatible answer, from the field that LiteLLM normalizes for every provider. A report
    that contradicts itself counts as no report. Tokens that only the total contains are reasoning: some providers
    charge for it and do not count it as a part of the answer (Gemini and Grok in OpenAI's protocol)."""
    reported = _table(reported)
    details = _table(reported.get("prompt_tokens_details"))
    usage = Usage(
        tokens_in=reported.get("prompt_tokens") or 0,
        tokens_out=reported.get("completion_tokens") or 0,
        tokens_cached=details.get("cached_tokens") or 0,
        tokens_stored=details.get("cache_creation_tokens") or 0,
        tokens_reasoning=_table(reported.get("completion_tokens_details")).get("reasoning_tokens") or 0,
    )
    usage = _with_hidden(usage, reported.get("total_tokens"))
    return usage if usage.is_possible else Usage()


def _with_hidden(usage: Usage, all_tokens: Any) -> Usage:
    """The usage with the tokens that only the total contains. If the answer's tokens were not counted, they are among
    these."""
    counts = (usage.tokens_in, usage.tokens_out, usage.tokens_reasoning, all_tokens)
    if not all(type(count) is int for count in counts):
        return usage
    hidden = max(0, all_tokens - usage.tokens_in - usage.tokens_out)
    reasoning = max(usage.tokens_reasoning, hidden) if usage.tokens_out else usage.tokens_reasoning
    return usage._replace(tokens_out=usage.tokens_out + hidden, tokens_reasoning=reasoning)


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
