"""The only way out: one POST to the gateway, tried again where that may help, and the clock of the waiting.

The gateway tries again what a provider failed at, and then says that the client should not (`x-should-retry`); what is
tried again here is a gateway that is not reached, or that says nothing. No key is in any message.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from magentless.causes import ERRORS_BY_TEXT, FAULTS_BY_STATUS, Cause, Ended, Fault, ProviderFailure
from magentless.inputs import Provider

ERROR_TEXT_CHARS = 200  # the beginning tells the kind; further on a provider may quote the prompt
WORTH_ANOTHER_TRY = (408, 409, 425, 429)
LONGEST_PAUSE = 60.0  # seconds


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


class Wire:
    """Sends requests; threads share it. `sent` counts those that were answered."""

    def __init__(self, endpoint: Endpoint, settings: Provider) -> None:
        self.clock, self.sent = Clock(), 0
        self._endpoint, self._tries = endpoint, settings.max_retries + 1
        unlimited = httpx.Limits(max_connections=None)
        self._http = httpx.Client(timeout=settings.timeout_seconds, limits=unlimited)

    def post(self, path: str, body: dict[str, Any], *, shared: bool = False) -> dict[str, Any]:
        """The answer. Raises Ended where the request itself is refused, ProviderFailure where the provider fails."""
        with self.clock.waiting():
            for attempt in range(1, self._tries + 1):
                answer = self._try(path, body, shared=shared, last=attempt == self._tries)
                if isinstance(answer, dict):
                    self.sent += 1
                    return answer
                time.sleep(_pause(answer, attempt))
        raise AssertionError("the last try answers or raises")

    def _try(self, path: str, body: dict[str, Any], *, shared: bool, last: bool) -> dict[str, Any] | httpx.Headers:
        """The answer, or the headers of one that is worth another try."""
        key = self._endpoint.shared_key if shared else self._endpoint.api_key
        try:
            reply = self._http.post(
                f"{self._endpoint.base_url}{path}", json=body, headers={"Authorization": f"Bearer {key}"}
            )
        except httpx.TransportError as error:
            if last:
                raise ProviderFailure(Fault.UNREACHABLE, self._clean(f"{type(error).__name__}: {error}")) from None
            return httpx.Headers()
        if reply.is_success:
            return _document(reply)
        if last or not _is_worth_another_try(reply):
            raise self._meaning(reply)
        return reply.headers

    def _meaning(self, reply: httpx.Response) -> Ended | ProviderFailure:
        error = _error(reply)
        message = self._clean(f"status {reply.status_code}: {error.get('message', '')}")
        text = f"{error.get('code')} {error.get('type')} {message[:ERROR_TEXT_CHARS]}"
        told = next((cause for word, cause in ERRORS_BY_TEXT if word in text), None)
        if isinstance(told, Cause):
            return Ended(told, message)
        by_status = dict(FAULTS_BY_STATUS).get(reply.status_code, Fault.PROVIDER_ERROR)
        return ProviderFailure(told or by_status, message)

    def _clean(self, message: str) -> str:
        for key in (self._endpoint.api_key, self._endpoint.shared_key):
            message = message.replace(key, "***")
        return message


def _is_worth_another_try(reply: httpx.Response) -> bool:
    told = reply.headers.get("x-should-retry")
    return told != "false" and (told == "true" or reply.status_code in WORTH_ANOTHER_TRY or reply.status_code >= 500)


def _pause(headers: httpx.Headers, attempt: int) -> float:
    """Seconds to wait before the next try: what the provider names, else 0.5, 1, 2, 4 and so on."""
    try:
        pause = float(headers.get("retry-after", ""))
    except ValueError:
        pause = 2.0 ** (attempt - 2)
    return min(max(pause, 0.0), LONGEST_PAUSE)


def _document(reply: httpx.Response) -> dict[str, Any]:
    try:
        document = reply.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        raise ProviderFailure(Fault.PROVIDER_ERROR, "the answer is no JSON object")
    return document


def _error(reply: httpx.Response) -> dict[str, Any]:
    """The error as the protocol has it, or the beginning of what came in its place."""
    try:
        error = reply.json()["error"]
    except (ValueError, KeyError, TypeError):
        error = reply.text
    return error if isinstance(error, dict) else {"message": str(error)}
