"""One request to a model behind the gateway, and its answer as text. Writes nothing.

The gateway retries temporary errors, says if a request is to be sent again, and books the cost on the key's experiment.
No key is in any message.
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import httpx

from pipeline.core.errors import InfrastructureError
from pipeline.llm.ledger import BUDGET_EXCEEDED
from pipeline.llm.models import TIME_LIMIT
from pipeline.llm.prices import Usage, usage_of

#: the header with the gateway's cause of a missing answer (policy.py)
CAUSE = "x-a11y-bench-cause"
#: causes for which the request itself is to blame: asking again would not help
OWN = ("context", "refused")

Message = dict[str, str]


def connect(base_url: str, seconds: float = TIME_LIMIT) -> httpx.Client:
    """A connection to a gateway's address, with seconds for an answer. The caller closes it; threads may share it."""
    return httpx.Client(base_url=base_url, timeout=seconds)


class Completion(NamedTuple):
    """A model's answer: its text, which may be empty, why it stopped, and the usage, None if unknown."""

    text: str
    finish: str = ""
    usage: Usage | None = None


def say(gateway: httpx.Client, key: str, model: str, messages: list[Message], **parameters: Any) -> Completion:
    """The model's answer with its metadata. `parameters` are those of OpenAI's protocol.

    Raises InfrastructureError with the cause `budget_exceeded`, `provider_STATUS`, `gateway`, or a cause that the
    gateway names: `context`, `refused`, `configuration`.
    """
    headers = {"Authorization": f"Bearer {key}"}
    body = {"model": model, "messages": messages, **parameters}
    try:
        reply = _posted(gateway, body, headers)
    except httpx.TransportError as error:
        raise InfrastructureError(f"the gateway does not answer: {type(error).__name__}", cause="gateway") from None
    if not reply.is_success:
        raise InfrastructureError(f"the model did not answer: status {reply.status_code}", cause=_cause(reply))
    return _completion(reply)


def _posted(gateway: httpx.Client, body: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
    """The reply. A request that waited for money and did not get it is sent again, within the time for an answer."""
    deadline = time.monotonic() + TIME_LIMIT
    while True:
        reply = gateway.post("/chat/completions", json=body, headers=headers)
        if reply.headers.get("x-should-retry") != "true" or time.monotonic() > deadline:
            return reply
        time.sleep(float(reply.headers.get("retry-after", 1)))


def _cause(reply: httpx.Response) -> str:
    if BUDGET_EXCEEDED in reply.text:
        return BUDGET_EXCEEDED
    cause = reply.headers.get(CAUSE, "provider")
    return f"provider_{reply.status_code}" if cause == "provider" else cause


def _completion(reply: httpx.Response) -> Completion:
    try:
        answer = reply.json()
        choice, usage = answer["choices"][0], usage_of(answer.get("usage"))
        text = _text(choice["message"].get("content"))
        is_counted = usage.tokens_in and (usage.tokens_out or not text)
        return Completion(text, choice.get("finish_reason") or "", usage if is_counted else None)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise InfrastructureError("the gateway's answer is not a chat completion", cause="gateway") from None


def _text(content: Any) -> str:
    """The text of a message, which some providers give in parts, next to parts with reasoning. Raises TypeError."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type", "text") == "text")
    if not isinstance(content, str | None):
        raise TypeError("neither a text nor parts")
    return content or ""
