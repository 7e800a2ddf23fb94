"""The models behind the gateway, every request recorded: one that answers in text, and one that embeds texts.

Names go out exactly as they are given. What a model thinks aloud between <think> marks is recorded and is not part of
its answer. Embedded texts are the repository's own and are not recorded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from magentless.causes import Cause, Ended, Fault, ProviderFailure
from magentless.wire import Wire

THOUGHT = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)

Messages = list[dict[str, str]]
Trajectory = list[dict[str, Any]]


class Ask(NamedTuple):
    """One question: what for (`step`, and which of its samples), how hot, and how long the answer may be."""

    step: str
    sample: int
    temperature: float
    max_tokens: int


class ChatModel:
    """A model that answers in text. Threads share it. Its first question shows the pictures, which no record holds."""

    def __init__(self, name: str, wire: Wire, trajectory: Trajectory, pictures: Sequence[str] = ()) -> None:
        self.name, self._wire, self._trajectory, self._pictures = name, wire, trajectory, pictures

    def ask(self, question: Ask, messages: Messages) -> str:
        """The answer's text. Raises Ended when there is none, ProviderFailure when the provider failed."""
        request = {
            "model": self.name,
            "messages": messages,
            "temperature": question.temperature,
            "max_tokens": question.max_tokens,
        }
        answer = self._wire.post("/chat/completions", {**request, "messages": shown(messages, self._pictures)})
        reply, finish = _first_choice(answer)
        made = {"reply": reply, "finish_reason": finish, "usage": answer.get("usage") or {}}
        self._trajectory.append({"step": question.step, "sample": question.sample, **request, **made})
        text = THOUGHT.sub("", reply)
        if not text.strip():
            detail = f"{question.step}: the answer is empty (finish reason: {finish})"
            raise Ended(Cause.NO_MODEL_RESPONSE, detail)
        return text


def shown(messages: Messages, pictures: Sequence[str]) -> list[dict[str, Any]]:
    """The messages, the first with the pictures behind its text."""
    if not pictures:
        return list(messages)
    first, *others = messages
    parts = [{"type": "image_url", "image_url": {"url": address}} for address in pictures]
    return [{**first, "content": [{"type": "text", "text": first["content"]}, *parts]}, *others]


class EmbeddingModel:
    """A model that embeds texts. Threads share it."""

    def __init__(self, name: str, wire: Wire, trajectory: Trajectory) -> None:
        self.name, self._wire, self._trajectory = name, wire, trajectory

    def embed(self, texts: Sequence[str], *, shared: bool) -> list[list[float]]:
        """A vector for each text. `shared` books on what serves several instances.

        Raises ProviderFailure, also for an answer that is not one vector for each text.
        """
        try:
            answer = self._wire.post("/embeddings", {"model": self.name, "input": list(texts)}, shared=shared)
        except Ended as end:
            raise ProviderFailure(Fault.PROVIDER_ERROR, f"embedding with {self.name}: {end}") from None
        except ProviderFailure as failure:
            raise ProviderFailure(failure.fault, f"embedding with {self.name} ([retrieval] model): {failure}") from None
        made = {"model": self.name, "texts": len(texts), "usage": answer.get("usage") or {}}
        self._trajectory.append({"step": "index" if shared else "retrieve", "sample": 0, **made})
        rows = sorted(answer.get("data") or (), key=lambda row: row.get("index", 0))
        if len(rows) != len(texts):
            message = f"embedding with {self.name}: {len(rows)} vectors for {len(texts)} texts"
            raise ProviderFailure(Fault.PROVIDER_ERROR, message)
        return [row["embedding"] for row in rows]


def _first_choice(answer: dict[str, Any]) -> tuple[str, str | None]:
    if not answer.get("choices"):
        return "", None
    choice = answer["choices"][0]
    text = (choice.get("message") or {}).get("content") or ""
    return text.encode("utf-8", "replace").decode("utf-8"), choice.get("finish_reason")
