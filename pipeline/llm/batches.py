"""Batches: requests at a lower price, which a provider answers within a day, for models of the list with `batch: true`.

A server on loopback stands in for the provider. The embedded proxy sends it single requests. They wait here until no
more come, are sent as one batch of OpenAI's protocol (`/files`, `/batches`), and are answered when the batch has ended.
Writes, into a folder beside the ledger, which requests are in which batch. If the process is killed, the next one gives
the same requests their answers from the batch that is already paid for. Does not cover streams.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import filelock
import httpx

from pipeline.core import journal
from pipeline.core.cache import lock
from pipeline.core.record import Record
from pipeline.llm.loopback import LoopbackServer
from pipeline.llm.models import BATCH_LIMIT, Model, ModelList

#: the provider's address if the list names none
OPENAI = "https://api.openai.com/v1"
#: the most requests of one batch, and its bytes; OpenAI accepts 50,000 and 200 MB
MOST, MOST_BYTES = 50_000, 190_000_000
#: statuses of a batch that changes no more
ENDED = ("completed", "failed", "expired", "cancelled")
#: errors for a response of another form than the protocol's
MALFORMED = (LookupError, ValueError, TypeError, AttributeError)
#: seconds after which a provider must know a batch
UNKNOWN_LIMIT = 600
#: the status for a request that its batch did not answer, so that the proxy sends it again
UNANSWERED = 503


class Entry(Record):
    """A line of the journal: these requests are in this batch, or, without a batch, were answered."""

    batch: str = ""
    names: tuple[str, ...]


class Pace(NamedTuple):
    """Seconds: a batch is sent when no request has come for `quiet`, at the latest after `longest`. Its status is asked
    for every `poll`."""

    quiet: float = 10
    longest: float = 120
    poll: float = 20


@dataclass
class Waiting:
    """A request, and its answer once it is `done`."""

    model: Model
    route: str
    key: str
    body: dict[str, Any]
    name: str
    journal: Path
    size: int
    batch: str = ""
    status: int = UNANSWERED
    reply: bytes = b""
    done: threading.Event = field(default_factory=threading.Event)

    def answer(self, status: int, reply: Any) -> None:
        self.status, self.reply = status, json.dumps(reply).encode()
        self.done.set()

    def refuse(self, status: int, message: str) -> None:
        self.answer(status, {"error": {"message": message, "type": "batch", "code": str(status)}})


class Batches:
    """The server during a `with` block. `folder` has the journals, and `environ` the variables that the list names."""

    def __init__(
        self,
        models: ModelList,
        folder: Path,
        environ: Mapping[str, str],
        say: Callable[[str], None],
        pace: Pace | None = None,
    ) -> None:
        self._models, self._folder, self._environ, self._say = models, folder, environ, say
        self._pace = pace or Pace()
        self._lock, self._numbers = threading.Lock(), count()
        #: requests that are not sent yet, by model and route; requests that are sent, by batch
        self._collected: dict[tuple[str, str], list[Waiting]] = defaultdict(list)
        self._sent: dict[str, list[Waiting]] = {}
        self._last: dict[tuple[str, str], float] = {}
        #: requests of killed processes without an answer: their name, batch and journal, by their content
        self._unclaimed: dict[str, list[tuple[str, str, Path]]] = defaultdict(list)
        self._journal = folder / f"{os.getpid()}-{time.time_ns()}.jsonl"
        self._held: dict[Path, filelock.BaseFileLock] = {}

    def __enter__(self) -> Batches:
        self._server = LoopbackServer(partial(_Handler, self))
        return self

    def __exit__(self, *_: object) -> None:
        self._server.close()
        for path, held in self._held.items():
            if not path.exists() or not _unanswered(path):
                path.unlink(missing_ok=True)
                _lock_of(path).unlink(missing_ok=True)
            held.release()
        with suppress(OSError):  # it is missing, or not empty
            self._folder.rmdir()

    def address(self, model: str) -> str:
        """The address at which a model's requests are collected."""
        return f"{self._server.url}/{quote(model, safe='')}/v1"

    def answer(self, model: str, route: str, key: str, body: dict[str, Any]) -> tuple[int, bytes]:
        """The status and the text of the provider's answer; returns when the batch has ended."""
        text = json.dumps([model, route, body], sort_keys=True)
        request = self._opened(self._models.get(model), route, key, body, text)
        request.done.wait(BATCH_LIMIT)
        if request.batch:
            self._note(request.journal, Entry(names=(request.name,)))
        return request.status, request.reply

    def _opened(self, model: Model, route: str, key: str, body: dict[str, Any], text: str) -> Waiting:
        """Add a request to the batch that it was sent in before, or to the next one."""
        digest = hashlib.sha256(text.encode()).hexdigest()[:32]
        with self._lock:
            self._begin()
            if self._unclaimed[digest]:
                name, batch, path = self._unclaimed[digest].pop(0)
                request = Waiting(model, route, key, body, name, path, len(text), batch)
                waiting, act = self._sent.setdefault(batch, []), partial(self._await, batch)
            else:
                name = f"{digest}-{next(self._numbers)}"
                request = Waiting(model, route, key, body, name, self._journal, len(text))
                waiting, act = self._collected[model.name, route], partial(self._collect, (model.name, route))
                self._last[model.name, route] = time.monotonic()
            waiting.append(request)
            if len(waiting) == 1:
                threading.Thread(target=act, daemon=True).start()
        return request

    # -- sending ----------------------------------------------------------------------------------------------------
    def _collect(self, lane: tuple[str, str]) -> None:
        """Send what was collected once no more requests come."""
        began = time.monotonic()
        while not self._is_ripe(lane, began):
            time.sleep(self._pace.quiet / 10)
        with self._lock:
            requests = self._collected.pop(lane)
        for part in _parts(requests):
            threading.Thread(target=self._send, args=(part,), daemon=True).start()

    def _is_ripe(self, lane: tuple[str, str], began: float) -> bool:
        now = time.monotonic()
        return now - self._last[lane] >= self._pace.quiet or now - began >= self._pace.longest

    def _send(self, requests: list[Waiting]) -> None:
        """Send one batch and await its end. If it cannot be sent, each request gets the provider's status."""
        first = requests[0]
        try:
            with self._provider(first) as provider:
                batch = _submitted(provider, first.route, requests)
        except (httpx.HTTPError, *MALFORMED) as error:
            reply = getattr(error, "response", None)
            status = UNANSWERED if reply is None else reply.status_code
            for request in requests:
                request.refuse(status, f"the batch was not sent: {error}")
            return
        for request in requests:
            request.batch = batch
        self._note(self._journal, Entry(batch=batch, names=tuple(request.name for request in requests)))
        with self._lock:
            self._sent[batch] = requests
        self._await(batch)

    def _provider(self, request: Waiting) -> httpx.Client:
        address = request.model.entry["litellm_params"].get("api_base", OPENAI)
        address = self._environ.get(address.removeprefix("os.environ/"), address)
        return httpx.Client(base_url=address, headers={"Authorization": request.key}, timeout=600)

    # -- answers ----------------------------------------------------------------------------------------------------
    def _await(self, batch: str) -> None:
        """Give each request of a batch its answer when the batch has ended."""
        try:
            answers, status, problem = self._result(batch)
        except (httpx.HTTPError, *MALFORMED) as error:
            answers, status, problem = {}, UNANSWERED, f"it cannot be read: {type(error).__name__}"
            if not _is_unknown(error):
                for request in self._sent[batch]:
                    request.batch = ""  # the journal keeps it: the next process may read its answer
        with self._lock:
            requests = self._sent.pop(batch)
        for request in requests:
            if request.name in answers:
                request.answer(*answers[request.name])
            else:
                request.refuse(status, f"batch {batch} has no answer to this request: {problem}")

    def _result(self, batch: str) -> tuple[dict[str, tuple[int, Any]], int, str]:
        """The answers of a batch that has ended, by name; the status of other requests, and why they have none. A
        provider that does not answer, or not with the batch, is asked again until a batch must have ended: its answers
        are paid for. Then raises httpx.HTTPError or MALFORMED."""
        first, told, began = self._sent[batch][0], "", time.monotonic()
        with self._provider(first) as provider:
            while True:
                try:
                    state = _read(provider, f"/batches/{batch}").json()
                    if (now := _progress(state)) != told:
                        self._say(f"batch {batch} ({first.model.name}): {now}")
                    if state["status"] in ENDED:
                        status = _refusal(state) if state["status"] == "failed" else UNANSWERED
                        return dict(_answers(provider, state)), status, f"{now} {_problems(state)}"
                    told = now
                except (httpx.HTTPError, *MALFORMED) as error:
                    if time.monotonic() - began > (UNKNOWN_LIMIT if _is_unknown(error) else BATCH_LIMIT):
                        raise
                    if (now := f"it cannot be read now: {type(error).__name__}") != told:
                        self._say(f"batch {batch} ({first.model.name}): {now}")
                    told = now
                time.sleep(self._pace.poll)

    # -- the journal ------------------------------------------------------------------------------------------------
    def _note(self, path: Path, entry: Entry) -> None:
        """Write a line. Without it, the next process may send requests again."""
        try:
            journal.append(path, [entry])
        except OSError as error:
            self._say(f"{path} cannot be written: {error}")

    def _begin(self) -> None:
        """At the first request: lock our journal, and take over what killed processes have left."""
        if self._held:
            return
        for path in (self._journal, *sorted(self._folder.glob("*.jsonl"))):
            held = lock(_lock_of(path))
            with suppress(filelock.Timeout):  # a process that lives holds it
                held.acquire(timeout=0)
                self._held[path] = held
                for name, batch in _unanswered(path).items():
                    self._unclaimed[name.partition("-")[0]].append((name, batch, path))


