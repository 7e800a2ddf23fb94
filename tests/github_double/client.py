"""The simplest client, for tests of the double itself: one request, its status, headers and body."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from github_double.server import GitHubDouble

HEADERS = {"Authorization": "bearer secret", "User-Agent": "test"}


class Reply(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def data(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    @property
    def kinds(self) -> list[str | None]:
        """The types of the errors in a GraphQL answer."""
        return [error.get("type") for error in self.data.get("errors", [])]


def post(github: GitHubDouble, query: str, token: str = "secret", **variables: Any) -> Reply:
    """Send a GraphQL query."""
    body = json.dumps({"query": query, "variables": variables}).encode()
    return send(Request(f"{github.url}/graphql", body, HEADERS | {"Authorization": f"bearer {token}"}))


def get(github: GitHubDouble, path: str, **headers: str) -> Reply:
    """Request a REST path."""
    return send(Request(github.url + path, headers=HEADERS | headers))


def send(request: Request) -> Reply:
    """Send any request; error statuses are returned as replies."""
    try:
        with urlopen(request) as answer:
            return Reply(answer.status, dict(answer.headers), answer.read())
    except HTTPError as error:
        return Reply(error.code, dict(error.headers), error.read())
