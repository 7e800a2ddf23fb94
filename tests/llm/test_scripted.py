"""The scripted model speaks a provider's protocol, including faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pipeline.core.errors import UserError
from pipeline.llm.provider import Fault
from pipeline.llm.scripted import Answer, ScriptedModel, load_answers

ANSWERS = [Answer(("button", "label"), "use aria-label"), Answer(("button",), "a button"), Answer(("eight",), "x" * 60)]


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with ScriptedModel(list(ANSWERS)) as model:
        yield model


def chat(model: ScriptedModel, *contents: object, **more: object) -> httpx.Response:
    messages = [{"role": "user", "content": content} for content in contents]
    return httpx.post(f"{model.url}/chat/completions", json={"model": "m", "messages": messages, **more}, timeout=10)


def test_the_first_answer_with_all_markers_wins(model: ScriptedModel) -> None:
    def said(*contents: object) -> str:
        return chat(model, *contents).json()["choices"][0]["message"]["content"]

    assert said("this button", "has no label") == "use aria-label"
    assert said([{"type": "text", "text": "this button"}]) == "a button"


def test_usage_is_counted(model: ScriptedModel) -> None:
    answer = chat(model, "eight ch").json()
    assert answer["usage"] == {"prompt_tokens": 2, "completion_tokens": 15, "total_tokens": 17}
    assert answer["choices"][0]["finish_reason"] == "stop"


def test_an_unforeseen_prompt_is_refused(model: ScriptedModel) -> None:
    answer = chat(model, "unforeseen " * 100)
    assert answer.status_code == 400
    assert answer.json()["error"]["message"].endswith(("unforeseen " * 100)[:200])


def test_a_stream_carries_the_reply_and_its_usage(model: ScriptedModel) -> None:
    lines = chat(model, "eight ch", stream=True, stream_options={"include_usage": True}).text.split("\n\n")
    assert lines[-2] == "data: [DONE]"
    events = [json.loads(line.removeprefix("data: ")) for line in lines[:-2]]
    assert "".join(event["choices"][0]["delta"].get("content", "") for event in events[:-1]) == "x" * 60
    assert events[-1]["usage"]["completion_tokens"] == 15


def test_faults_occur_once_and_in_order(model: ScriptedModel) -> None:
    model.fail(Fault(429, retry_after=3), Fault(500), Fault(empty=True), Fault(truncated=True))
    limited, broken, empty, truncated, whole = (chat(model, "eight ch") for _ in range(5))
    assert (limited.status_code, limited.headers["Retry-After"], broken.status_code) == (429, "3", 500)
    assert empty.json()["choices"][0]["message"]["content"] == ""
    assert truncated.json()["choices"][0]["finish_reason"] == "length"
    assert truncated.json()["usage"]["completion_tokens"] == 8
    assert whole.json()["choices"][0]["message"]["content"] == "x" * 60


def test_a_tool_is_called_in_one_piece_or_as_a_stream(model: ScriptedModel) -> None:
    model.answers.insert(0, Answer(("sky",), "", ("look", '{"at": "sky"}')))
    choice = chat(model, "the sky").json()["choices"][0]
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "look", "arguments": '{"at": "sky"}'}
    assert choice["finish_reason"] == "tool_calls"
    assert '"tool_calls": [{"index": 0' in chat(model, "the sky", stream=True).text


def test_a_stream_can_break_off(model: ScriptedModel) -> None:
    model.fail(Fault(breaks=True))
    with pytest.raises(httpx.RemoteProtocolError):
        chat(model, "eight ch", stream=True)


def test_answers_have_different_ids(model: ScriptedModel) -> None:
    assert chat(model, "button").json()["id"] != chat(model, "button").json()["id"]


def test_tokens_can_be_cached(model: ScriptedModel) -> None:
    model.fail(Fault(cached=1))
    assert chat(model, "eight ch").json()["usage"]["prompt_tokens_details"] == {"cached_tokens": 1}


def test_an_answer_can_be_delayed(model: ScriptedModel) -> None:
    model.fail(Fault(delay=0.3))
    assert chat(model, "button").elapsed.total_seconds() >= 0.3


def test_embeddings_of_similar_texts_are_near(model: ScriptedModel) -> None:
    texts = ["toggle button label", "label of the toggle button", "database schema"]
    answer = httpx.post(f"{model.url}/embeddings", json={"model": "m", "input": texts}).json()
    first, near, far = (row["embedding"] for row in answer["data"])
    assert _dot(first, near) > 0.7 > _dot(first, far)
    assert _dot(first, first) == pytest.approx(1)
    assert answer["usage"]["prompt_tokens"] == 16


def _dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_requests_are_recorded(model: ScriptedModel) -> None:
    chat(model, "button")
    assert [(request.path, request.body["model"]) for request in model.requests] == [("/v1/chat/completions", "m")]


def test_answers_are_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    path.write_text('[[answer]]\ninstance = "o__r-1"\nstep = "repair"\nreply = "diff"\n', encoding="utf-8")
    assert load_answers(path, lambda *marks: marks) == [Answer(("o__r-1", "repair"), "diff")]


def test_a_tool_is_read_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "model.toml"
    text = '[[answer]]\ninstance = "i"\nstep = "s"\nreply = ""\ntool = {name = "run", arguments = {command = "ls"}}\n'
    path.write_text(text, encoding="utf-8")
    assert load_answers(path, lambda *marks: marks) == [Answer(("i", "s"), "", ("run", '{"command": "ls"}'))]
    path.write_text(text.replace("name =", "nome ="), encoding="utf-8")
    with pytest.raises(UserError, match="a table of name and arguments"):
        load_answers(path, lambda *marks: marks)


@pytest.mark.parametrize(("text", "field"), [("[[answer]]\ninstance = 'x'\n", "answer[0].step"), ("answer = [", None)])
def test_a_broken_file_is_bad_input(tmp_path: Path, text: str, field: str | None) -> None:
    path = tmp_path / "model.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        load_answers(path, lambda *marks: marks)
    assert (caught.value.path, caught.value.field) == (path, field)