def _lock_of(path: Path) -> Path:
    """The lock on a journal, which a process holds while it lives."""
    return path.with_suffix(".lock")


def _unanswered(path: Path) -> dict[str, str]:
    """The requests of a journal that have no answer, with their batches."""
    left: dict[str, str] = {}
    for entry in journal.read(path, Entry):
        for name in entry.names:
            if entry.batch:
                left[name] = entry.batch
            else:
                left.pop(name, None)
    return left


def _parts(requests: list[Waiting]) -> Iterator[list[Waiting]]:
    """Requests in batches that a provider accepts."""
    part: list[Waiting] = []
    size = 0
    for request in requests:
        if part and (len(part) == MOST or size + request.size > MOST_BYTES):
            yield part
            part, size = [], 0
        part.append(request)
        size += request.size
    yield part


def _submitted(provider: httpx.Client, route: str, requests: list[Waiting]) -> str:
    """The id of a new batch with these requests. Raises httpx.HTTPError or MALFORMED."""
    url = f"/v1{route}"
    rows = ({"custom_id": one.name, "method": "POST", "url": url, "body": one.body} for one in requests)
    text = "".join(f"{json.dumps(row)}\n" for row in rows).encode()
    files = {"file": ("requests.jsonl", text, "application/jsonl")}
    file = provider.post("/files", data={"purpose": "batch"}, files=files).raise_for_status().json()["id"]
    batch = {"input_file_id": file, "endpoint": url, "completion_window": "24h"}
    return str(provider.post("/batches", json=batch).raise_for_status().json()["id"])


