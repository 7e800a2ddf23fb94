"""Images in a registry. The engine sends and fetches them layer by layer, so that only missing layers travel.

One repository holds everything, as tags `env-DIGEST-ARCHITECTURE` and `instance-DIGEST-ARCHITECTURE`, so that images
share layers there as they do here. Does not cover the base image as such: its layers travel with the first image on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from docker.errors import APIError, NotFound
from docker.models.images import Image

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.sandbox.docker import manifest
from pipeline.sandbox.docker.engine import Engine
from pipeline.sandbox.docker.faults import FULL, faults
from pipeline.sandbox.docker.names import DIGEST, LAYER, environment_image, instance_image
from pipeline.sandbox.images import Layer, Transfer
from pipeline.sandbox.progress import reporting

#: the name of an image here, and how its tag in a registry begins
NAMES: dict[Layer, tuple[Callable[[str], str], str]] = {
    "environment": (environment_image, "env"),
    "instance": (instance_image, "instance"),
}
#: HOST, HOST:PORT or either with a path; the path of a bare host
REPOSITORY = re.compile(r"[a-z0-9]+([.-][a-z0-9]+)*(:\d+)?(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*")
PATH = "a11y-bench"
#: what the engine says of a layer that travelled
MOVED = ("Pushed", "Pull complete")
#: the digits by which the engine names a layer
SHORT = 12

#: what an engine says of a registry that it cannot use -> what that means, and what to do
REFUSALS = (
    (
        "HTTP response to HTTPS client",
        "the registry {host} answers without TLS, which the engine refuses",
        'give it a certificate; or, in a network that you trust, add {{"insecure-registries": ["{host}"]}} to the '
        "engine's daemon.json and restart the engine",
    ),
    (
        "x509|certificate",
        "the engine does not trust the certificate of the registry {host}",
        "on the engine's machine, store the certificate of its authority as /etc/docker/certs.d/{host}/ca.crt",
    ),
    (
        "unauthorized|no basic auth|denied|authentication required",
        "the registry {host} does not let you use {repository}",
        "sign in: docker login {host}",
    ),
    (
        r"connection refused|no such host|i/o timeout|unreachable|no route|deadline exceeded|Client\.Timeout|\bEOF\b",
        "the engine does not reach the registry {host}",
        "check the name, and that the registry runs and can be reached from the engine's machine",
    ),
)

Say = Callable[[str], None]
Rows = Iterator[dict[str, Any]]


class Registry:
    """A repository of a registry: `HOST[:PORT][/PATH]`. Raises UserError for another form.

    The methods raise UserError, with what to do, if the registry cannot be used, and InfrastructureError if the engine
    fails.
    """

    def __init__(self, engine: Engine, repository: str) -> None:
        if not REPOSITORY.fullmatch(repository):
            hint = "write it like registry.example:5000 or ghcr.io/NAME/layers, without https:// and without a tag"
            raise UserError(f"'{repository}' is not a registry", hint=hint)
        self._engine, self._api = engine, engine.api
        self.repository = repository if "/" in repository else f"{repository}/{PATH}"
        self.host = self.repository.partition("/")[0]

    def push(self, kind: Layer, digest: str, say: Say) -> Transfer | None:
        """Send an image and the layers that the registry lacks; None if the image is not here."""
        name, tag = self._names(kind, digest)
        image = self._engine.image(name)
        if image is None:
            return None
        with self._answering():
            if self._has(tag):
                return Transfer(False)
            self._api.tag(name, self.repository, tag)
            try:
                with reporting(say, f"pushing {name}"):
                    moved = self._moved(self._api.push(self.repository, tag, stream=True, decode=True))
            finally:
                self._untag(tag)
        return Transfer(True, self._wire(image, tag, moved))

    def pull(self, kind: Layer, digest: str, say: Say) -> Transfer | None:
        """Fetch an image and the layers that are missing here; None if the registry does not have it."""
        name, tag = self._names(kind, digest)
        if self._engine.image(name):
            return Transfer(False)
        with self._answering():
            if not self._has(tag):
                return None
            with reporting(say, f"pulling {name}"):
                moved = self._moved(self._api.pull(self.repository, tag, stream=True, decode=True))
            try:
                image = self._engine.image(f"{self.repository}:{tag}")
                assert image, "it was just pulled"
                if (image.labels.get(LAYER), image.labels.get(DIGEST)) != (kind, digest):
                    hint = "name another registry, or push the image again after removing this tag"
                    raise UserError(f"{self.repository}:{tag} is another image", hint=hint)
                repository, _, own_tag = name.partition(":")
                self._api.tag(image.id, repository, own_tag)
            finally:
                self._untag(tag)
        return Transfer(True, self._wire(image, tag, moved))

    def _names(self, kind: Layer, digest: str) -> tuple[str, str]:
        """The image's name here, and its tag in the registry."""
        name, prefix = NAMES[kind]
        return name(digest), f"{prefix}-{digest}-{self._engine.architecture}"

    def _has(self, tag: str) -> bool:
        with suppress(NotFound):
            return bool(self._api.inspect_distribution(f"{self.repository}:{tag}"))
        return False

    def _untag(self, tag: str) -> None:
        """Remove the registry's name of an image: `gc` removes images by their own."""
        with suppress(NotFound):
            self._api.remove_image(f"{self.repository}:{tag}", noprune=True)

    def _moved(self, rows: Rows) -> set[str]:
        """The layers that travelled, as the engine names them, once all have."""
        moved = set[str]()
        for row in rows:
            if "error" in row:
                cause = "disk" if FULL in row["error"].lower() else "registry"
                raise InfrastructureError(f"the Docker engine failed: {row['error']}", cause=cause)
            if row.get("status") in MOVED:
                moved.add(row["id"])
        return moved

    def _wire(self, image: Image, tag: str, moved: set[str]) -> int | None:
        """The bytes of the layers that travelled, with the image's description. An engine names layers by the digest of
        what they contain when it pushes, and by that of the compressed layer when it pulls."""
        known = manifest.read(self.repository, tag, plain=self._is_plain)
        if known is None:
            return None
        pairs = zip(image.attrs["RootFS"]["Layers"], known.layers, strict=True)
        names = ((size, {_short(contents), _short(compressed)}) for contents, (compressed, size) in pairs)
        return known.description + sum(size for size, both in names if both & moved)

    @property
    def _is_plain(self) -> bool:
        """Whether the engine may use the registry without TLS."""
        index = self._engine.info["RegistryConfig"]["IndexConfigs"].get(self.host)
        return not index["Secure"] if index else self.host.split(":")[0] == "localhost" or self.host.startswith("127.")

    @contextmanager
    def _answering(self) -> Iterator[None]:
        try:
            with faults():
                yield
        except InfrastructureError as error:
            if error.cause == "registry" or isinstance(error.__cause__, APIError):
                for pattern, message, hint in REFUSALS:
                    if re.search(pattern, str(error), re.IGNORECASE):
                        names = {"host": self.host, "repository": self.repository}
                        raise UserError(message.format(**names), hint=hint.format(**names)) from error
            raise


def _short(digest: str) -> str:
    return digest.partition(":")[2][:SHORT]
