"""Prices: what a request costs, what it costs at most, and how a price is passed on; exact for any numbers."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.llm.prices import Price, Usage, total, usage_of

FAST = settings(max_examples=100, deadline=None, derandomize=True, database=None)
AMOUNTS = st.integers(0, 10**13).map(lambda number: Decimal(number).scaleb(-12))
PLAIN = st.tuples(*[AMOUNTS] * 4, st.none() | AMOUNTS).map(lambda amounts: Price(*amounts))
TIERS = st.lists(st.tuples(st.integers(0, 2000), PLAIN), max_size=3, unique_by=lambda tier: tier[0])
PRICES = st.tuples(PLAIN, TIERS.map(sorted)).map(lambda pair: pair[0]._replace(tiers=tuple(pair[1])))


@st.composite
def usages(draw: st.DrawFn) -> Usage:
    """A usage whose parts are no more than the whole."""
    given_in, given_out = draw(st.integers(0, 3000)), draw(st.integers(0, 3000))
    cached = draw(st.integers(0, given_in))
    return Usage(given_in, given_out, cached, draw(st.integers(0, given_in - cached)), draw(st.integers(0, given_out)))


@FAST
@given(PRICES, usages())
def test_a_request_costs_each_token_once(price: Price, usage: Usage) -> None:
    """As fractions without rounding: every token at the price of its kind, in the tier of the whole request."""
    tier = [price, *(other for above, other in price.tiers if usage.tokens_in > above)][-1]
    reasoning = tier.output if tier.reasoning is None else tier.reasoning
    plain = usage.tokens_in - usage.tokens_cached - usage.tokens_stored
    shown = usage.tokens_out - usage.tokens_reasoning
    counts = (plain, usage.tokens_cached, usage.tokens_stored, shown, usage.tokens_reasoning)
    amounts = (tier.input, tier.cached, tier.stored, tier.output, reasoning)
    expected = sum(count * Fraction(amount) for count, amount in zip(counts, amounts, strict=True))
    assert Fraction(price.cost(usage)) == expected


@FAST
@given(PRICES, usages(), st.integers(0, 500), st.integers(0, 500))
def test_no_request_costs_more_than_its_worst_case(price: Price, usage: Usage, more_in: int, more_out: int) -> None:
    """A budget admits a request if its worst case fits: no recorded cost may exceed it."""
    context, limit = usage.tokens_in + more_in, usage.tokens_out + more_out
    if context and limit:
        assert price.cost(usage) <= price.worst_of_any(context, limit)
    body = {"model": "m", "messages": [{"role": "user", "content": "x" * usage.tokens_in}], "max_tokens": limit}
    assert price.cost(usage) <= price.worst(body, 0, 0) or not limit


@FAST
@given(st.text(max_size=200), st.integers(1, 50), st.integers(1, 4))
def test_the_worst_case_grows_with_the_request(text: str, limit: int, answers: int) -> None:
    """With the text, with the length of the answer, and with the number of answers."""
    price = Price(Decimal(1), Decimal(2), Decimal("0.5"), Decimal("1.25"))
    body = {"model": "m", "messages": [{"role": "user", "content": text}], "max_tokens": limit, "n": answers}
    worst = price.worst(body, 0, 0)
    assert worst >= len(text.encode("utf-8", "surrogatepass")) + 2 * limit * answers
    for more in ({"max_tokens": limit + 1}, {"n": answers + 1}, {"messages": [*body["messages"], {"role": "user"}]}):
        assert price.worst({**body, **more}, 0, 0) > worst
    assert price.worst(body, 0, 1) <= worst


def with_picture(text: str, address: str) -> dict[str, Any]:
    parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": address}}]
    return {"model": "m", "messages": [{"role": "user", "content": parts}], "max_tokens": 1}


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
def test_a_limit_is_known_by_each_of_its_names(name: str) -> None:
    body = {"model": "m", "messages": []}
    price = Price(Decimal(0), Decimal(1), Decimal(0), Decimal(0))
    assert (price.worst(body | {name: 3}, 0, 50), price.worst(body, 0, 50)) == (3, 50)


def test_a_picture_costs_no_token_for_each_of_its_bytes() -> None:
    """A screenshot of 700 kB was reserved at a million tokens, which exceeded every cap."""
    price, picture = Price(*[Decimal(1)] * 4), "data:image/png;base64," + "A" * 10**6
    assert 50_000 < price.worst(with_picture("hello", picture), 0, 0) < 51_000
    assert price.worst(with_picture(picture, "hello"), 0, 0) > 10**6, "a text is no picture"
    assert price.worst({"model": "m", "messages": ["a", {"content": ["b", {"image_url": 3}]}]}, 0, 1) > 1


@FAST
@given(PRICES)
def test_a_price_is_passed_on_exactly(price: Price) -> None:
    """The hooks get it as JSON with the same digits, and compute the same cost for any usage."""
    assert Price.read(json.loads(json.dumps(price.described()))) == price


@FAST
@given(st.lists(st.integers(-(10**24), 10**24).map(lambda n: Decimal(n).scaleb(-15)), max_size=12), st.randoms())
def test_a_sum_does_not_depend_on_the_order(amounts: list[Decimal], chance: Random) -> None:
    shuffled = list(amounts)
    chance.shuffle(shuffled)
    assert total(shuffled) == total(amounts)
    assert Fraction(total(amounts)) == sum(map(Fraction, amounts))


@FAST
@given(usages())
def test_a_usage_is_read_as_it_was_reported(usage: Usage) -> None:
    reported = {
        "prompt_tokens": usage.tokens_in,
        "completion_tokens": usage.tokens_out,
        "prompt_tokens_details": {"cached_tokens": usage.tokens_cached, "cache_creation_tokens": usage.tokens_stored},
        "completion_tokens_details": {"reasoning_tokens": usage.tokens_reasoning},
    }
    assert usage_of(json.loads(json.dumps(reported))) == usage


@FAST
@given(usages(), st.integers(0, 3000))
def test_tokens_that_only_the_total_contains_are_reasoning(usage: Usage, hidden: int) -> None:
    """Some providers charge for reasoning, and count it neither as a part of the answer nor by itself."""
    reported = {
        "prompt_tokens": usage.tokens_in,
        "completion_tokens": usage.tokens_out,
        "total_tokens": usage.tokens_in + usage.tokens_out + hidden,
    }
    reasoning = hidden if usage.tokens_out else 0
    assert usage_of(reported) == Usage(usage.tokens_in, usage.tokens_out + hidden, tokens_reasoning=reasoning)
    separate = {**reported, "completion_tokens_details": {"reasoning_tokens": reasoning}}
    assert usage_of(separate) == usage_of(reported), "they may be counted by themselves"
    assert usage_of({**reported, "total_tokens": 0}) == Usage(usage.tokens_in, usage.tokens_out)


@FAST
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=2)
            | st.dictionaries(
                st.sampled_from(
                    [
                        *("prompt_tokens", "completion_tokens", "total_tokens"),
                        *("prompt_tokens_details", "cached_tokens", "reasoning_tokens"),
                    ]
                ),
                inner,
            )
        ),
        max_leaves=6,
    )
)
def test_whatever_is_reported_is_a_possible_usage(reported: object) -> None:
    """A report in another form counts as none: its cost is never negative, and it does not end the request in a
    traceback."""
    usage = usage_of(reported)
    assert usage.is_possible and all(type(count) is int for count in usage)
