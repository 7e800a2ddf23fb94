"""The sizes of an image's layers in a registry, from its manifest, since an engine does not tell them.

Reads the registry over HTTP, with the credentials that `docker login` stored. Does not cover a registry that only the
engine reaches: its sizes are unknown.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import docker
import httpx
from docker.auth import load_config, resolve_repository_name
from docker.errors import DockerException

#: the forms of manifests with sizes: Docker's and the Open Container Initiative's
FORMS = "application/vnd.docker.distribution.manifest.v2+json, application/vnd.oci.image.manifest.v1+json"
#: index -> the host of its registry, where that is another
HOSTS = {docker.auth.INDEX_NAME: "registry-1.docker.io"}


class Manifest(NamedTuple):
    """An image in a registry: the bytes of its description, and the digest and compressed bytes of each layer, from the
    bottom."""

    description: int
    layers: tuple[tuple[str, int], ...]


def read(repository: str, tag: str, *, plain: bool) -> Manifest | None:
    """The manifest of a tag; None if it cannot be read from here. `plain` allows HTTP without TLS."""
    index, path = resolve_repository_name(repository)
    for scheme in ("https", "http") if plain else ("https",):
        try:
            response = _answer(f"{scheme}://{HOSTS.get(index, index)}/v2/{path}/manifests/{tag}", index)
            parts = response.raise_for_status().json()
            layers = tuple((layer["digest"], layer["size"]) for layer in parts["layers"])
            return Manifest(len(response.content) + parts["config"]["size"], layers)
        except (httpx.HTTPError, ValueError, KeyError):
            continue
    return None


def _answer(url: str, index: str) -> httpx.Response:
    """The registry's answer, after a second request if it names a server that gives tokens (Docker Hub, GitHub)."""
    with httpx.Client(auth=_credentials(index), follow_redirects=True, timeout=30) as client:
        response = client.get(url, headers={"Accept": FORMS})
        challenge = response.headers.get("WWW-Authenticate", "")
        if response.status_code != httpx.codes.UNAUTHORIZED or not challenge.lower().startswith("bearer "):
            return response
        fields = dict(re.findall(r'(\w+)="([^"]*)"', challenge))
        token = client.get(fields.pop("realm"), params=fields).raise_for_status().json()
        bearer = f"Bearer {token.get('token') or token['access_token']}"
        return client.get(url, headers={"Accept": FORMS, "Authorization": bearer}, auth=None)


def _credentials(index: str) -> tuple[str, str] | None:
    try:
        stored: dict[str, Any] = load_config().resolve_authconfig(index) or {}
    except DockerException:  # the program that keeps them fails
        return None
    return (stored["Username"], stored["Password"]) if stored.get("Username") else None
