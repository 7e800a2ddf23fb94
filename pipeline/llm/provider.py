"""The protocol of an OpenAI-compatible provider, as far as the scripted model speaks it.

Chat, tool calls, streams and embeddings over HTTP. Tokens are counted as characters / 4, and embeddings are hashed bags
of words, so that every number can be worked out by hand. Does not cover the content of answers (scripted.py).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from itertools import islice
from typing import Any, NamedTuple, Protocol

DIMENSIONS = 64

Body = dict[str, Any]


class Output(NamedTuple):
    """What a model answers: text, or the call of a tool by name and arguments (JSON), or both."""

    text: str
    tool: tuple[str, str] | None = None


Reply = Callable[[str], Output]


@dataclass(frozen=True)
class Fault:
    """What is unusual about one answer: an HTTP status, its `message` and its `code`, a delay in seconds, an empty or
    truncated reply, a connection that `breaks` off within a stream, or before any other answer, a number of the
    prompt's tokens that were in the provider's cache, an id that other answers have, no usage (`uncounted`) or none for
    the answer (`half_counted`), or only one answer (`single`), whatever number was requested. A stream may end before
    its answer (`halts`), or come as a whole (`plain`). `finish` is why an answer ended, `hidden` a number of its tokens
    that only the total contains."""

    status: int = 200
    message: str = "a fault on command"
    code: str = ""
    retry_after: int | None = None
    delay: float = 0
    empty: bool = False
    truncated: bool = False
    breaks: bool = False
    cached: int = 0
    id: str = ""
    uncounted: bool = False
    half_counted: bool = False
    single: bool = False
    halts: bool = False
    plain: bool = False
    finish: str = ""
    hidden: int = 0


class Received(NamedTuple):
    """A request as it reached the provider."""

    path: str
    authorization: str
    body: Body


#: the fingerprint of the model's build, and its date, which answers add to the requested name
FINGERPRINT, DATE = "fp_scripted", "2026-01-01"


class Refusal(Exception):
    """An answer with another status than 200."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class Speaker(Protocol):
    """The model behind the protocol."""

    def receive(self, request: Received) -> Fault:
        """Note a request; returns what is unusual about its answer."""

    def answered(self) -> None:
        """Note that a request has its answer."""

    def reply(self, prompt: str) -> Output:
        """The answer to a prompt. Raises Refusal."""


def tokens(text: str) -> int:
    return math.ceil(len(text) / 4)


def prompt_of(body: Body) -> str:
    """The text of all messages of a chat request."""
    return "\n".join(_text(message.get("content")) for message in body.get("messages", ()))


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "\n".join(part.get("text", "") for part in content)
    return content or ""


def embed(text: str) -> list[float]:
    """A unit vector: texts that share words are close to each other."""
    vector = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()):
        vector[hashlib.sha256(word.encode()).digest()[0] % DIMENSIONS] += 1.0
    length = math.hypot(*vector) or 1.0
    return [value / length for value in vector]


# -- answers --------------------------------------------------------------------------------------------------------
def chat(body: Body, reply: Reply, fault: Fault) -> Body:
    prompt = prompt_of(body)
    output = Output("") if fault.empty else reply(prompt)
    text = output.text[: len(output.text) // 2] if fault.truncated else output.text
    count = 1 if fault.single else body.get("n") or 1
    message: Body = {"role": "assistant", "content": text}
    reason = "length" if fault.truncated else "stop"
    if output.tool:
        message, reason = {**message, "tool_calls": [_tool_call(*output.tool)]}, "tool_calls"
    reason = fault.finish or reason
    usage = _usage(tokens(prompt), count * tokens(text + "".join(output.tool or ())), fault.cached)
    return {
        "id": fault.id or f"chatcmpl-{uuid.uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": _served(body),
        "system_fingerprint": FINGERPRINT,
        "choices": [{"index": index, "message": message, "finish_reason": reason} for index in range(count)],
        "usage": {**usage, "total_tokens": usage["total_tokens"] + fault.hidden},
    }


def _served(body: Body) -> str:
    """The full name of the model that answers, as of a provider that resolves short names."""
    return f"{body.get('model', '')}-{DATE}"


def _tool_call(name: str, arguments: str) -> Body:
    function = {"name": name, "arguments": arguments}
    return {"index": 0, "id": f"call_{uuid.uuid4().hex[:24]}", "type": "function", "function": function}


def embeddings(body: Body, reply: Reply, fault: Fault) -> Body:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    rows = [{"object": "embedding", "index": index, "embedding": embed(text)} for index, text in enumerate(texts)]
    usage = _usage(sum(tokens(text) for text in texts), 0)
    return {"object": "list", "model": _served(body), "data": rows, "usage": usage}


def _usage(tokens_in: int, tokens_out: int, cached: int = 0) -> Body:
    counts = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out}
    return {**counts, "prompt_tokens_details": {"cached_tokens": cached}} if cached else counts


ROUTES = {"/v1/chat/completions": chat, "/v1/embeddings": embeddings}


def chunks(answer: Body, with_usage: bool) -> Iterator[Body]:
    """A chat answer as the pieces of a stream."""
    choice = answer["choices"][0]
    shared = {key: answer[key] for key in ("id", "created", "model", "system_fingerprint")}
    shared["object"] = "chat.completion.chunk"
    pieces = re.findall(r"(?s).{1,24}", choice["message"]["content"])
    deltas = [({"role": "assistant", "content": ""}, None), *(({"content": piece}, None) for piece in pieces)]
    calls = [({"tool_calls": [call]}, None) for call in choice["message"].get("tool_calls", ())]
    for delta, reason in [*deltas, *calls, ({}, choice["finish_reason"])]:
        yield {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    if with_usage:
        yield {**shared, "choices": [], "usage": answer["usage"]}


# -- over HTTP ------------------------------------------------------------------------------------------------------
class Handler(BaseHTTPRequestHandler):
    """A client's connection to `speaker`."""

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
            error = {"message": str(refusal), "type": "scripted", **({"code": fault.code} if fault.code else {})}
            self._send(refusal.status, {"error": error}, fault.retry_after)

    def _answer(self, body: Body, fault: Fault) -> None:
        if fault.status != 200:
            raise Refusal(fault.status, fault.message)
        if self.path not in ROUTES:
            raise Refusal(404, f"available: {', '.join(ROUTES)}")
        answer = ROUTES[self.path](body, self.speaker.reply, fault)
        if fault.uncounted:
            del answer["usage"]
        if fault.half_counted:
            del answer["usage"]["completion_tokens"], answer["usage"]["total_tokens"]
        if fault.breaks and not body.get("stream"):
            self.speaker.answered()
            self.close_connection = True
        elif body.get("stream") and not fault.plain:
            events = chunks(
                answer, (body.get("stream_options") or {}).get("include_usage", False) and not fault.uncounted
            )
            self._stream(islice(events, 2) if fault.breaks or fault.halts else events, ended=not fault.breaks)
        else:
            self._send(200, answer)

    def _send(self, status: int, value: Body, retry_after: int | None = None) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if retry_after is not None:
            self.send_header("Retry-After", str(retry_after))
        self.speaker.answered()  # the client goes on as soon as it has the last byte
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, events: Iterable[Body], ended: bool) -> None:
        try:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for event in events:
                self._chunk(f"data: {json.dumps(event)}\n\n".encode())
        finally:
            self.speaker.answered()
        if ended:
            self._chunk(b"data: [DONE]\n\n")
            self._chunk(b"")
        self.close_connection = not ended

    def _chunk(self, data: bytes) -> None:
        """One chunk; an empty one is the last."""
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent: received requests are the log."""
