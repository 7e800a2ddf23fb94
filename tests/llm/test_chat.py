"""One request and its answer, in the forms that providers and gateways use."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from pipeline.core.errors import InfrastructureError
from pipeline.llm.chat import CAUSE, Completion, say
from pipeline.llm.prices import Usage

COUNTED = {"prompt_tokens": 9, "completion_tokens": 4}
Answer = Callable[[httpx.Request], httpx.Response]


def asked(answer: Answer, **parameters: Any) -> Completion:
    with httpx.Client(base_url="http://gateway", transport=httpx.MockTransport(answer)) as gateway:
        return say(gateway, "sk-secret", "m", [{"role": "user", "content": "hello"}], **parameters)


def answered(content: Any, usage: Any = COUNTED, **choice: Any) -> Completion:
    message = {"role": "assistant", "content": content}
    body = {"choices": [{"message": message, "finish_reason": "stop", **choice}], "usage": usage}
    return asked(lambda _: httpx.Response(200, json=body))


def refused(status: int, text: str = "", **headers: str) -> str:
    """The cause of a missing answer."""
    with pytest.raises(InfrastructureError) as error:
        asked(lambda _: httpx.Response(status, text=text, headers=headers))
    assert "sk-secret" not in str(error.value)
    return error.value.cause


def test_a_request_has_the_key_and_the_parameters() -> None:
    def gateway(request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == "Bearer sk-secret"
        body = json.loads(request.content)
        assert (body["model"], body["messages"][0]["content"], body["temperature"]) == ("m", "hello", 0.5)
        return httpx.Response(200, json={"choices": [{"message": {"content": "yes"}}]})

    assert asked(gateway, temperature=0.5) == Completion("yes", "", None)


def test_a_request_is_retried_if_the_gateway_allows_it() -> None:
    """It waited in vain for money that other requests had reserved, and may fit now."""
    again = httpx.Response(429, headers={"x-should-retry": "true", "retry-after": "0"})
    replies = iter([again, again, httpx.Response(200, json={"choices": [{"message": {"content": "yes"}}]})])
    assert asked(lambda _: next(replies)).text == "yes"
    assert refused(429, **{"x-should-retry": "false"}) == "provider_429"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("yes", "yes"),
        ("", ""),
        (None, ""),
        ([{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}], "yes"),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}, {"type": "text", "text": "yes"}], "yes"),
        ([{"text": "yes"}], "yes"),
        ([], ""),
    ],
)
def test_the_text_of_an_answer(content: Any, text: str) -> None:
    """Mistral's and Anthropic's answers have parts; a list as the text ended a rater in a traceback."""
    assert answered(content) == Completion(text, "stop", Usage(9, 4))


@pytest.mark.trap("usage-missing-is-free")
@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        [],
        "none",
        {"prompt_tokens": 9},
        {"completion_tokens": 4},
        {"prompt_tokens": "9", "completion_tokens": 4},
        {"prompt_tokens": 9.5, "completion_tokens": 4},
        {"prompt_tokens": 0, "completion_tokens": 0},
        {"input_tokens": 9, "output_tokens": 4},
    ],
)
def test_a_usage_that_does_not_count_is_unknown(usage: Any) -> None:
    """The answer counts, and its cost is unknown instead of zero."""
    assert answered("yes", usage) == Completion("yes", "stop", None)


@pytest.mark.parametrize(
    ("details", "usage"),
    [
        ({}, Usage(9, 4)),
        ({"prompt_tokens_details": None, "completion_tokens_details": None}, Usage(9, 4)),
        ({"prompt_tokens_details": {"cached_tokens": None}}, Usage(9, 4)),
        ({"prompt_tokens_details": [], "completion_tokens_details": 3}, Usage(9, 4)),
        ({"prompt_tokens_details": {"cached_tokens": 5, "audio_tokens": 0}}, Usage(9, 4, 5)),
        ({"prompt_tokens_details": {"cached_tokens": 5, "cache_creation_tokens": 4}}, Usage(9, 4, 5, 4)),
        ({"completion_tokens_details": {"reasoning_tokens": 4}}, Usage(9, 4, 0, 0, 4)),
        ({"total_tokens": 13, "cost": 0.1, "prompt_cache_hit_tokens": 5}, Usage(9, 4)),
        ({"total_tokens": 99}, Usage(9, 90, 0, 0, 86)),
    ],
)
def test_the_usage_of_an_answer(details: dict[str, Any], usage: Usage) -> None:
    """Besides the two token counts, the fields differ by provider."""
    assert answered("yes", COUNTED | details).usage == usage


def test_an_empty_answer_may_have_no_tokens() -> None:
    assert answered("", {"prompt_tokens": 9}) == Completion("", "stop", Usage(9))
    assert answered("", None, finish_reason=None) == Completion("", "", None)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "<html>Bad gateway</html>",
        "null",
        "[]",
        "{}",
        '{"choices": []}',
        '{"choices": [{}]}',
        '{"choices": [{"message": null}]}',
        '{"choices": [{"message": {"content": 3}}]}',
        '{"choices": [{"message": {"content": ["yes"]}}]}',
        "[" * 5000,
    ],
)
def test_an_answer_of_another_form_is_a_fault_of_the_gateway(body: str) -> None:
    assert refused(200, body) == "gateway"


@pytest.mark.invariant(4)
@pytest.mark.parametrize(
    ("status", "text", "headers", "cause"),
    [
        (500, "", {}, "provider_500"),
        (429, "slow down", {}, "provider_429"),
        (400, "", {CAUSE: "context"}, "context"),
        (400, "", {CAUSE: "refused"}, "refused"),
        (401, "", {CAUSE: "configuration"}, "configuration"),
        (503, "", {CAUSE: "provider"}, "provider_503"),
        (429, '{"error": {"message": "x", "type": "budget_exceeded"}}', {}, "budget_exceeded"),
        (302, "", {"location": "http://elsewhere"}, "provider_302"),
    ],
)
def test_the_cause_of_a_failed_request(status: int, text: str, headers: dict[str, str], cause: str) -> None:
    assert refused(status, text, **headers) == cause


@pytest.mark.invariant(4)
@pytest.mark.parametrize("error", [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError])
def test_an_unreachable_gateway_is_a_fault_without_the_key(error: type[httpx.TransportError]) -> None:
    def gone(request: httpx.Request) -> httpx.Response:
        raise error("sk-secret", request=request)

    with pytest.raises(InfrastructureError, match=f"does not answer: {error.__name__}") as found:
        asked(gone)
    assert found.value.cause == "gateway" and "sk-secret" not in str(found.value)
