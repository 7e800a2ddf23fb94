"""A first request for embeddings: only a wrong configuration ends an experiment."""

from __future__ import annotations

import json

import httpx
import pytest

from pipeline.llm.chat import CAUSE
from pipeline.llm.preflight import refusal, unusable


def refused(reply: httpx.Response | Exception) -> str:
    def gateway(request: httpx.Request) -> httpx.Response:
        assert (request.url.path, request.headers["authorization"]) == ("/embeddings", "Bearer sk-secret")
        assert json.loads(request.content)["model"] == "m"
        if isinstance(reply, Exception):
            raise reply
        return reply

    with httpx.Client(base_url="http://gateway", transport=httpx.MockTransport(gateway)) as client:
        return refusal(client, "sk-secret", "m")


def answer(
    status: int, cause: str = "", text: str = '{"error": {"message": "wrong key\\nand more"}}'
) -> httpx.Response:
    return httpx.Response(status, text=text, headers={CAUSE: cause} if cause else {})


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (answer(200), ""),
        (answer(401, "configuration"), "status 401: wrong key\nand more"),
        (answer(404, "configuration", "no such page"), "status 404: no such page"),
        (answer(404, "configuration", '{"error": "no"}'), 'status 404: {"error": "no"}'),
        (answer(413, "configuration"), ""),
        (answer(503, "provider"), ""),
        (answer(400, "budget_exceeded"), ""),
        (answer(401), ""),
        (httpx.ConnectError("gone"), ""),
    ],
)
def test_only_a_wrong_configuration_is_refused(reply: httpx.Response | Exception, why: str) -> None:
    """Other failures may pass, or mean that the budget is used up."""
    assert refused(reply) == why


def test_the_message_names_model_and_cause_in_one_line() -> None:
    message = unusable("m", "status 401: wrong key\nand more")
    assert message == "the model 'm' cannot be asked (configuration): status 401: wrong key"
