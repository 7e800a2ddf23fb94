"""The meaning of a provider's answers and errors."""

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
from magentless.provider import Ask, ChatModel, EmbeddingModel, Trajectory
from magentless.wire import Endpoint, Wire

NO_RETRIES = Provider(max_retries=0, timeout_seconds=5)


def wire(url: str) -> Wire:
    return Wire(Endpoint(url, "sk-secret-1", "sk-shared-1"), NO_RETRIES)


@contextmanager
def answering(status: int, body: dict[str, Any] | str, told: str = "") -> Iterator[Wire]:
    """A client of a provider that gives this one answer."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if told:
                self.send_header("x-a11y-bench-cause", told)
            self.end_headers()
            self.wfile.write(body.encode() if isinstance(body, str) else json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        yield wire(f"http://127.0.0.1:{server.server_port}/v1")


def completion(content: str | None, **choice: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content}
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"message": message, **choice}],
    }


def ask(way: Wire, trajectory: Trajectory | None = None, *, in_lines: bool = False) -> str:
    model = ChatModel("m", way, [] if trajectory is None else trajectory)
    return model.ask(Ask("repair", 0, 0.0, 10, in_lines), [{"role": "user", "content": "prompt"}])


@pytest.mark.parametrize(
    ("status", "error", "message", "fault"),
    [
        (422, {"type": "budget_exceeded", "message": "Budget has been exceeded"}, "", Fault.BUDGET_EXCEEDED),
        (429, {"type": "budget_exceeded", "message": "Budget has been exceeded"}, "provider", Fault.BUDGET_EXCEEDED),
        (404, {"message": "no such model"}, "configuration", Fault.CONFIGURATION),
        (400, {"message": "'temperature' is not supported"}, "configuration", Fault.CONFIGURATION),
        (400, {"message": "bad request"}, "", Fault.PROVIDER_ERROR),
        (429, {"message": "slower"}, "provider", Fault.RATE_LIMITED),
    ],
)
@pytest.mark.invariant(4)
def test_an_error_of_the_provider_is_a_fault(status, error, message, fault):
    """An infrastructure fault is never a model's failure; a reached budget is reported as such."""
    with answering(status, {"error": error}, message) as way, pytest.raises(ProviderFailure) as failure:
        ask(way)
    assert failure.value.fault == fault


@pytest.mark.parametrize(
    ("message", "cause"), [("context", Cause.CONTEXT_OVERFLOW), ("refused", Cause.NO_MODEL_RESPONSE)]
)
def test_an_error_caused_by_the_prompt_is_an_outcome(message, cause):
    """The gateway knows every provider's message for it, and the agent passes it on."""
    with answering(400, {"error": {"message": "no"}}, message) as way, pytest.raises(Ended) as end:
        ask(way)
    assert end.value.cause == cause


def test_a_quoted_prompt_does_not_decide_what_an_error_means():
    quoted = {"message": f"cannot serve this: {'x' * 300} budget_exceeded"}
    with answering(400, {"error": quoted}) as way, pytest.raises(ProviderFailure) as failure:
        ask(way)
    assert failure.value.fault == Fault.PROVIDER_ERROR


@pytest.mark.invariant(6)
def test_an_error_that_quotes_the_key_is_cleaned():
    """No secret is written to data, a log or a report."""
    with (
        answering(401, {"error": {"message": "bad key sk-secret-1"}}) as way,
        pytest.raises(ProviderFailure) as failure,
    ):
        ask(way)
    assert "sk-secret-1" not in str(failure.value) and "***" in str(failure.value)


def test_an_unreachable_provider_is_a_fault():
    with pytest.raises(ProviderFailure) as failure:
        ask(wire("http://127.0.0.1:9/v1"))
    assert failure.value.fault == Fault.UNREACHABLE


@pytest.mark.parametrize(
    "body", [completion(None), completion(" \n"), completion("<think>hm"), {**completion(""), "choices": []}]
)
def test_an_empty_answer_is_an_outcome_and_is_recorded(body):
    trajectory: Trajectory = []
    with answering(200, body) as way, pytest.raises(Ended, match="NO_MODEL_RESPONSE"):
        ask(way, trajectory)
    assert len(trajectory) == 1


@pytest.mark.parametrize(
    ("reply", "finish", "text"),
    [
        ("<think>first\n</think>then", "stop", "then"),
        ("first\n</think>then", "stop", "then"),
        ("<think>a</think>b<think>c</think>d", "stop", "bd"),
        ("<think>first, then the answer", "stop", "first, then the answer"),
        ("so far\n<think>and cut", "length", "so far"),
        ("<thinking>first\n</thinking>then", "stop", "then"),
        ("\n<Thinking>first</Thinking>then", "stop", "then"),
        ("<THINK>first</THINK>then", "stop", "then"),
        ("first\n</thinking>then", "stop", "then"),
        ("so far\n<thinking>and cut", "length", "so far"),
        ("<b><Thinking>a component</Thinking></b>", "stop", "<b><Thinking>a component</Thinking></b>"),
    ],
)
def test_thoughts_are_recorded_but_not_part_of_the_answer(reply, finish, text):
    """Some servers swallow the first mark, and some models forget the second."""
    with answering(200, completion(reply, finish_reason=finish)) as way:
        assert ask(way, trajectory := [], in_lines=True) == text
    assert trajectory[0]["reply"] == reply


