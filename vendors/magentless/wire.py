"""The only connection to the outside: a POST to the gateway, retried if that may help, and a clock for the waiting.

The gateway retries provider failures, and then tells the client not to (`x-should-retry`). Retried here are an
unreachable gateway, and replies without that header. No message contains a key.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

from urllib3 import BaseHTTPResponse, PoolManager, Retry
from urllib3.exceptions import HTTPError, MaxRetryError, ResponseError

from magentless.causes import CAUSE_HEADER, CAUSES_TOLD, SAMPLE_HEADER, Cause, Ended, Fault, ProviderFailure
from magentless.inputs import Provider

ERROR_TEXT_CHARS = 200  # the beginning is enough; further on, a provider may quote the prompt
TOO_MANY = 429
WORTH_ANOTHER_TRY = (408, 409, 425, TOO_MANY, *range(500, 600))
LONGEST_PAUSE = 60  # seconds
CONNECTIONS = 64  # connections that are kept open; more are opened when needed


@dataclass(frozen=True)
class Endpoint:
    """The gateway's address, the instance's key, and the key for what serves several instances."""

    base_url: str
    api_key: str = field(repr=False)
    shared_key: str = field(repr=False)


class Clock:
    """The total time with at least one request under way, in seconds. Safe to share between threads."""

    def __init__(self) -> None:
        self.waited = 0.0
        self._lock, self._under_way, self._since = threading.Lock(), 0, 0.0

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the duration of the block as waiting."""
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
    """Retries unless the gateway says that it has done so already."""

    def increment(self, method: Any = None, url: Any = None, response: Any = None, *args: Any, **more: Any) -> Self:
        """The remaining retries. Raises MaxRetryError, so that the response is returned."""
        if response is not None and response.headers.get("x-should-retry") == "false":
            raise MaxRetryError(more["_pool"], url, ResponseError("the gateway says so"))
        return super().increment(method, url, response, *args, **more)


class Wire:
    """Sends requests; safe to share between threads. `sent` counts the answered requests."""

    def __init__(self, endpoint: Endpoint, settings: Provider) -> None:
        self.clock, self.sent = Clock(), 0
        self._endpoint = endpoint
        patience = Patience(
            settings.max_retries,
            read=False,  # what was sent may be under way, and would be paid for twice
            status_forcelist=WORTH_ANOTHER_TRY,
            allowed_methods=None,
            backoff_factor=0.5,
            backoff_max=LONGEST_PAUSE,
            retry_after_max=LONGEST_PAUSE,
            raise_on_status=False,
        )
        self._http = PoolManager(maxsize=CONNECTIONS, retries=patience, timeout=settings.timeout_seconds)

    def post(self, path: str, body: dict[str, Any], *, shared: bool = False, sample: str = "") -> dict[str, Any]:
        """Send a request; returns the answer. `sample` tells equal requests apart, so that each is booked.

        Raises Ended if the request is refused, ProviderFailure if the provider fails.
        """
        key = self._endpoint.shared_key if shared else self._endpoint.api_key
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        headers |= {SAMPLE_HEADER: sample} if sample else {}
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

    def _meaning(self, reply: BaseHTTPResponse) -> Ended | ProviderFailure:
        """The exception for a failed request, by the gateway's header; without the header, by the status."""
        error = _error(reply)
        message = self._clean(f"status {reply.status}: {error.get('message', '')}")
        cause = CAUSES_TOLD.get(reply.headers.get(CAUSE_HEADER, ""))
        if isinstance(cause, Cause):
            return Ended(cause, message)
        text = f"{error.get('code')} {error.get('type')} {message[:ERROR_TEXT_CHARS]}"
        if Fault.BUDGET_EXCEEDED in text:
            return ProviderFailure(Fault.BUDGET_EXCEEDED, message)
        passing = Fault.RATE_LIMITED if reply.status == TOO_MANY else Fault.PROVIDER_ERROR
        return ProviderFailure(cause or passing, message)

    def _clean(self, message: str) -> str:
        for key in (self._endpoint.api_key, self._endpoint.shared_key):
            message = message.replace(key, "***")
        return message


def _document(reply: BaseHTTPResponse) -> dict[str, Any]:
    try:
        document = json.loads(reply.data)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        raise ProviderFailure(Fault.PROVIDER_ERROR, "the answer is not a JSON object")
    return document


def _error(reply: BaseHTTPResponse) -> dict[str, Any]:
    """The error object of OpenAI's API, or the beginning of the text that came instead."""
    try:
        error = json.loads(reply.data)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        error = reply.data.decode(errors="replace")
    return error if isinstance(error, dict) else {"message": str(error)}
