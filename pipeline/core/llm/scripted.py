"""A scripted model: an OpenAI-compatible provider on loopback whose answers come from a table.

The fake beside the real thing, for the demo and for tests. Reads `model.toml` (`load_answers`), writes nothing. Does
not cover tool calls. Tokens are counted as characters / 4; embeddings are hashed bags of words.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.errors import UserError

DIMENSIONS = 64


class Answer(NamedTuple):
    """`reply` is given when every marker is in the prompt."""

    markers: tuple[str, ...]
    reply: str


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
    body: dict[str, Any]


class Refusal(Exception):
    """An answer of another status than 200."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


def tokens(text: str) -> int:
    return math.ceil(len(text) / 4)


def prompt_of(body: dict[str, Any]) -> str:
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


@dataclass
class ScriptedModel:
    """Use it as a context manager; `url` is the base URL. `requests` holds all that reached it, in order."""

    answers: list[Answer]
    requests: list[Received] = field(default_factory=list)
    _faults: list[Fault] = field(default_factory=list)

    def fail(self, *faults: Fault) -> None:
        """The next requests go wrong like this, one after the other."""
        self._faults.extend(faults)

    def __enter__(self) -> ScriptedModel:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def next_fault(self) -> Fault:
        return self._faults.pop(0) if self._faults else Fault()

    def reply(self, prompt: str) -> str:
        """The first answer whose markers are all in the prompt. Raises Refusal when there is none."""
        for answer in self.answers:
            if all(marker in prompt for marker in answer.markers):
                return answer.reply
        raise Refusal(400, f"no scripted answer for a prompt that begins: {prompt[:200]}")


# -- the protocol ---------------------------------------------------------------------------------------------------
def chat(model: ScriptedModel, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
    prompt = prompt_of(body)
    reply = "" if fault.empty else model.reply(prompt)
    reply = reply[: len(reply) // 2] if fault.truncated else reply
    used = {"prompt_tokens": tokens(prompt), "completion_tokens": tokens(reply)}
    return {
        "id": "chatcmpl-scripted",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body.get("model", ""),
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": reply},
                "finish_reason": "length" if fault.truncated else "stop",
            }
        ],
        "usage": {**used, "total_tokens": sum(used.values())},
    }


def embeddings(model: ScriptedModel, body: dict[str, Any], fault: Fault) -> dict[str, Any]:
    texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
    used = sum(tokens(text) for text in texts)
    rows = [{"object": "embedding", "index": index, "embedding": embed(text)} for index, text in enumerate(texts)]
    usage = {"prompt_tokens": used, "total_tokens": used}
    return {"object": "list", "model": body.get("model", ""), "data": rows, "usage": usage}


ROUTES = {"/v1/chat/completions": chat, "/v1/embeddings": embeddings}


def chunks(answer: dict[str, Any], with_usage: bool) -> Iterator[dict[str, Any]]:
    """A chat answer as the pieces of a stream."""
    choice = answer["choices"][0]
    shared = {key: answer[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    pieces = re.findall(r"(?s).{1,24}", choice["message"]["content"])
    deltas = [({"role": "assistant", "content": ""}, None), *(({"content": piece}, None) for piece in pieces)]
    for delta, reason in [*deltas, ({}, choice["finish_reason"])]:
        yield {**shared, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
    if with_usage:
        yield {**shared, "choices": [], "usage": answer["usage"]}


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.requests.append(Received(self.path, self.headers.get("Authorization", ""), body))
            fault = model.next_fault()
            time.sleep(fault.delay)
            try:
                self._answer(body, fault)
            except Refusal as refusal:
                self._send(refusal.status, {"error": {"message": str(refusal), "type": "scripted"}}, fault)

        def _answer(self, body: dict[str, Any], fault: Fault) -> None:
            if fault.status != 200:
                raise Refusal(fault.status, "a fault on command")
            if self.path not in ROUTES:
                raise Refusal(404, f"there is: {', '.join(ROUTES)}")
            answer = ROUTES[self.path](model, body, fault)
            if body.get("stream"):
                self._stream(chunks(answer, (body.get("stream_options") or {}).get("include_usage", False)))
            else:
                self._send(200, answer, fault)

        def _send(self, status: int, value: dict[str, Any], fault: Fault) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            if fault.retry_after is not None:
                self.send_header("Retry-After", str(fault.retry_after))
            self.end_headers()
            self.wfile.write(data)

        def _stream(self, events: Iterable[dict[str, Any]]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for event in events:
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            self.wfile.write(b"data: [DONE]\n\n")

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent: `requests` is the log."""

    return Handler


# -- answers from a file --------------------------------------------------------------------------------------------
def load_answers(path: Path, markers_of: Callable[[str, str], tuple[str, ...]]) -> list[Answer]:
    """The `[[answer]]` tables (`instance`, `step`, `reply`) of a TOML file; `markers_of` an instance and a step tells
    how their prompt is known. Raises UserError with file and field."""
    import tomllib

    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("answer", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"no readable TOML: {error}", path=path) from None
    return [_load(path, place, table, markers_of) for place, table in enumerate(tables)]


def _load(path: Path, place: int, table: dict[str, Any], markers_of: Callable[[str, str], tuple[str, ...]]) -> Answer:
    for name in ("instance", "step", "reply"):
        if not isinstance(table.get(name), str):
            raise UserError("text is missing", path=path, field=f"answer[{place}].{name}")
    return Answer(markers_of(table["instance"], table["step"]), table["reply"])
