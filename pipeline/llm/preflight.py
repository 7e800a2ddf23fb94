"""A first, tiny request for embeddings: a wrong key or name is found before chats are paid for. Writes nothing."""

from __future__ import annotations

import httpx

from pipeline.llm.chat import CAUSE

#: the cause that lies in the model list or in the environment (policy.py), and the status of a request that only asks
#: for more than the budget has
CONFIGURATION, TOO_LARGE = "configuration", 413
#: what is embedded
TEXT = "label"


def refusal(gateway: httpx.Client, key: str, model: str) -> str:
    """Why a model for embeddings cannot be asked, if its configuration is to blame; empty otherwise: other failures may
    pass, and are reported by those who ask."""
    headers = {"Authorization": f"Bearer {key}"}
    try:
        reply = gateway.post("/embeddings", json={"model": model, "input": [TEXT]}, headers=headers)
    except httpx.TransportError:
        return ""
    if reply.headers.get(CAUSE) != CONFIGURATION or reply.status_code == TOO_LARGE:
        return ""
    return f"status {reply.status_code}: {_message(reply)}"


def unusable(model: str, why: str) -> str:
    """The message about a model that cannot be asked, in one line."""
    return f"the model '{model}' cannot be asked ({CONFIGURATION}): {next(iter(why.splitlines()), '')}"


def _message(reply: httpx.Response) -> str:
    try:
        return str(reply.json()["error"]["message"])
    except (ValueError, LookupError, TypeError):
        return reply.text
