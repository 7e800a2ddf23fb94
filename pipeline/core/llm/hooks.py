"""What the LiteLLM proxy asks us: whose key this is, and where to book what a request cost.

Runs inside the proxy's own environment: standard library, LiteLLM, and the files here that need no more. Reads
A11Y_BENCH_GATEWAY (config.py writes it) and the ledger's keys; writes the ledger's requests. Every request is opened in
the ledger before it is sent, in `async_pre_call_hook`, and booked by the event that ends it.
"""

from __future__ import annotations

import json
import os
from datetime import datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import HTTPException, Request
from litellm import BudgetExceededError
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy._types import UserAPIKeyAuth

from pipeline.core.llm.ledger import OK, Booking, Key, Ledger, key_hash
from pipeline.core.llm.prices import Price, usage_of

#: all that a key opens: other routes of LiteLLM reach a provider past the ledger, or administer the proxy
ROUTES = ("/chat/completions", "/embeddings", "/models")
#: parameters of LiteLLM, not of the protocol, that a request may not set: they change who answers, or how often
NOT_FOR_REQUESTS = ("fallbacks", "mock_response", "num_retries")
#: where the ledger's id of a request travels from the hook before it to the event after it
ROW = "a11y_bench_request"


class Listed(NamedTuple):
    """What the hooks need of a model of the list: `kind` is `llm` or `embedding`."""

    kind: str
    price: Price


@cache
def ledger() -> Ledger:
    return Ledger(Path(_settings()["ledger"]))


@cache
def models() -> dict[str, Listed]:
    listed = _settings()["models"]
    return {name: Listed(kind, Price(*map(Decimal, prices))) for name, (kind, *prices) in listed.items()}


def _settings() -> dict[str, Any]:
    return json.loads(os.environ["A11Y_BENCH_GATEWAY"])


# -- before a request: whose key is it ------------------------------------------------------------------------------
async def custom_auth(request: Request, api_key: str) -> UserAPIKeyAuth:
    """Admit a request whose key is in the ledger and has money left. Refuses with 401, 403 or `budget_exceeded`."""
    hashed = key_hash(api_key.removeprefix("Bearer "))
    key = ledger().key(hashed)
    if key is None:
        raise HTTPException(401, "no key of this gateway")
    if request.url.path.removeprefix("/v1") not in ROUTES:
        raise HTTPException(403, f"a key opens {', '.join(ROUTES)} only")
    _check_budget(key)
    return UserAPIKeyAuth(api_key=hashed, key_alias=key.alias, models=_opened_by(key))


def _check_budget(key: Key) -> None:
    if key.budget_usd is None:
        return
    spent = ledger().spend(key.experiment, key.holder)
    if spent >= key.budget_usd:
        message = f"budget of {key.alias} is reached: {spent:f} of {key.budget_usd:f} USD"
        raise BudgetExceededError(float(spent), float(key.budget_usd), message)


def _opened_by(key: Key) -> list[str]:
    """An experiment's own model and every embedding model, so that no spend is booked on the wrong experiment."""
    return [key.model, *(name for name, model in models().items() if model.kind == "embedding")]


# -- around a request: the ledger -----------------------------------------------------------------------------------
class Bookkeeper(CustomLogger):
    """Opens and books one row per request. LiteLLM passes all arguments by these names."""

    async def async_pre_call_hook(
        self, user_api_key_dict: UserAPIKeyAuth, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        model, opened = data.get("model"), user_api_key_dict.models
        if model not in opened:
            raise HTTPException(403, f"no model '{model}' for this key; there is: {', '.join(opened)}")
        row = ledger().open(user_api_key_dict.api_key, model, models()[model].kind)
        allowed = {name: value for name, value in data.items() if name not in NOT_FOR_REQUESTS}
        if data.get("stream"):
            allowed["stream_options"] = {"include_usage": True}
        return {**allowed, "metadata": {**(data.get("metadata") or {}), ROW: {"id": row, "model": model}}}

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: datetime, end_time: datetime
    ) -> None:
        _book(kwargs, OK, start_time, end_time)

    async def async_log_failure_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: datetime, end_time: datetime
    ) -> None:
        error = kwargs["standard_logging_object"].get("error_information") or {}
        _book(kwargs, error.get("error_code") or error.get("error_class") or "error", start_time, end_time)

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        user_api_key_dict: UserAPIKeyAuth,
        original_exception: Exception,
        traceback_str: str | None = None,
    ) -> None:
        """Hand the provider's Retry-After on to the client: LiteLLM would rename the header."""
        given = getattr(original_exception, "litellm_response_headers", None) or {}
        if "retry-after" in given:
            original_exception.headers = {"retry-after": given["retry-after"]}


def _book(kwargs: dict[str, Any], status: str, start: datetime, end: datetime) -> None:
    """Book what ended. A request that was refused before it had a row has none."""
    row = (kwargs["litellm_params"].get("metadata") or {}).get(ROW)
    if row is None:
        return
    usage = usage_of(kwargs["standard_logging_object"]["metadata"].get("usage_object"))
    latency = round((end - start).total_seconds() * 1000)
    ledger().book(row["id"], Booking(status, usage, models()[row["model"]].price.cost(usage), latency))


bookkeeper = Bookkeeper()
