"""The hooks of the embedded LiteLLM proxy: they check keys and book what requests cost.

Runs inside the proxy's own environment: standard library, LiteLLM, and the files here that need no more. Reads
A11Y_BENCH_GATEWAY (config.py writes it) and the ledger's keys; writes the ledger's requests. Every request is opened in
the ledger in `async_pre_call_hook`, reserves money in `before_sending` unless it is a replay (replays.py), and is
booked once, when it was answered or the last try failed.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakValueDictionary

import httpx
from fastapi import HTTPException, Request
from litellm import BudgetExceededError
from litellm.proxy._types import UserAPIKeyAuth

from pipeline.llm import ROUTES
from pipeline.llm.ends import Gone, when_cut, when_over, while_connected
from pipeline.llm.ledger import (
    BUDGET_EXCEEDED,
    CACHED,
    CUT_OFF,
    OK,
    UNCOUNTED,
    Booking,
    Key,
    Ledger,
    Unaffordable,
    key_hash,
)
from pipeline.llm.money import LEFT, Busy, patience, reserve
from pipeline.llm.policy import (
    CAUSE,
    OF_THE_REQUEST,
    PROVIDER,
    SAMPLE,
    TEXT_CHARS,
    TOO_LARGE,
    Excessive,
    Policy,
    cause_of_error,
    request_of,
)
from pipeline.llm.prices import EXACT, Price, Usage, is_too_long, usage_of
from pipeline.llm.streams import SERVED, TOTAL, Unfinished
from pipeline.llm.unanswered import booked_status

#: the usage of a request that was answered from the cache, or not at all
NOTHING = Usage()
#: the field that carries a request's id in the ledger from the hook before the request to the event after it
ROW = "a11y_bench_request"
#: the field that carries the name of a key's answer from the key to the cache of responses
ANSWER = "a11y_bench_answer"
#: the status for a request that is to be sent again, and after how many seconds
AGAIN, PAUSE = 429, 5
#: seconds that embeddings are kept
DAY = 86_400
#: the fields of an answer's message on which its tokens are spent
_CONTENT = ("content", "tool_calls", "reasoning_content")
#: the fields of replies with the name of the model: of most protocols, and of Gemini's
_NAMES = ("model", "modelVersion")
#: the status of a request that LiteLLM cannot translate for the provider, and was therefore not sent
UNSENDABLE = 400
#: statuses of a try that took too long: the model may have answered, but nobody waited for it
LATE = (408, 504, 524)
#: errors of a connection that was never made
UNCONNECTED = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError, httpx.UnsupportedProtocol)
#: requests whose clients went away before the end of their answers
CUT: set[str] = set()
#: streams whose tokens the provider did not count, by their id in the ledger
GUESSED: set[str] = set()
#: a lock for each request for embeddings that is under way, by the name of its answer in the cache
EMBEDDING: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()


@dataclass
class Tries:
    """The tries at a request under way: how often it was sent, how many of these sends `failed`, and how many of the
    failed ones may have a cost (`costly`). `is_unsendable`: LiteLLM failed before it sent the request, and not because
    of the machine."""

    sends: int = 0
    failed: int = 0
    costly: int = 0
    is_unsendable: bool = False


#: the tries at each request under way, by its id in the ledger
TRIES: dict[str, Tries] = {}


class Listed(NamedTuple):
    """The part of a model's entry that the hooks need: `kind` is `llm` or `embedding`, `context` and `most` the most
    tokens of a prompt and of an answer, `longest` how long an answer may be asked for (each 0: unknown), `choices` how
    many answers one request may ask for. `defaults` are fields that the entry adds to requests without them, `dropped`
    those that it removes. `shape` is a digest of what shapes its answers: the list may give one name to another
    model."""

    kind: str
    provider: str
    price: Price
    context: int
    most: int
    longest: int
    choices: int
    defaults: dict[str, int]
    dropped: list[str]
    shape: str

    def worst(self, request: dict[str, Any]) -> Decimal:
        """The most that a request may cost as it is sent, in USD."""
        sent = {name: value for name, value in (self.defaults | request).items() if name not in self.dropped}
        return self.price.worst(sent, self.context, self.most)

    def longest_cost(self) -> Decimal:
        """The most that one prompt and its answer may cost, or a long request for embeddings, in USD."""
        return self.price.worst_of_any(*((0, 0) if self.kind == "embedding" else (self.context, self.most)))


class LimitReached(BudgetExceededError):
    """LiteLLM's answer to a request that does not fit, with the type that it has elsewhere."""

    type = BUDGET_EXCEEDED


@cache
def ledger() -> Ledger:
    return Ledger(Path(_settings()["ledger"]))


