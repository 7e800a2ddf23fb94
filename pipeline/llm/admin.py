"""The administrator's interface of a LiteLLM proxy with a database: models, teams, keys, and its log of requests.

HTTP only; every answer is LiteLLM's own. Knows no experiment and no ledger.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.llm import ROUTES
from pipeline.llm.models import PROXY_KEY, PROXY_URL

#: rows of the log in one answer
PAGE = 100
#: the log requires two dates
EVER = {"start_date": "2000-01-01 00:00:00", "end_date": "2100-01-01 00:00:00"}
#: what our keys open, and for how long at most: they are deleted when their gateway closes
OPENED = {"allowed_routes": [f"{start}{route}" for start in ("", "/v1") for route in ROUTES], "duration": "7d"}
#: the smallest limit in USD: LiteLLM does not keep one of 0
LEAST = 1e-9

Answer = dict[str, Any]


class Admin:
    """`address` is the proxy's, without /v1. Raises UserError if the proxy refuses, InfrastructureError if it fails."""

    def __init__(self, address: str, master_key: str) -> None:
        headers = {"Authorization": f"Bearer {master_key}"}
        retrying = httpx.HTTPTransport(retries=2)
        self._client = httpx.Client(base_url=address, headers=headers, timeout=60, transport=retrying)

    def close(self) -> None:
        self._client.close()

    def models(self) -> dict[str, Answer]:
        """The models that it serves, by name: LiteLLM's entries, without keys."""
        return {entry["model_name"]: entry for entry in self._ask("GET", "/model/info")["data"]}

    # -- teams and keys ---------------------------------------------------------------------------------------------
    def team(self, name: str) -> Answer:
        """The team with that id, created if there is none."""
        answer = self._send("GET", "/team/info", params={"team_id": name})
        if answer.status_code == 404:
            return self._ask("POST", "/team/new", json={"team_id": name, "team_alias": name})
        return _checked(answer)["team_info"]

    def limit(self, team: str, budget_usd: float | None) -> None:
        """Limit what all keys of the team may ever spend; None means no limit."""
        limit = None if budget_usd is None else max(LEAST, budget_usd)
        self._ask("POST", "/team/update", json={"team_id": team, "max_budget": limit})

    def new_key(self, alias: str, models: list[str], team: str | None = None) -> str:
        body = {"key_alias": alias, "models": models, "team_id": team, **OPENED}
        return self._ask("POST", "/key/generate", json=body)["key"]

    def cap(self, key: str, budget_usd: float) -> None:
        """Limit what one key may spend."""
        self._ask("POST", "/key/update", json={"key": key, "max_budget": max(LEAST, budget_usd)})

    def delete_keys(self, keys: list[str]) -> None:
        if keys:
            self._ask("POST", "/key/delete", json={"keys": keys})

    # -- the log ----------------------------------------------------------------------------------------------------
    def refused(self, key: str) -> None:
        """Ask for a model that the key does not open: this costs nothing but is logged."""
        headers = {"Authorization": f"Bearer {key}"}
        self._send("POST", "/v1/chat/completions", json={"model": "none", "messages": []}, headers=headers)

    def log(self, **filters: str) -> Iterator[Answer]:
        """Every logged request of a team (`team_id`) or a key (`api_key`), oldest first."""
        page = 0
        rows: list[dict[str, Any]] = [{}] * PAGE
        while len(rows) == PAGE:
            page += 1
            query = {**EVER, **filters, "page": page, "page_size": PAGE, "sort_by": "startTime", "sort_order": "asc"}
            rows = self._ask("GET", "/spend/logs/v2", params=query)["data"]
            yield from rows

    def _ask(self, method: str, path: str, **arguments: Any) -> Answer:
        return _checked(self._send(method, path, **arguments))

    def _send(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        try:
            return self._client.request(method, path, **arguments)
        except httpx.TransportError as error:
            address = self._client.base_url
            hint = f"start it (just proxy-start), or unset {PROXY_URL} for the embedded one"
            raise InfrastructureError(f"no LiteLLM proxy at {address}: {error}\n  {hint}", cause="proxy") from None


def _checked(answer: httpx.Response) -> Answer:
    if answer.is_success:
        return answer.json()
    message = f"the LiteLLM proxy answers {answer.status_code} to {answer.request.url.path}: {_message(answer)}"
    if answer.status_code in (400, 401, 403, 404):
        hint = f"{PROXY_URL} must be a LiteLLM proxy with a database, and {PROXY_KEY} its master key"
        raise UserError(message, hint=hint)
    raise InfrastructureError(message, cause="proxy")


def _message(answer: httpx.Response) -> str:
    """LiteLLM's message, cut: it can quote the end of a key."""
    try:
        error: Mapping[str, Any] = answer.json()["error"]
        return str(error["message"])[:200]
    except (ValueError, KeyError, TypeError):
        return answer.text[:200]