@pytest.mark.trap("cut-answer-votes")
def test_a_cut_answer_is_refused():
    """Half a change, applied as if it were complete, would vote like the others."""
    with answering(200, completion("### a.ts\n<<<", finish_reason="length")) as way, pytest.raises(Ended) as end:
        ask(way)
    assert (end.value.cause, "after 10 tokens" in end.value.detail) == (Cause.CUT_ANSWER, True)


@pytest.mark.parametrize("reply", [None, "<think>so far"])
def test_an_answer_that_was_cut_while_the_model_thinks_was_cut(reply):
    with answering(200, completion(reply, finish_reason="length")) as way, pytest.raises(Ended, match="CUT_ANSWER"):
        ask(way)


def test_only_complete_lines_of_a_cut_list_count():
    with answering(200, completion("a.ts\nline: 12\nline: 4", finish_reason="length")) as way:
        assert ask(way, in_lines=True) == "a.ts\nline: 12"


def test_a_filtered_answer_is_no_response():
    body = completion("### a.ts", finish_reason="content_filter")
    with answering(200, body) as way, pytest.raises(Ended, match="NO_MODEL_RESPONSE"):
        ask(way)


def test_a_lone_surrogate_is_replaced():
    with answering(200, completion("a\ud800b", finish_reason="stop")) as way:
        assert ask(way) == "a?b"


@pytest.mark.trap("retrieval-error-swallowed")
@pytest.mark.parametrize("body", [{"data": []}, {}, {"error": {"code": "context_length_exceeded"}}])
def test_a_wrong_number_of_embeddings_is_a_failure(body):
    """MagentLess swallows an error of retrieval, and a later step crashes because its result is missing."""
    status = 400 if "error" in body else 200
    with answering(status, body) as way, pytest.raises(ProviderFailure, match="embedding with e"):
        EmbeddingModel("e", way, []).embed(["text"], shared=True)


def test_vectors_have_the_order_of_the_texts():
    rows = [{"index": 1, "embedding": [1.0]}, {"index": 0, "embedding": [0.0]}]
    with answering(200, {"data": rows}) as way:
        assert EmbeddingModel("e", way, []).embed(["a", "b"], shared=False) == [[0.0], [1.0]]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "ab"),
        ([{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}, {"type": "text", "text": "a"}], "a"),
        ([{"text": "a\ud800"}], "a?"),
    ],
)
def test_an_answer_may_come_in_parts(content, text):
    """Mistral's reasoning models answer this way: a list instead of a text ended the agent in a traceback."""
    with answering(200, completion(content, finish_reason="stop")) as way:
        assert ask(way, trajectory := []) == text
    assert trajectory[0]["reply"] == text


@pytest.mark.parametrize(
    "body",
    [
        {"choices": [None]},
        {"choices": ["a"]},
        {"choices": {"message": {"content": "a"}}},
        {"choices": [{"message": "a"}]},
        completion(3),
        completion(["a"]),
        completion([{"type": "text"}]),
        completion([{"type": "text", "text": None}]),
    ],
)
def test_an_answer_of_another_form_is_a_failure(body):
    """It is the provider's failure: the model is not to blame, and the agent does not crash."""
    with answering(200, body) as way, pytest.raises(ProviderFailure, match="not a chat completion") as failure:
        ask(way, trajectory := [])
    assert failure.value.fault == Fault.PROVIDER_ERROR and trajectory == []


@pytest.mark.parametrize(
    "data", [[None], [{}], [{"embedding": None}], [{"embedding": "AAAA"}], [{"embedding": [None]}], {"a": 1}, "ab"]
)
def test_vectors_of_another_form_are_a_failure(data):
    with (
        answering(200, {"data": data}) as way,
        pytest.raises(ProviderFailure, match="embedding with e: the answer has"),
    ):
        EmbeddingModel("e", way, []).embed(["a"], shared=False)


@pytest.mark.parametrize("vectors", [[[1.0], [1.0, 2.0]], [[], []]])
def test_vectors_of_different_lengths_are_a_failure(vectors):
    """They ended the agent in a traceback, and stayed in the cache."""
    data = [{"index": number, "embedding": vector} for number, vector in enumerate(vectors)]
    with answering(200, {"data": data}) as way, pytest.raises(ProviderFailure, match="different lengths"):
        EmbeddingModel("e", way, []).embed(["a", "b"], shared=True)


@pytest.mark.parametrize("text", ["", "<html>gateway time-out</html>", "[]", "[" * 5000])
def test_an_answer_that_is_not_json_is_a_failure(text):
    with answering(200, text) as way, pytest.raises(ProviderFailure, match="not a JSON"):
        ask(way)
