"""What a provider's answers and errors mean."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from magentless.causes import Cause, Ended, Fault, ProviderFailure
from magentless.inputs import Provider
from magentless.provider import ChatModel, Endpoint

NO_RETRIES = Provider(max_retries=0, timeout_seconds=5)


@contextmanager
def answering(status: int, body: dict[str, Any]) -> Iterator[ChatModel]:
    """A model whose provider gives this one answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        yield ChatModel("m", Endpoint(f"http://127.0.0.1:{server.server_port}/v1", "sk-secret-1"), NO_RETRIES)


def completion(content: str | None, **choice: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"message": message, **choice}],
    }


def ask(model: ChatModel) -> str:
    return model.ask("repair", "prompt", temperature=0.0, max_tokens=10)


@pytest.mark.parametrize(
    ("status", "error", "fault"),
    [
        (422, {"type": "budget_exceeded", "message": "Budget has been exceeded"}, Fault.BUDGET_EXCEEDED),
        (429, {"type": "budget_exceeded", "message": "Budget has been exceeded"}, Fault.BUDGET_EXCEEDED),
        (404, {"message": "no such model"}, Fault.UNKNOWN_MODEL),
        (400, {"message": "bad request"}, Fault.PROVIDER_ERROR),
    ],
)
@pytest.mark.invariant(4)
def test_what_breaks_outside_is_a_fault(status, error, fault):
    """An infrastructure fault is never a model failure; a reached budget says so."""
    with answering(status, {"error": error}) as model, pytest.raises(ProviderFailure) as failure:
        ask(model)
    assert failure.value.fault == fault


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ({"code": "context_length_exceeded", "message": "too long"}, Cause.CONTEXT_OVERFLOW),
        ({"message": "litellm.ContextWindowExceededError: too long"}, Cause.CONTEXT_OVERFLOW),
        ({"code": "content_filter", "message": "refused"}, Cause.NO_MODEL_RESPONSE),
    ],
)
def test_what_the_prompt_causes_is_an_outcome(error, cause):
    with answering(400, {"error": error}) as model, pytest.raises(Ended) as end:
        ask(model)
    assert end.value.cause == cause


def test_a_quoted_prompt_does_not_decide_what_an_error_means():
    quoted = {"message": f"cannot serve this: {'x' * 300} budget_exceeded"}
    with answering(400, {"error": quoted}) as model, pytest.raises(ProviderFailure) as failure:
        ask(model)
    assert failure.value.fault == Fault.PROVIDER_ERROR


@pytest.mark.invariant(6)
def test_an_error_that_quotes_the_key_is_cleaned():
    """No secret is written to data, a log or a report."""
    with (
        answering(401, {"error": {"message": "bad key sk-secret-1"}}) as model,
        pytest.raises(ProviderFailure) as failure,
    ):
        ask(model)
    assert "sk-secret-1" not in str(failure.value) and "***" in str(failure.value)


def test_nobody_there():
    model = ChatModel("m", Endpoint("http://127.0.0.1:9/v1", "k"), NO_RETRIES)
    with pytest.raises(ProviderFailure) as failure:
        ask(model)
    assert failure.value.fault == Fault.UNREACHABLE


@pytest.mark.parametrize(
    "body", [completion(None), completion(" \n"), completion("<think>hm"), {**completion(""), "choices": []}]
)
def test_no_answer_is_an_outcome_and_is_recorded(body):
    with answering(200, body) as model, pytest.raises(Ended, match="NO_MODEL_RESPONSE"):
        ask(model)
    assert len(model.trajectory) == 1


def test_thoughts_are_recorded_and_are_no_answer():
    with answering(200, completion("<think>first\n</think>then", finish_reason="stop")) as model:
        assert ask(model) == "then"
    assert model.trajectory[0]["reply"].startswith("<think>")


def test_half_a_character_is_no_crash():
    with answering(200, completion("a\ud800b", finish_reason="stop")) as model:
        assert ask(model) == "a?b"
