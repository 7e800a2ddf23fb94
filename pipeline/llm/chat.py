"""One request to a model behind the gateway, and its answer as text. Writes nothing.

The gateway tries again what may pass, and books what it cost on the experiment of the key. No key is in any message.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import httpx

from pipeline.core.errors import InfrastructureError
from pipeline.llm.gateway import BUDGET_EXCEEDED
from pipeline.llm.prices import Usage, usage_of

#: seconds for an answer, with all that the gateway tries
TIME_LIMIT = 1800
#: the gateway's own word for why there is no answer (policy.py)
CAUSE = "x-a11y-bench-cause"
#: causes that are the request's own: asked again it would end alike
OWN = ("context", "refused")

Message = dict[str, str]


def connect(base_url: str) -> httpx.Client:
    """A connection to a gateway's address, to be closed; threads may share it."""
    return httpx.Client(base_url=base_url, timeout=TIME_LIMIT)


class Said(NamedTuple):
    """What a model answers: its text, empty for nothing, why it stopped, and the usage, None where nothing tells."""

    text: str
    finish: str = ""
    usage: Usage | None = None


def chat(gateway: httpx.Client, key: str, model: str, messages: list[Message], **parameters: Any) -> str:
    """What the model answers, empty for nothing. Raises as `say` does."""
    return say(gateway, key, model, messages, **parameters).text


def say(gateway: httpx.Client, key: str, model: str, messages: list[Message], **parameters: Any) -> Said:
    """What the model answers, with all that is told of it. `parameters` are those of OpenAI's protocol.

    Raises InfrastructureError with the cause `budget_exceeded`, `provider_STATUS`, `gateway`, or the gateway's own word
    for it: `context`, `refused`, `configuration`.
    """
    headers = {"Authorization": f"Bearer {key}"}
    body = {"model": model, "messages": messages, **parameters}
    try:
        reply = gateway.post("/chat/completions", json=body, headers=headers)
    except httpx.TransportError as error:
        raise InfrastructureError(f"the gateway does not answer: {type(error).__name__}", cause="gateway") from None
    if not reply.is_success:
        raise InfrastructureError(f"the model did not answer: status {reply.status_code}", cause=_cause(reply))
    return _said(reply)


def _cause(reply: httpx.Response) -> str:
    if BUDGET_EXCEEDED in reply.text:
        return BUDGET_EXCEEDED
    told = reply.headers.get(CAUSE, "provider")
    return f"provider_{reply.status_code}" if told == "provider" else told


def _said(reply: httpx.Response) -> Said:
    try:
        answer = reply.json()
        choice, usage = answer["choices"][0], answer.get("usage")
        text = choice["message"].get("content") or ""
        return Said(text, choice.get("finish_reason") or "", usage_of(usage) if usage else None)
    except (ValueError, LookupError, TypeError, AttributeError):
        raise InfrastructureError("the gateway's answer is not a chat completion", cause="gateway") from None
