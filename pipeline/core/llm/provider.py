"""The protocol of an OpenAI-compatible provider, as far as the scripted model speaks it.

Chat, streams and embeddings over HTTP. Tokens are counted as characters / 4, and embeddings are hashed bags of words,
so that every number can be worked out by hand. Does not cover tool calls, nor what is said (scripted.py).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple, Protocol

DIMENSIONS = 64

Reply = Callable[[str], str]
Body = dict[str, Any]


@dataclass(frozen=True)
class Fault:
    """What goes wrong with one request: an HTTP status, a delay in seconds, an empty or a truncated reply."""

    status: int = 200
    retry_after: int | None = None
    delay: float = 0
    empty: bool = False
    truncated: bool = False


class Received(NamedTuple):
    """A request as it reached the provider."""

    path: str
    authorization: str
    body: Body


class Refusal(Exception):
    """An answer of another status than 200."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class Speaker(Protocol):
    """Who is behind the protocol."""

    def receive(self, request: Received) -> Fault:
        """Note a request and say what goes wrong with it."""

    def reply(self, prompt: str) -> str:
        """What is said to a prompt. Raises Refusal."""


def tokens(text: str) -> int:
    return math.ceil(len(text) / 4)


def prompt_of(body: Body) -> str:
    """All text of a chat request, message after message."""
    return "\n".join(_text(message.get("content")) for message in body.get("messages", ()))


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def embed(text: str) -> list[float]:
    """A unit vector: texts that share words are near each other."""
    vector = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        vector[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
    length = math.hypot(*vector) or 1.0
    return [value / length for value in vector]


# -- answers --------------------------------------------------------------------------------------------------------
def chat(body: Body, reply: Reply, fault: Fault) -> Body:
    prompt = prompt_of(body)
    said = "" if fault.empty else reply(prompt)
    said = said[: len(said) // 2] if fault.truncated else said
    message = {"role": "assistant", "content": said}
    choice = {"index": 0, "message": message, "finish_reason": "length" if fault.truncated else "stop"}
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.get("model", ""),
        "choices": [choice],
        "usage": _usage(tokens(prompt), tokens(said)),
    }


def embeddings(body: Body, reply: Reply, fault: Fault) -> Body:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    rows = [{"object": "embedding", "index": index, "embedding": embed(text)} for index, text in enumerate(texts)]
    usage = _usage(sum(tokens(text) for text in texts), 0)
    return {"object": "list", "model": body.get("model", ""), "data": rows, "usage": usage}


def _usage(tokens_in: int, tokens_out: int) -> dict[str, int]:
    return {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}


ROUTES = {"/v1/chat/completions": chat, "/v1/embeddings": embeddings}


def chunks(answer: Body, with_usage: bool) -> Iterator[Body]:
    """A chat answer as the pieces of a stream."""
    choice = answer["choices"][0]
    shared = {key: answer[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    pieces = re.findall(r"(?s).{1,24}", choice["message"]["content"])
    deltas = [({"role": "assistant", "content": ""}, None), *(({"content": piece}, None) for piece in pieces)]
    for delta, reason in [*deltas, ({}, choice["finish_reason"])]:
        yield {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    if with_usage:
        yield {**shared, "choices": [], "usage": answer["usage"]}


# -- over HTTP ------------------------------------------------------------------------------------------------------
class Handler(BaseHTTPRequestHandler):
    """One connection of a client to `speaker`."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, speaker: Speaker, *connection: Any) -> None:
        self.speaker = speaker
        super().__init__(*connection)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = self.speaker.receive(Received(self.path, self.headers.get("Authorization", ""), body))
        time.sleep(fault.delay)
        try:
            self._answer(body, fault)
        except Refusal as refusal:
            self._send(refusal.status, {"error": {"message": str(refusal), "type": "scripted"}}, fault.retry_after)

    def _answer(self, body: Body, fault: Fault) -> None:
        if fault.status != 200:
            raise Refusal(fault.status, "a fault on command")
        if self.path not in ROUTES:
            raise Refusal(404, f"there is: {', '.join(ROUTES)}")
        answer = ROUTES[self.path](body, self.speaker.reply, fault)
        if body.get("stream"):
            self._stream(chunks(answer, (body.get("stream_options") or {}).get("include_usage", False)))
        else:
            self._send(200, answer)

    def _send(self, status: int, value: Body, retry_after: int | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if retry_after is not None:
            self.send_header("Retry-After", str(retry_after))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterable[Body]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent: what is received is the log."""
