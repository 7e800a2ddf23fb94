"""The only way out: one POST to the gateway, tried again where that may help, and the clock of the waiting.

The gateway tries again what a provider failed at, and then says that the client should not (`x-should-retry`); what is
tried again here is a gateway that is not reached, or that says nothing. No key is in any message.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from urllib3 import HTTPResponse, PoolManager, Retry
from urllib3.exceptions import HTTPError, MaxRetryError

from magentless.causes import CAUSE_HEADER, CAUSES_TOLD, Cause, Ended, Fault, ProviderFailure
from magentless.inputs import Provider

ERROR_TEXT_CHARS = 200  # the beginning tells the kind; further on a provider may quote the prompt
TOO_MANY = 429
WORTH_ANOTHER_TRY = (408, 409, 425, TOO_MANY, *range(500, 600))
LONGEST_PAUSE = 60  # seconds
CONNECTIONS = 64  # that are kept open; more are opened where they are needed


@dataclass(frozen=True)
class Endpoint:
    """Where the models are reached, the key of the instance, and the key of what serves several instances."""

    base_url: str
    api_key: str = field(repr=False)
    shared_key: str = field(repr=False)


class Clock:
    """How long at least one request was under way, in seconds. Threads share it."""

    def __init__(self) -> None:
        self.waited = 0.0
        self._lock, self._under_way, self._since = threading.Lock(), 0, 0.0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Counts as waiting for as long as the block."""
        self._step(+1)
        try:
            yield
        finally:
            self._step(-1)

    def _step(self, by: int) -> None:
        with self._lock:
            now = time.monotonic()
            if self._under_way:
                self.waited += now - self._since
            self._under_way, self._since = self._under_way + by, now


class Patience(Retry):
    """Tries again unless the gateway says that this was done already."""

    def increment(self, *args: Any, response: Any = None, **more: Any) -> Retry:
        """The patience that is left. Raises MaxRetryError, upon which the response stands."""
        if response is not None and response.headers.get("x-should-retry") == "false":
            raise MaxRetryError(None, "", "the gateway says so")
        return super().increment(*args, response=response, **more)


class Wire:
    """Sends requests; threads share it. `sent` counts those that were answered."""

    def __init__(self, endpoint: Endpoint, settings: Provider) -> None:
        self.clock, self.sent = Clock(), 0
        self._endpoint = endpoint
        patience = Patience(
            settings.max_retries,
            status_forcelist=WORTH_ANOTHER_TRY,
            allowed_methods=None,
            backoff_factor=0.5,
            backoff_max=LONGEST_PAUSE,
            retry_after_max=LONGEST_PAUSE,
            raise_on_status=False,
        )
        self._http = PoolManager(maxsize=CONNECTIONS, retries=patience, timeout=settings.timeout_seconds)

    def post(self, path: str, body: dict[str, Any], *, shared: bool = False) -> dict[str, Any]:
        """The answer. Raises Ended where the request itself is refused, ProviderFailure where the provider fails."""
        key = self._endpoint.shared_key if shared else self._endpoint.api_key
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        try:
            with self.clock.waiting():
                reply = self._http.request(
                    "POST", f"{self._endpoint.base_url}{path}", body=json.dumps(body), headers=headers
                )
        except HTTPError as error:
            raise ProviderFailure(Fault.UNREACHABLE, self._clean(f"{type(error).__name__}: {error}")) from None
        if reply.status != 200:
            raise self._meaning(reply)
        self.sent += 1
        return _document(reply)

    def _meaning(self, reply: HTTPResponse) -> Ended | ProviderFailure:
        """What the gateway says of it; at an address that says nothing, a budget and too many requests are told."""
        error = _error(reply)
        message = self._clean(f"status {reply.status}: {error.get('message', '')}")
        told = CAUSES_TOLD.get(reply.headers.get(CAUSE_HEADER, ""))
        if isinstance(told, Cause):
            return Ended(told, message)
        text = f"{error.get('code')} {error.get('type')} {message[:ERROR_TEXT_CHARS]}"
        if Fault.BUDGET_EXCEEDED in text:
            return ProviderFailure(Fault.BUDGET_EXCEEDED, message)
        passing = Fault.RATE_LIMITED if reply.status == TOO_MANY else Fault.PROVIDER_ERROR
        return ProviderFailure(told or passing, message)

    def _clean(self, message: str) -> str:
        for key in (self._endpoint.api_key, self._endpoint.shared_key):
            message = message.replace(key, "***")
        return message


def _document(reply: HTTPResponse) -> dict[str, Any]:
    try:
        document = json.loads(reply.data)
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ProviderFailure(Fault.PROVIDER_ERROR, "the answer is no JSON object")
    return document


def _error(reply: HTTPResponse) -> dict[str, Any]:
    """The error as the protocol has it, or the beginning of what came in its place."""
    try:
        error = json.loads(reply.data)["error"]
    except (ValueError, KeyError, TypeError):
        error = reply.data.decode(errors="replace")
    return error if isinstance(error, dict) else {"message": str(error)}