@cache
def models() -> dict[str, Listed]:
    listed = _settings()["models"]
    return {name: Listed(**entry | {"price": Price.read(entry["price"])}) for name, entry in listed.items()}


def limits() -> dict[str, dict[str, int]]:
    """The limits of each provider."""
    return _settings()["limits"]


@cache
def _settings() -> dict[str, Any]:
    return json.loads(os.environ["A11Y_BENCH_GATEWAY"])


# -- before a request: checking the key -----------------------------------------------------------------------------
async def custom_auth(request: Request, api_key: str) -> UserAPIKeyAuth:
    """Admit a request whose key is in the ledger. Refuses with 401 or 403."""
    hashed = key_hash(api_key.removeprefix("Bearer "))
    key = ledger().key(hashed)
    if key is None or not ledger().is_admitted(hashed, _settings()["gateway"]):
        raise HTTPException(401, "no key of this gateway")
    if request.url.path.removeprefix("/v1") not in ROUTES:
        raise HTTPException(403, f"a key opens {', '.join(ROUTES)} only")
    return UserAPIKeyAuth(api_key=hashed, key_alias=key.alias, models=_opened_by(key), metadata={ANSWER: key.answer})


def _opened_by(key: Key) -> list[str]:
    """An experiment's own model and every embedding model, so that no spend is booked on the wrong experiment."""
    return [key.model, *(name for name, model in models().items() if model.kind == "embedding")]


# -- around a request: the ledger -----------------------------------------------------------------------------------
class Bookkeeper(Policy):
    """Opens and books one row per request. LiteLLM passes all arguments by these names."""

    def choices(self, model: str) -> int:
        return models()[model].choices

    def embeds(self, model: str) -> bool:
        return models()[model].kind == "embedding"

    def longest(self, model: str) -> int:
        return models()[model].longest

    async def async_pre_call_hook(
        self, user_api_key_dict: UserAPIKeyAuth, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        model, opened = data.get("model"), user_api_key_dict.models
        if not isinstance(model, str) or model not in opened:
            raise HTTPException(403, f"no model '{model}' for this key; available: {', '.join(opened)}")
        allowed = await super().async_pre_call_hook(user_api_key_dict, cache, data, call_type)
        request, answer = request_of(allowed), user_api_key_dict.metadata.get(ANSWER, "")
        kind = models()[model].kind
        if is_too_long(request, models()[model].context):
            raise HTTPException(TOO_LARGE, f"the input is too long for the context of '{model}'")
        allowed["cache"] = _cache_of(request | {"shape": models()[model].shape}, kind, answer, _sample(data))
        if kind == "embedding":
            await _first_of_its_kind(allowed["cache"]["namespace"])
        row = ledger().open(user_api_key_dict.api_key, model, kind)
        worst = models()[model].worst(request)
        when_cut(partial(_cut_off, row, worst))
        opening = {"id": row, "model": model, "began": time.monotonic(), "key": user_api_key_dict.api_key}
        opening |= {"worst": format(worst, "f"), "patience": patience(_headers(data))}
        return {**allowed, "metadata": {**allowed["metadata"], ROW: opening}}

    def log_pre_api_call(self, model: str, messages: Any, kwargs: dict[str, Any]) -> None:
        """Count a try at a request."""
        if opening := _opening(kwargs):
            TRIES.setdefault(opening["id"], Tries()).sends += 1

    async def async_post_call_failure_deployment_hook(
        self, request_data: Mapping[str, Any], exception: Exception, call_type: Any, fallback_depth: int | None = None
    ) -> None:
        """Note that a try failed, whether it was sent, and whether it may have a cost."""
        opening = (request_data.get("metadata") or {}).get(ROW)
        if opening is None:
            return
        tries = TRIES.setdefault(opening["id"], Tries())
        if tries.sends == tries.failed:
            is_faulty = any(isinstance(error, OSError | httpx.HTTPError) for error in _chain(exception))
            tries.is_unsendable = not tries.sends and not is_faulty
        else:
            tries.failed = tries.sends
            tries.costly += _may_have_cost(exception)

    async def async_post_call_streaming_iterator_hook(
        self, user_api_key_dict: Any, response: Any, request_data: dict[str, Any]
    ) -> AsyncIterator[Any]:
        """Pass a stream on, and note if the provider counted no tokens: LiteLLM would count them itself, in silence."""
        async for chunk in response:
            yield chunk
        opening = (request_data.get("metadata") or {}).get(ROW)
        if opening and not any(getattr(chunk, "usage", None) for chunk in getattr(response, "chunks", None) or [None]):
            GUESSED.add(opening["id"])

    async def async_log_success_event(
        self, kwargs: dict[str, Any], response_obj: Any, start_time: datetime, end_time: datetime
    ) -> None:
        """Book an answered request. One from the cache costs nothing: the first request paid for it."""
        opening = _opening(kwargs)
        if kwargs.get("cache_hit"):
            _book(opening, CACHED)
        elif opening and kwargs.get("stream") and opening["id"] in CUT:
            CUT.discard(opening["id"])  # its usage would be a guess
        else:
            is_guessed = opening is not None and opening["id"] in GUESSED
            usage = NOTHING if is_guessed else usage_of(_reported(kwargs))
            _note(opening, kwargs, response_obj)
            is_counted = usage.tokens_in and (usage.tokens_out or not _has_content(response_obj))
            if is_counted:
                _book(opening, OK, usage)
            else:
                _book(opening, UNCOUNTED, costly=1)

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        user_api_key_dict: UserAPIKeyAuth,
        original_exception: Exception,
        traceback_str: str | None = None,
    ) -> HTTPException | None:
        """Book a request whose last try failed. If the prompt's length or content is to blame, this cause is booked in
        place of the status; if LiteLLM could not even send it, the provider is not to blame. A request that waited for
        money and did not get it is to be sent again."""
        opening, is_stream = (request_data.get("metadata") or {}).get(ROW), bool(request_data.get("stream"))
        tries = _tries(opening)
        answer = _unsendable(original_exception) if tries.is_unsendable else None
        blamed = answer or original_exception
        status = _status(blamed)
        cause = cause_of_error(blamed)
        if not (is_stream and opening and opening["id"] in CUT):
            has_broken_off = is_stream and tries.sends > tries.failed and status.startswith("5")
            _book(opening, cause if cause in OF_THE_REQUEST else status, costly=int(has_broken_off))
        await super().async_post_call_failure_hook(request_data, user_api_key_dict, blamed, traceback_str)
        if not isinstance(original_exception, Busy):
            return answer
        headers = {"retry-after": str(PAUSE), "x-should-retry": "true", CAUSE: PROVIDER}
        return HTTPException(AGAIN, str(original_exception), headers)


