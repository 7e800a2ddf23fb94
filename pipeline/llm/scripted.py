"""A scripted model: a provider on loopback whose answers come from a table.

The fake next to the real thing, for the demo and for tests. Reads `model.toml` (`load_answers`), writes nothing.
provider.py implements the protocol.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from pipeline.core.texts import read_toml, wrong_value
from pipeline.llm.loopback import LoopbackServer
from pipeline.llm.provider import Fault, Handler, Output, Received, Refusal

#: (instance, step) -> texts that occur together only in the prompt of that step for that instance
MarkersOf = Callable[[str, str], tuple[str, ...]]


class Answer(NamedTuple):
    """`reply` is the answer if every marker is in the prompt; `tool` is the name and arguments (JSON) of a call."""

    markers: tuple[str, ...]
    reply: str
    tool: tuple[str, str] | None = None


@dataclass
class ScriptedModel:
    """A context manager; `url` is the base URL. `requests` holds all received requests, in order."""

    #: speaks the protocol
    handler: ClassVar[type[Handler]] = Handler
    answers: list[Answer]
    requests: list[Received] = field(default_factory=list)
    _answered: int = 0
    _faults: list[Fault] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fail(self, *faults: Fault) -> None:
        """Let the next answers have these faults, in order."""
        self._faults.extend(faults)

    def receive(self, request: Received) -> Fault:
        """Note a request; returns what is unusual about its answer."""
        with self._lock:
            self.requests.append(request)
            return self._faults.pop(0) if self._faults else Fault()

    def answered(self) -> None:
        """Note that a request has its answer."""
        with self._lock:
            self._answered += 1

    @property
    def in_flight(self) -> int:
        """The number of requests that wait for their answer."""
        with self._lock:
            return len(self.requests) - self._answered

    def reply(self, prompt: str) -> Output:
        """The first answer whose markers are all in the prompt. Raises Refusal if there is none."""
        for answer in self.answers:
            if all(marker in prompt for marker in answer.markers):
                return Output(answer.reply, answer.tool)
        raise Refusal(400, f"no scripted answer for a prompt that begins: {prompt[:200]}")

    def __enter__(self) -> Self:
        self._server = LoopbackServer(partial(self.handler, self))
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()

    @property
    def url(self) -> str:
        return f"{self._server.url}/v1"


def load_answers(path: Path, markers_of: MarkersOf) -> list[Answer]:
    """The `[[answer]]` tables of a TOML file: `instance`, `step`, `reply`, and a `tool` with `name` and `arguments`.

    Raises UserError with file, line and field.
    """
    tables = read_toml(path).get("answer", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise wrong_value(path, ("answer",), "[[answer]] tables are expected")
    return [_load(path, number, table, markers_of) for number, table in enumerate(tables)]


def _load(path: Path, number: int, table: dict[str, Any], markers_of: MarkersOf) -> Answer:
    for name in ("instance", "step", "reply"):
        if not isinstance(table.get(name), str):
            raise wrong_value(path, ("answer", number, name), "text is missing")
    markers = markers_of(table["instance"], table["step"])
    return Answer(markers, table["reply"], _tool(path, number, table.get("tool")))


def _tool(path: Path, number: int, tool: Any) -> tuple[str, str] | None:
    if tool is None:
        return None
    if not isinstance(tool, dict) or set(tool) != {"name", "arguments"}:
        raise wrong_value(path, ("answer", number, "tool"), "a table of name and arguments is expected")
    return tool["name"], json.dumps(tool["arguments"])
