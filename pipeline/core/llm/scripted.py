"""A scripted model: a provider on loopback whose answers come from a table.

The fake beside the real thing, for the demo and for tests. Reads `model.toml` (`load_answers`), writes nothing. How it
speaks is in provider.py.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.errors import UserError
from pipeline.core.llm.provider import Fault, Handler, Received, Refusal

#: (instance, step) -> what is in the prompt of that step for that instance, and in no other
MarkersOf = Callable[[str, str], tuple[str, ...]]


class Answer(NamedTuple):
    """`reply` is given when every marker is in the prompt."""

    markers: tuple[str, ...]
    reply: str


@dataclass
class ScriptedModel:
    """Use it as a context manager; `url` is the base URL. `requests` holds all that reached it, in order."""

    answers: list[Answer]
    requests: list[Received] = field(default_factory=list)
    _faults: list[Fault] = field(default_factory=list)

    def fail(self, *faults: Fault) -> None:
        """The next requests go wrong like this, one after the other."""
        self._faults.extend(faults)

    def receive(self, request: Received) -> Fault:
        """Note a request and say what goes wrong with it."""
        self.requests.append(request)
        return self._faults.pop(0) if self._faults else Fault()

    def reply(self, prompt: str) -> str:
        """The first answer whose markers are all in the prompt. Raises Refusal when there is none."""
        for answer in self.answers:
            if all(marker in prompt for marker in answer.markers):
                return answer.reply
        raise Refusal(400, f"no scripted answer for a prompt that begins: {prompt[:200]}")

    def __enter__(self) -> ScriptedModel:
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, self))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"


def load_answers(path: Path, markers_of: MarkersOf) -> list[Answer]:
    """The `[[answer]]` tables (`instance`, `step`, `reply`) of a TOML file. Raises UserError with file and field."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8")).get("answer", [])
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"no readable TOML: {error}", path=path) from None
    return [_load(path, place, table, markers_of) for place, table in enumerate(tables)]


def _load(path: Path, place: int, table: dict[str, Any], markers_of: MarkersOf) -> Answer:
    for name in ("instance", "step", "reply"):
        if not isinstance(table.get(name), str):
            raise UserError("text is missing", path=path, field=f"answer[{place}].{name}")
    return Answer(markers_of(table["instance"], table["step"]), table["reply"])