def _read(provider: httpx.Client, path: str) -> httpx.Response:
    """What a provider has at a path. Raises httpx.HTTPError."""
    return provider.get(path).raise_for_status()


def _is_unknown(error: Exception) -> bool:
    """Whether a provider says that it has no such batch, or not yet."""
    return isinstance(error, httpx.HTTPStatusError) and error.response.status_code == 404


def _progress(state: Mapping[str, Any]) -> str:
    counts = state.get("request_counts") or {}
    return f"{state['status']}, {counts.get('completed', 0)} of {counts.get('total', 0)} answered"


def _answers(provider: httpx.Client, state: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, Any]]]:
    """The answers of a batch that has ended, by the names of its requests. A line that cannot be read is no answer."""
    for part in ("output_file_id", "error_file_id"):
        if state.get(part):
            lines = _read(provider, f"/files/{state[part]}/content").content.splitlines()  # of bytes: no U+2028
            for line in filter(None, lines):
                with suppress(*MALFORMED):
                    row = json.loads(line)
                    yield row["custom_id"], (int(row["response"]["status_code"]), row["response"]["body"])


def _problems(state: Mapping[str, Any], field: str = "message") -> str:
    """What a provider says about a batch that failed."""
    problems = (state.get("errors") or {}).get("data") or ()
    return "; ".join(str(problem.get(field, "")) for problem in problems)[:1000]


def _refusal(state: Mapping[str, Any]) -> int:
    """The status for the requests of a batch that failed: one that exceeds a limit of the account may be sent later."""
    return 429 if "limit_exceeded" in _problems(state, "code") else 400


class _Handler(BaseHTTPRequestHandler):
    """A connection of the proxy."""

    protocol_version = "HTTP/1.1"

    def __init__(self, batches: Batches, *connection: Any) -> None:
        self.batches = batches
        super().__init__(*connection)

    def do_POST(self) -> None:
        _, model, _, route = self.path.split("/", 3)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, reply = self._answer(unquote(model), f"/{route}", body)
        with suppress(OSError):  # the proxy went away
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

    def _answer(self, model: str, route: str, body: dict[str, Any]) -> tuple[int, bytes]:
        if body.get("stream"):
            error = {"message": f"'{model}' answers in batches, which have no streams", "type": "batch", "code": "400"}
            return 400, json.dumps({"error": error}).encode()
        return self.batches.answer(model, route, self.headers.get("Authorization", ""), body)

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent: the proxy has a log."""
