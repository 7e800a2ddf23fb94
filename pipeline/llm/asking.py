"""Asking a model for an answer that must parse: plain data in, plain data out, in any thread or process.

An unreadable answer is requested once more, with what was wrong, and is then missing with its cause. What a provider or
a budget owes is marked as such and may be asked again. A question that is too long or refused is not. Writes nothing;
the gateway books the cost.
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
from pipeline.llm.chat import OWN, Message, chat, connect

M = TypeVar("M", bound=BaseModel)
#: from the text of an answer to what it says. Raises BadAnswer
Read = Callable[[str], BaseModel]

#: answers to one request at most
TRIES = 2
#: how an object with fields begins
_OPENING = re.compile(r'\{\s*"')


class BadAnswer(A11yBenchError):
    """An answer that cannot be read; the message says why, and the model is told."""


@dataclass(frozen=True)
class Request:
    """What is asked, of whom, and how its answer is read.

    `again` is what is said after an answer that cannot be read, with {} for what was wrong; `parameters` are those of
    OpenAI's protocol; `key` is one of the gateway at `base_url`.
    """

    base_url: str
    key: str = field(repr=False)
    model: str
    messages: tuple[Message, ...]
    read: Read
    again: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """What was read as plain data; else why the answer is `missing`, or what is `owed` (the cause, as one word)."""

    value: dict[str, Any] | None = None
    missing: str = ""
    owed: str = ""


def ask(request: Request, line: httpx.Client | None = None) -> Answer:
    """The answer to a request, over a connection that threads may share, or one of its own."""
    with nullcontext(line) if line else connect(request.base_url) as gateway:
        try:
            return _read(request, gateway)
        except InfrastructureError as error:
            return Answer(missing=error.cause) if error.cause in OWN else owed(error)


def owed(error: Exception) -> Answer:
    """The answer that is owed for what the machine, or this program, failed at."""
    return Answer(owed=error.cause if isinstance(error, InfrastructureError) else type(error).__name__)


def _read(request: Request, gateway: httpx.Client) -> Answer:
    asked, why = list(request.messages), ""
    for _ in range(TRIES):
        text = chat(gateway, request.key, request.model, asked, **request.parameters)
        try:
            return Answer(request.read(text).model_dump(mode="json"))
        except BadAnswer as error:
            why = str(error)
        asked = [*request.messages, *_once_more(text, request.again.format(why))]
    return Answer(missing=f"bad answer: {why}")


def _once_more(text: str, again: str) -> list[Message]:
    return [{"role": "assistant", "content": text or "(nothing)"}, {"role": "user", "content": again}]


def last_object(text: str, kind: type[M], needed: str) -> M:
    """The last JSON object of a text that has a field `needed`, as a record: some models think aloud before.

    Other fields than the record's are left out. Raises BadAnswer.
    """
    found = [one for one in _objects(text) if needed in one]
    if not found:
        raise BadAnswer(f"there is no JSON object with a {needed}")
    try:
        return kind.model_validate({name: found[-1][name] for name in kind.model_fields if name in found[-1]})
    except ValidationError as error:
        first = error.errors()[0]
        raise BadAnswer(f"{first['loc'][0]}: {first['msg']}") from None


def _objects(text: str) -> Iterator[dict[str, Any]]:
    """The outermost JSON objects of a text."""
    decoder, end = json.JSONDecoder(strict=False), 0
    for start in _OPENING.finditer(text):
        if start.start() >= end:
            with suppress(ValueError, RecursionError):
                found, end = decoder.raw_decode(text, start.start())
                yield found
