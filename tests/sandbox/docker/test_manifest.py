"""The sizes of an image in a registry: with a token, and without an answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from pipeline.sandbox.docker.manifest import Manifest, read

TEXT = json.dumps({"config": {"size": 100}, "layers": [{"digest": "sha256:a", "size": 20}]})


class Registry(BaseHTTPRequestHandler):
    """Requires a token of its own, which anyone gets who asks for the right service."""

    def do_GET(self) -> None:
        host = self.headers["Host"]
        if self.path == "/token?service=layers&scope=pull":
            return self._answer(200, '{"token": "secret"}')
        if self.headers["Authorization"] != "Bearer secret":
            challenge = f'Bearer realm="http://{host}/token",service="layers",scope="pull"'
            return self._answer(401, "{}", challenge)
        return self._answer(200, TEXT if self.path == "/v2/some/layers/manifests/tag" else "no JSON")

    def _answer(self, code: int, text: str, challenge: str = "") -> None:
        self.send_response(code)
        if challenge:
            self.send_header("WWW-Authenticate", challenge)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def host() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_registry_that_gives_tokens_is_read(host: str) -> None:
    assert read(f"{host}/some/layers", "tag", plain=True) == Manifest(len(TEXT) + 100, (("sha256:a", 20),))


def test_an_unreadable_manifest_is_unknown(host: str) -> None:
    assert read(f"{host}/some/layers", "other", plain=True) is None
    assert read("127.0.0.1:1/some/layers", "tag", plain=True) is None


def test_a_registry_without_tls_is_used_only_if_the_engine_allows_it(host: str) -> None:
    """Otherwise a password would cross the network unencrypted."""
    assert read(f"{host}/some/layers", "tag", plain=False) is None
