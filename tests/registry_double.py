"""An npm registry with one small package, `dep@1.0.0`, that can be told to refuse: for containers of the engine in use.

It listens where they reach this host, at the gateway of the engine's bridge.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import docker

from pipeline.core.sandbox import tar

PACKAGE = {"name": "dep", "version": "1.0.0"}
TARBALL = tar.of_entries({"package/package.json": json.dumps(PACKAGE).encode()})


class Registry(ThreadingHTTPServer):
    """`refusals` are the statuses of the next answers, the last one of all later ones when `for_ever` is set."""

    def __init__(self, *refusals: int, for_ever: bool = False) -> None:
        bridge = docker.from_env().networks.get("bridge").attrs["IPAM"]["Config"][0]
        super().__init__((bridge["Gateway"], 0), Answer)
        self.refusals, self.for_ever = list(refusals), for_ever
        self.address = f"http://{self.server_address[0]}:{self.server_port}/"

    def __enter__(self) -> Registry:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()

    def refusal(self) -> int | None:
        if self.for_ever:
            return self.refusals[0]
        return self.refusals.pop(0) if self.refusals else None

    def document(self) -> bytes:
        sha512 = base64.b64encode(hashlib.sha512(TARBALL).digest()).decode()
        dist = {"tarball": f"{self.address}dep.tgz", "integrity": f"sha512-{sha512}"}
        versions = {"1.0.0": PACKAGE | {"dist": dist}}
        return json.dumps({"name": "dep", "dist-tags": {"latest": "1.0.0"}, "versions": versions}).encode()


class Answer(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        if refusal := self.server.refusal():
            self.send_error(refusal)
            return
        body = TARBALL if self.path.endswith(".tgz") else self.server.document()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: object) -> None:
        """Says nothing."""