def _cache_of(request: dict[str, Any], kind: str, answer: str, sample: str) -> dict[str, Any]:
    """How LiteLLM's cache treats a request. Attempts and samples do not share answers.

    LiteLLM caches embeddings text by text, and would book those that it finds. We therefore cache a request for
    embeddings as a whole, for a day, in case a run is interrupted; agents keep the vectors that they received.
    """
    if kind == "embedding":
        whole = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()
        return {"namespace": f"{answer} {whole}".strip(), "ttl": DAY}
    if request.get("temperature") == 0 or (answer and sample):
        return {"namespace": f"{answer} {sample}".strip()}
    return {"no-cache": True, "no-store": True}


async def _first_of_its_kind(name: str) -> None:
    """Wait until no equal request for embeddings is under way; its answer is then in the cache. Otherwise, experiments
    that begin at the same time would all pay for the same index."""
    lock = EMBEDDING.setdefault(name, asyncio.Lock())
    try:
        await while_connected(lock.acquire())
    except Gone:
        raise HTTPException(LEFT, "the client went away") from None
    when_over(lock.release)


async def before_sending(arguments: Mapping[str, Any]) -> None:
    """Reserve money for a request of LiteLLM's with these arguments. Refuses a request that does not fit, and one whose
    client went away while it waited. Raises Busy for a request that may fit later."""
    opening = (arguments.get("metadata") or {}).get(ROW)
    if opening is None or opening.get("reserved"):
        return
    row, worst = opening["id"], Decimal(opening["worst"])
    try:
        await while_connected(reserve(ledger(), row, worst, opening["patience"]))
    except Unaffordable as error:
        if _asks_too_much(error, opening):
            raise Excessive(TOO_LARGE, str(error)) from None
        ledger().refuse(opening["key"], error.cause)
        raise LimitReached(float(error.limit.booked), float(error.limit.most), str(error)) from None
    except (Gone, LookupError):
        ledger().withdraw(row)
        raise HTTPException(LEFT, "the client went away") from None
    opening |= {"reserved": True, "began": time.monotonic()}


def _asks_too_much(error: Unaffordable, opening: Mapping[str, Any]) -> bool:
    """Whether a request alone is to blame that it does not fit the budget, so that the experiment goes on: it would not
    fit if nothing was spent, and the budget is not too small, since it covers a request of the longest prompt and
    answer, or has paid for chats of another answer."""
    if error.limit.cause != BUDGET_EXCEEDED or not error.exceeds_all:
        return False
    if error.limit.most >= models()[opening["model"]].longest_cost():
        return True
    key = ledger().key(opening["key"])
    return key is not None and ledger().has_paid(key.experiment, error.limit.most, key.answer)


