"""An npm registry with small packages of one version each, which can be told to refuse.

It listens where containers of the engine in use reach this host, at the gateway of its bridge, unless another host is
given. It answers 404 for everything else.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_network

import docker

from pipeline.sandbox.docker import tar


class Registry(ThreadingHTTPServer):
    """`refusals` are the statuses of the next answers; with `for_ever`, the last one applies to all later answers.

    `packages` are versions by name, `asked` the requested paths.
    """

    def __init__(
        self, *refusals: int, for_ever: bool = False, host: str = "", packages: dict[str, str] | None = None
    ) -> None:
        super().__init__((host or gateway(), 0), Answer)
        self.refusals, self.for_ever = list(refusals), for_ever
        self.packages, self.asked = packages or {"dep": "1.0.0"}, []
        self.archives = {name: _archive(self._manifest(name)) for name in self.packages}
        self.address = f"http://{host or gateway()}:{self.server_port}/"

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

    def answer(self, path: str, asked: str) -> bytes | None:
        """A package's document, or its archive; None if there is no such package. `asked` is this registry's address as
        the client knows it."""
        self.asked.append(path)
        name = path.strip("/").removesuffix(".tgz")
        if name not in self.packages:
            return None
        return self.archives[name] if path.endswith(".tgz") else self._document(name, asked)

    def _manifest(self, name: str) -> dict[str, str]:
        return {"name": name, "version": self.packages[name]}

    def _document(self, name: str, asked: str) -> bytes:
        manifest = self._manifest(name)
        version = manifest["version"]
        sha512 = base64.b64encode(hashlib.sha512(self.archives[name]).digest()).decode()
        dist = {"tarball": f"{asked}{name}.tgz", "integrity": f"sha512-{sha512}"}
        document = {"name": name, "dist-tags": {"latest": version}, "versions": {version: manifest | {"dist": dist}}}
        document["time"] = {version: "2020-01-01T00:00:00.000Z"}
        return json.dumps(document).encode()


def _archive(manifest: dict[str, str]) -> bytes:
    """A package's archive, which contains the current time: it is made once, so its checksum stays the same."""
    return tar.of_entries({"package/package.json": json.dumps(manifest).encode()})


def gateway() -> str:
    """Where containers of the engine in use reach this host; for an engine that does not say, the first address."""
    network = docker.from_env().networks.get("bridge").attrs["IPAM"]["Config"][0]
    return network.get("Gateway") or str(next(ip_network(network["Subnet"]).hosts()))


class Answer(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        asked = f"http://{self.headers['Host']}/"
        refusal, body = self.server.refusal(), self.server.answer(self.path, asked)
        if refusal or body is None:
            self.send_error(refusal or 404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *values: object) -> None:
        """Log nothing."""
