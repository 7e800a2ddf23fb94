"""Asking a model for an answer that must parse: plain data in, plain data out, in any thread or process.

An unreadable answer is requested once more, with the problem, and is then missing with its cause. If a provider or a
budget is to blame, the answer has a failure and may be asked for again; if the question is too long or refused, it may
not. Writes nothing; the gateway books the cost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from pipeline.core.errors import A11yBenchError, InfrastructureError
from pipeline.llm.chat import OWN, Message, connect, say
from pipeline.llm.models import TIME_LIMIT

M = TypeVar("M", bound=BaseModel)
#: from the text of an answer to its content. Raises BadAnswer
Read = Callable[[str], BaseModel]

#: the most answers to one request
TRIES = 2
#: why an answer stopped that reached the token limit: it may end in a draft
CUT = "length"
#: how an object with fields begins
_OPENING = re.compile(r'\{\s*"')


class BadAnswer(A11yBenchError):
    """An answer that cannot be read; the message says why, and the model is told."""


@dataclass(frozen=True)
class Request:
    """What is asked, which model, and how its answer is read.

    `again` is the message after an unreadable answer, with {} for the problem; `parameters` are those of OpenAI's
    protocol; `key` is a key of the gateway at `base_url`, and `seconds` the time for an answer.
    """

    base_url: str
    key: str = field(repr=False)
    model: str
    messages: tuple[Message, ...]
    read: Read
    again: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = TIME_LIMIT


@dataclass(frozen=True)
class Answer:
    """The content as plain data; else why the answer is `missing` for good, or the `failure` (a cause in one word)."""

    value: dict[str, Any] | None = None
    missing: str = ""
    failure: str = ""


def ask(request: Request, line: httpx.Client | None = None) -> Answer:
    """The answer to a request, over a connection that threads may share, or over a new one."""
    with nullcontext(line) if line else connect(request.base_url, request.seconds) as gateway:
        try:
            return _read(request, gateway)
        except InfrastructureError as error:
            return Answer(missing=error.cause) if error.cause in OWN else unanswered(error)


def unanswered(error: Exception) -> Answer:
    """The answer after a failure of the machine or of this program."""
    return Answer(failure=error.cause if isinstance(error, InfrastructureError) else type(error).__name__)


def _read(request: Request, gateway: httpx.Client) -> Answer:
    messages, problem = list(request.messages), ""
    for _ in range(TRIES):
        text, finish, _ = say(gateway, request.key, request.model, messages, **request.parameters)
        try:
            if finish == CUT:
                raise BadAnswer("the answer was cut off")
            return Answer(request.read(text).model_dump(mode="json"))
        except BadAnswer as error:
            problem = str(error)
        messages = [*request.messages, *_once_more(text, request.again.format(problem))]
    return Answer(missing=f"bad answer: {problem}")


def _once_more(text: str, again: str) -> list[Message]:
    return [{"role": "assistant", "content": text or "(nothing)"}, {"role": "user", "content": again}]


def last_object(text: str, kind: type[M], needed: str) -> M:
    """The last JSON object of a text that has a field `needed`, as a record: some models think aloud first.

    Fields that the record does not have are left out. Raises BadAnswer.
    """
    objects = [parsed for parsed in _objects(text) if needed in parsed]
    if not objects:
        raise BadAnswer(f"there is no JSON object with a {needed}")
    try:
        return kind.model_validate({name: objects[-1][name] for name in kind.model_fields if name in objects[-1]})
    except ValidationError as error:
        problem = error.errors()[0]
        raise BadAnswer(f"{problem['loc'][0]}: {problem['msg']}") from None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects of a text."""
    decoder, end = json.JSONDecoder(strict=False), 0
    for start in _OPENING.finditer(text):
        if start.start() >= end:
            with suppress(ValueError, RecursionError):
                parsed, end = decoder.raw_decode(text, start.start())
                yield parsed
