"""Requests of mini-swe-agent that the gateway refuses: the gateway says which ones to send again."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from pipeline.core.vendors import VENDORS


@contextmanager
def gateway(*answers: tuple[int, dict[str, str]]) -> Iterator[tuple[str, list[bytes]]]:
    """The address of a gateway that gives these answers and then repeats the last one, and the requests that it
    received."""
    received: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            received.append(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers = answers[min(len(received), len(answers)) - 1]
            self.send_response(status)
            for name, value in {**headers, "Content-Length": "0"}.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", received
        finally:
            server.shutdown()


def asked(url: str, monkeypatch: pytest.MonkeyPatch) -> int:
    """The status of an answer."""
    monkeypatch.syspath_prepend(str(VENDORS / "mini-swe-agent"))
    monkeypatch.delitem(sys.modules, "wire", raising=False)
    import wire

    return wire.session().post(url, json={"a": 1}, timeout=5).status_code


BUSY = 429, {"x-should-retry": "true", "retry-after": "0"}
OVERLOADED = 429, {"x-should-retry": "false", "retry-after": "0"}


@pytest.mark.rule("budget")
@pytest.mark.parametrize(
    ("answers", "status", "sent"),
    [
        ((BUSY, BUSY, (200, {})), 200, 3),
        ((BUSY,), 429, 6),
        ((OVERLOADED, (200, {})), 429, 1),
        (((429, {}), (200, {})), 429, 1),
        (((503, {"retry-after": "0"}), (200, {})), 503, 1),
    ],
)
def test_a_request_is_retried_if_the_gateway_asks_for_it(
    answers: tuple[tuple[int, dict[str, str]], ...], status: int, sent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A request that had waited for money ended its task without an answer."""
    with gateway(*answers) as (url, received):
        assert asked(url, monkeypatch) == status
    assert received == [b'{"a": 1}'] * sent
