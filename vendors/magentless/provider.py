"""The only door to the model: one OpenAI-compatible chat completion at a time, every one recorded.

The model's name goes out exactly as given on the command line. Retries, with the provider's Retry-After, are the
client library's. The key is in no record and no message. What a model thinks aloud between <think> marks is recorded
and is not part of its answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from openai import APIConnectionError, APIError, OpenAI
from openai.types.chat import ChatCompletion

from magentless.causes import ERRORS_BY_TEXT, FAULTS_BY_STATUS, Cause, Ended, Fault, ProviderFailure
from magentless.inputs import Provider

ERROR_TEXT_CHARS = 200  # the beginning tells the kind; further on a provider may quote the prompt
THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Endpoint:
    """Where the model is reached, and the key of the experiment."""

    base_url: str
    api_key: str = field(repr=False)


class ChatModel:
    """A model behind an endpoint. `trajectory` holds a record for each request that was answered."""

    def __init__(self, name: str, endpoint: Endpoint, settings: Provider) -> None:
        self.name = name
        self.trajectory: list[dict[str, Any]] = []
        self._key = endpoint.api_key
        self._client = OpenAI(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key,
            max_retries=settings.max_retries,
            timeout=settings.timeout_seconds,
        )

    def ask(self, step: str, prompt: str, *, temperature: float, max_tokens: int) -> str:
        """The answer's text. Raises Ended when there is none, ProviderFailure when the provider failed."""
        messages = [{"role": "user", "content": prompt}]
        request = {"model": self.name, "messages": messages, "temperature": temperature, "max_tokens": max_tokens}
        try:
            completion = self._client.chat.completions.create(**request)
        except APIError as error:
            raise self._meaning(error) from None
        reply, finish = _first_choice(completion)
        usage = completion.usage.model_dump(exclude_none=True) if completion.usage else {}
        self.trajectory.append({"step": step, **request, "reply": reply, "finish_reason": finish, "usage": usage})
        answer = THOUGHT.sub("", reply)
        if not answer.strip():
            raise Ended(Cause.NO_MODEL_RESPONSE, f"{step}: the answer is empty (finish reason: {finish})")
        return answer

    def _meaning(self, error: APIError) -> Ended | ProviderFailure:
        message = f"{type(error).__name__}: {error}".replace(self._key, "***")
        text = f"{error.code} {error.type} {message[:ERROR_TEXT_CHARS]}"
        told = next((cause for word, cause in ERRORS_BY_TEXT if word in text), None)
        if isinstance(told, Cause):
            return Ended(told, message)
        return ProviderFailure(told or _fault(error), message)


def _fault(error: APIError) -> Fault:
    if isinstance(error, APIConnectionError):
        return Fault.UNREACHABLE
    status = getattr(error, "status_code", None)
    return next((fault for code, fault in FAULTS_BY_STATUS if code == status), Fault.PROVIDER_ERROR)


def _first_choice(completion: ChatCompletion) -> tuple[str, str | None]:
    if not completion.choices:
        return "", None
    choice = completion.choices[0]
    text = choice.message.content or ""
    return text.encode("utf-8", "replace").decode("utf-8"), choice.finish_reason
