"""Asking a model: an unparsable answer is requested once more, a missing one has a cause, and all of it is plain
data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context

import cloudpickle
import httpx
import pytest
from pydantic import BaseModel

from pipeline.llm.asking import Answer, BadAnswer, Request, ask, last_object
from pipeline.llm.provider import Fault, Output
from pipeline.llm.scripted import ScriptedModel

MESSAGES = ({"role": "system", "content": "Grade it."}, {"role": "user", "content": "It."})


class Grade(BaseModel):
    """The rating in these tests."""

    grade: int
    why: str = ""


@dataclass
class Speaker(ScriptedModel):
    """Gives its answers one after the other, and repeats the last one."""

    answers: list[str] = field(default_factory=list)

    def reply(self, prompt: str) -> Output:
        return Output(self.answers.pop(0) if self.answers[1:] else self.answers[0])


Say = Callable[..., tuple[Speaker, Request]]


@pytest.fixture
def say() -> Iterator[Say]:
    with Speaker([]) as speaker:

        def said(*answers: str) -> tuple[Speaker, Request]:
            speaker.answers[:] = answers
            read = partial(last_object, kind=Grade, needed="grade")
            return speaker, Request(speaker.url, "key", "scripted", MESSAGES, read, "Wrong: {}.", {"temperature": 0.1})

        yield said


def test_an_answer_is_plain_data(say: Say) -> None:
    speaker, request = say('I think aloud. {"grade": 1} No: {"grade": 2, "why": "{names}", "mood": "good"}')
    assert ask(request) == Answer({"grade": 2, "why": "{names}"})
    assert speaker.requests[0].body["messages"] == list(MESSAGES)
    assert speaker.requests[0].body["temperature"] == 0.1


def test_an_unreadable_answer_is_requested_again_with_the_reason(say: Say) -> None:
    speaker, request = say("no idea", '{"grade": 3}')
    assert ask(request) == Answer({"grade": 3, "why": ""})
    *before, rejected, again = speaker.requests[1].body["messages"]
    assert (before, rejected["content"]) == (list(MESSAGES), "no idea")
    assert again == {"role": "user", "content": "Wrong: there is no JSON object with a grade."}


@pytest.mark.trap("cut-answer-votes")
def test_a_draft_in_an_answer_that_was_cut_off_does_not_count(say: Say) -> None:
    speaker, request = say(f'A draft: {{"grade": 1}} But no: {"so " * 40}', '{"grade": 3}')
    speaker.fail(Fault(truncated=True))
    assert ask(request).value == {"grade": 3, "why": ""}
    assert speaker.requests[1].body["messages"][-1]["content"] == "Wrong: the answer was cut off."


def test_after_two_unreadable_answers_it_is_missing_with_its_cause(say: Say) -> None:
    speaker, request = say("no idea", '{"grade": "high"}', '{"grade": 3}')
    found = ask(request)
    assert found.value is None and found.missing.startswith("bad answer: grade: Input should be a valid integer")
    assert len(speaker.requests) == 2


@pytest.mark.invariant(4)
def test_a_providers_failure_is_kept_apart_from_a_missing_answer(say: Say) -> None:
    speaker, request = say('{"grade": 3}')
    speaker.fail(Fault(status=503))
    assert ask(request) == Answer(failure="provider_503")
    assert ask(request).value == {"grade": 3, "why": ""}
    assert ask(replace(request, base_url="http://127.0.0.1:9/v1")).failure == "gateway"


def test_a_custom_read_function_may_refuse(say: Say) -> None:
    def even(text: str) -> Grade:
        if int(text) % 2:
            raise BadAnswer(f"{text} is odd")
        return Grade(grade=int(text))

    _, request = say("3", "4")
    assert ask(replace(request, read=even)).value == {"grade": 4, "why": ""}


@pytest.mark.invariant(6)
def test_the_key_is_not_in_the_repr() -> None:
    assert "secret" not in repr(Request("http://gateway/v1", "secret", "m", MESSAGES, len, ""))


def test_a_request_can_be_sent_from_another_process(say: Say) -> None:
    """A request and its answer travel there and back as plain data."""
    _, request = say('{"grade": 3}')
    assert cloudpickle.loads(cloudpickle.dumps(ask))(cloudpickle.loads(cloudpickle.dumps(request))) == ask(request)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:
        assert other.submit(ask, replace(request, read=_grade)).result() == ask(request)


def _grade(text: str) -> Grade:
    return last_object(text, Grade, "grade")


@pytest.mark.parametrize("cause", ["context", "refused"])
def test_a_permanent_refusal_is_a_missing_answer(say: Say, cause: str) -> None:
    """A question that cannot be answered is kept as missing; otherwise it would be asked again for ever."""
    speaker, request = say("unheard")
    speaker.fail(Fault(400))

    def tell(reply: httpx.Response) -> None:
        reply.headers["x-a11y-bench-cause"] = cause

    with httpx.Client(base_url=request.base_url, event_hooks={"response": [tell]}) as line:
        assert ask(request, line) == Answer(missing=cause)
