"""The models behind the gateway: one that answers in text, and one that embeds texts. Requests are recorded.

Model names are sent unchanged. Reasoning between <think> or <thinking> marks is recorded and is not part of an answer.
Of an answer that was cut at its limit, complete lines count if lines were asked for, otherwise nothing. Embedded texts
are the repository's own and are not recorded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from magentless.causes import Cause, Ended, Fault, ProviderFailure
from magentless.wire import Wire

#: reasoning and the marks around it: some servers drop the first mark, some models forget the second. A tag that is
#: capitalized could be a component of the answer, unless the answer begins with it
OPENED = re.compile(r"<(?:think|THINK)(?:ing|ING)?>|\A\s*<Think(?:ing)?>")
CLOSED = re.compile(r"</(?:think|THINK)(?:ing|ING)?>")
THOUGHT = re.compile(rf"(?:{OPENED.pattern}).*?(?i:</think(?:ing)?>)", re.DOTALL)
#: finish reasons: at the limit, by a filter, and by itself
CUT, FILTERED, WHOLE = "length", "content_filter", "stop"

Messages = list[dict[str, str]]
Trajectory = list[dict[str, Any]]


class Ask(NamedTuple):
    """A question: its step and sample, the temperature, the maximum length of the answer, and whether each line of the
    answer is useful by itself."""

    step: str
    sample: int
    temperature: float
    max_tokens: int
    in_lines: bool = False


class ChatModel:
    """A model that answers in text; safe to share between threads. The first message has the pictures; records do not.

    `choices` is the number of answers that one request may ask for. A provider that refuses that, or returns fewer, is
    asked for one at a time from then on.
    """

    def __init__(
        self, name: str, wire: Wire, trajectory: Trajectory, pictures: Sequence[str] = (), choices: int = 1
    ) -> None:
        self.name, self.choices = name, choices
        self._wire, self._trajectory, self._pictures = wire, trajectory, pictures

    def ask(self, question: Ask, messages: Messages) -> str:
        """The text of the answer. Raises Ended if there is none, ProviderFailure if the provider failed."""
        (answer,) = self._asked(question, messages, (question.sample,))
        return self._text(question, *answer)

    def ask_several(self, question: Ask, messages: Messages, samples: Sequence[int]) -> list[str | Ended]:
        """An answer for each sample, with as few requests as the provider allows: each pays for the prompt once.

        A sample without an answer has its Ended. Raises ProviderFailure.
        """
        found: list[str | Ended] = []
        while left := samples[len(found) :]:
            some = left[: max(1, self.choices)]
            try:
                answers = self._asked(question, messages, some)
            except Ended as end:
                found.extend([end] * len(some))
                continue
            except ProviderFailure as failure:
                if len(some) == 1 or failure.fault is not Fault.CONFIGURATION:
                    raise
                answers = []
            if len(answers) < len(some):
                self.choices = 1
            found.extend(self._kept(question, answer) for answer in answers)
        return found

    def _asked(self, question: Ask, messages: Messages, samples: Sequence[int]) -> list[tuple[str, str | None]]:
        """Send one request; returns a reply for each sample, or fewer, with its finish reason."""
        request = {
            "model": self.name,
            "messages": messages,
            "temperature": question.temperature,
            "max_tokens": question.max_tokens,
            **({"n": len(samples)} if len(samples) > 1 else {}),
        }
        name = f"{question.step} {' '.join(map(str, samples))}"
        body = {**request, "messages": shown(messages, self._pictures)}
        answer = self._wire.post("/chat/completions", body, sample=name)
        replies = _choices(answer)[: len(samples)]
        usage = answer.get("usage") or {}
        for place, (sample, (reply, finish)) in enumerate(zip(samples, replies, strict=False)):
            made = {"reply": reply, "finish_reason": finish, "usage": {} if place else usage}
            self._trajectory.append({"step": question.step, "sample": sample, **request, **made})
        return replies

    def _kept(self, question: Ask, answer: tuple[str, str | None]) -> str | Ended:
        try:
            return self._text(question, *answer)
        except Ended as end:
            return end

    @staticmethod
    def _text(question: Ask, reply: str, finish: str | None) -> str:
        """The usable part of a reply. Raises Ended if there is none."""
        text = spoken(reply, finish)
        if finish == CUT:
            return _whole_lines(question, text)
        if finish == FILTERED or not text.strip():
            detail = f"{question.step}: the answer is empty (finish reason: {finish})"
            raise Ended(Cause.NO_MODEL_RESPONSE, detail)
        return text


def spoken(reply: str, finish: str | None) -> str:
    """A reply without its reasoning. Reasoning that ends without its mark contains the answer, too."""
    text = CLOSED.split(THOUGHT.sub("", reply))[-1]
    before, *thought = OPENED.split(text, maxsplit=1)
    return "".join((before, *thought)) if finish == WHOLE else before


def _whole_lines(question: Ask, text: str) -> str:
    """The lines of a cut answer except the last one. Raises Ended if only a complete answer is useful."""
    lines = text.rpartition("\n")[0] if question.in_lines else ""
    if not lines.strip():
        raise Ended(Cause.CUT_ANSWER, f"{question.step}: the answer was cut after {question.max_tokens} tokens")
    return lines


def shown(messages: Messages, pictures: Sequence[str]) -> list[dict[str, Any]]:
    """The messages, with the pictures after the text of the first."""
    if not pictures:
        return list(messages)
    first, *others = messages
    parts = [{"type": "image_url", "image_url": {"url": address}} for address in pictures]
    return [{**first, "content": [{"type": "text", "text": first["content"]}, *parts]}, *others]


class EmbeddingModel:
    """A model that embeds texts. Safe to share between threads."""

    def __init__(self, name: str, wire: Wire, trajectory: Trajectory) -> None:
        self.name, self._wire, self._trajectory = name, wire, trajectory

    def embed(self, texts: Sequence[str], *, shared: bool) -> list[list[float]]:
        """A vector for each text. `shared` books the cost on the key for several instances.

        Raises ProviderFailure, also if the answer does not have one vector per text, all of one length.
        """
        try:
            answer = self._wire.post("/embeddings", {"model": self.name, "input": list(texts)}, shared=shared)
        except Ended as end:
            raise ProviderFailure(Fault.PROVIDER_ERROR, f"embedding with {self.name}: {end}") from None
        except ProviderFailure as failure:
            raise ProviderFailure(failure.fault, f"embedding with {self.name} ([retrieval] model): {failure}") from None
        made = {"model": self.name, "texts": len(texts), "usage": answer.get("usage") or {}}
        self._trajectory.append({"step": "index" if shared else "retrieve", "sample": 0, **made})
        try:
            rows = sorted(answer.get("data") or (), key=lambda row: row.get("index", 0))
            vectors = [[float(number) for number in row["embedding"]] for row in rows]
        except (AttributeError, KeyError, TypeError, ValueError):
            message = f"embedding with {self.name}: the answer has no vectors of numbers"
            raise ProviderFailure(Fault.PROVIDER_ERROR, message) from None
        if len(vectors) != len(texts):
            message = f"embedding with {self.name}: {len(vectors)} vectors for {len(texts)} texts"
            raise ProviderFailure(Fault.PROVIDER_ERROR, message)
        if not all(vectors) or len({len(vector) for vector in vectors}) > 1:
            message = f"embedding with {self.name}: vectors of different lengths, or without numbers"
            raise ProviderFailure(Fault.PROVIDER_ERROR, message)
        return vectors


def _choices(answer: dict[str, Any]) -> list[tuple[str, str | None]]:
    """The replies with their finish reasons; an answer without replies is one empty reply. Raises ProviderFailure for
    an answer of another form."""
    try:
        return [_choice(choice) for choice in answer.get("choices") or [{}]]
    except (AttributeError, KeyError, TypeError):
        raise ProviderFailure(Fault.PROVIDER_ERROR, "the answer is not a chat completion") from None


def _choice(choice: dict[str, Any]) -> tuple[str, str | None]:
    content = (choice.get("message") or {}).get("content") or ""
    # some providers answer in parts, of which reasoning is no text
    parts = content if isinstance(content, list) else [{"text": content}]
    text = "".join(part["text"] for part in parts if part.get("type", "text") == "text")
    return text.encode("utf-8", "replace").decode("utf-8"), choice.get("finish_reason")
