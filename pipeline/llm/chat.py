"""One request to a model behind the gateway, and its answer as text. Writes nothing.

The gateway tries again what may pass, and books what it cost on the experiment of the key. No key is in any message.
"""

from __future__ import annotations

from typing import Any

import httpx

from pipeline.core.errors import InfrastructureError
from pipeline.llm.gateway import BUDGET_EXCEEDED

#: seconds for an answer, with all that the gateway tries
TIME_LIMIT = 1800

Message = dict[str, str]


def connect(base_url: str) -> httpx.Client:
    """A connection to a gateway's address, to be closed; threads may share it."""
    return httpx.Client(base_url=base_url, timeout=TIME_LIMIT)


def chat(gateway: httpx.Client, key: str, model: str, messages: list[Message], **parameters: Any) -> str:
    """What the model answers, empty for nothing. `parameters` are those of OpenAI's protocol.

    Raises InfrastructureError with the cause `budget_exceeded`, `provider_STATUS` or `gateway`.
    """
    headers = {"Authorization": f"Bearer {key}"}
    body = {"model": model, "messages": messages, **parameters}
    try:
        reply = gateway.post("/chat/completions", json=body, headers=headers)
    except httpx.TransportError as error:
        raise InfrastructureError(f"the gateway does not answer: {type(error).__name__}", cause="gateway") from None
    if not reply.is_success:
        cause = BUDGET_EXCEEDED if BUDGET_EXCEEDED in reply.text else f"provider_{reply.status_code}"
        raise InfrastructureError(f"the model gives no answer: status {reply.status_code}", cause=cause)
    return _text(reply)


def _text(reply: httpx.Response) -> str:
    try:
        return reply.json()["choices"][0]["message"].get("content") or ""
    except (ValueError, LookupError, TypeError, AttributeError):
        raise InfrastructureError("what the gateway answers is no chat completion", cause="gateway") from None