def _cut_off(row: str, worst: Decimal) -> None:
    """Book a request whose client went away, with its highest possible cost until its answer tells the real one. A
    request that was not sent is withdrawn."""
    if row not in CUT:
        CUT.add(row)
        ledger().withdraw(row)
        tries = TRIES.get(row, Tries())
        unknown = EXACT.multiply(worst, Decimal(tries.costly + 1))
        ledger().book(row, Booking(CUT_OFF, sends=tries.sends), unknown_usd=unknown)


def _tries(opening: Mapping[str, Any] | None) -> Tries:
    return (opening and TRIES.get(opening["id"])) or Tries()


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and the errors that led to it."""
    seen: list[BaseException] = []
    while error is not None and error not in seen:
        yield error
        seen.append(error)
        error = error.__cause__ or error.__context__


def _may_have_cost(error: Exception) -> bool:
    """Whether a try without an answer may have a cost: it took too long, its connection was lost once it was made, or
    its provider failed in the middle of the answer."""
    if any(isinstance(cause, UNCONNECTED) for cause in _chain(error)):
        return False
    is_lost = any(isinstance(cause, httpx.TransportError | Unfinished) for cause in _chain(error))
    return is_lost or getattr(error, "status_code", None) in LATE


def _unsendable(error: Exception) -> HTTPException | None:
    """The answer to a request that LiteLLM could not send, unless its error blames the request already."""
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and status < 500:
        return None
    reason = next(iter(str(error).splitlines()), "")
    return HTTPException(UNSENDABLE, f"this request cannot be sent to the model's provider: {reason}")


def _status(error: Exception) -> str:
    """The status of a failed request, or the name of the error."""
    status = str(getattr(error, "status_code", None) or type(error).__name__)
    return booked_status(str(getattr(error, "llm_provider", "")), status, str(error)[:TEXT_CHARS])


def _headers(data: dict[str, Any]) -> dict[str, str]:
    """The headers that fence.py lets through."""
    return (data.get("proxy_server_request") or {}).get("headers") or {}


def _sample(data: dict[str, Any]) -> str:
    """The number that distinguishes equal requests, if the client sends one."""
    return str(_headers(data).get(SAMPLE, ""))[:100]


def _opening(kwargs: dict[str, Any]) -> dict[str, Any] | None:
    """What was noted when a request was opened; None for a request of LiteLLM's own."""
    return ((kwargs.get("litellm_params") or {}).get("metadata") or {}).get(ROW)


def _reported(kwargs: Mapping[str, Any]) -> Any:
    """The usage that the provider reported. Of a stream, LiteLLM counts the total anew."""
    reported, total = kwargs["standard_logging_object"]["metadata"].get("usage_object"), kwargs.get(TOTAL)
    return {**reported, "total_tokens": total} if total and isinstance(reported, Mapping) else reported


def _has_content(answer: Any) -> bool:
    """Whether a model said anything: then its usage must count tokens of the answer, too."""
    messages = [getattr(choice, "message", None) for choice in getattr(answer, "choices", None) or ()]
    return any(getattr(message, name, None) for message in messages for name in _CONTENT)


def _note(opening: dict[str, Any] | None, kwargs: Mapping[str, Any], answer: Any) -> None:
    """Note the provider's name of the model that answered: a name of the list may mean another model tomorrow."""
    model = _served(kwargs) or getattr(answer, "model", None)
    fingerprint = getattr(answer, "system_fingerprint", None)
    if opening and (model or fingerprint):
        ledger().serve(opening["key"], str(model or ""), str(fingerprint or ""))


def _served(kwargs: Mapping[str, Any]) -> str:
    """The name of the model in the provider's own reply, empty if it cannot be read. LiteLLM's answer has the requested
    name."""
    reply = kwargs.get("original_response")
    try:
        read = json.loads(reply) if isinstance(reply, str | bytes) else reply
    except ValueError:
        read = None
    names = [read.get(name) for name in _NAMES] if isinstance(read, Mapping) else [kwargs.get(SERVED)]
    return next((name for name in names if isinstance(name, str)), "")


def _book(opening: dict[str, Any] | None, status: str, usage: Usage = NOTHING, *, costly: int = 0) -> None:
    """Book a finished request. One that was refused before it was opened has no row. Besides those that failed, so many
    of its sends are `costly`: their cost is unknown."""
    if opening is None:
        return
    latency = round((time.monotonic() - opening["began"]) * 1000)
    cost = models()[opening["model"]].price.cost(usage)
    tries = TRIES.pop(opening["id"], Tries())
    GUESSED.discard(opening["id"])
    costly += tries.costly
    unknown = EXACT.multiply(Decimal(opening["worst"]), Decimal(costly)) if costly else None
    ledger().book(opening["id"], Booking(status, usage, cost, latency, tries.sends), unknown_usd=unknown)


bookkeeper = Bookkeeper()
