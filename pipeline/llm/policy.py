"""What a request may contain, in both deployments: a list of the protocol's fields, with which LiteLLM checks each one.

A field that is not listed is dropped, also in nested objects, and the proxy's log names it. A value that could reach
out, has a cost without a price, or is not in the protocol refuses the request (400) before it is sent or booked. The
causes of missing answers are also decided here, in one place (CAUSES); a header passes them on. Runs inside the proxy's
environment, embedded (hooks.py, fence.py) and deployed (paced.py): LiteLLM only.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fastapi import HTTPException
from litellm.integrations.custom_logger import CustomLogger

from pipeline.llm.rate_limits import LENGTHS, OF_RESPONSES, SENT

Check = Callable[[Any], bool]


def _anything(_: Any) -> bool:
    return True


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _choices(value: Any) -> bool:
    """A number of answers to one request; `Policy.choices` checks later how many a model may be asked for."""
    return type(value) is int and value >= 1


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _optional_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _role(value: Any) -> bool:
    return value in ("system", "developer", "user", "assistant", "tool")


def _texts(value: Any) -> bool:
    return value is None or _text(value) or (isinstance(value, list) and all(map(_text, value)))


def _content(value: Any) -> bool:
    """A text, parts, or nothing next to a call of a tool."""
    return value is None or isinstance(value, str | list)


def _inputs(value: Any) -> bool:
    """A text, several texts, or their tokens."""
    if not isinstance(value, list):
        return _text(value)
    return bool(value) and any(all(map(check, value)) for check in (_text, _count, _tokens))


def _tokens(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_count, value))


def _brief_cache(value: Any) -> bool:
    """The shortest kind of cache: longer ones cost more than the list's price."""
    return value == {"type": "ephemeral"}


def _picture(value: Any) -> bool:
    """A picture in the request itself. An address is not allowed: the proxy would fetch it, and can reach more than an
    agent may."""
    return _object(value) and _text(value.get("url")) and bool(PICTURE.match(value["url"]))


def _call(value: Any) -> bool:
    """The function that a model called."""
    return _object(value) and _text(value.get("name")) and _optional_text(value.get("arguments"))


def _thoughts(value: Any) -> bool:
    return isinstance(value, list) and all(map(_object, value))


def _format(value: Any) -> bool:
    """The form of an answer, with a schema if its type needs one."""
    if not _object(value) or value.get("type") not in ("text", "json_object", "json_schema"):
        return False
    described = value.get("json_schema")
    return value["type"] != "json_schema" or (_object(described) and _object(described.get("schema")))


def _function(value: Any) -> bool:
    """A function. Other tools are not allowed: a provider runs them, or they make the proxy connect elsewhere."""
    return value == "function"


#: the beginning of a picture's data URL
PICTURE = re.compile(r"data:image/[^;,]+(;[^;,]+)*;base64,")
#: fields by what contains them; a dotted name stands for an object, or for each object of a list
FIELDS: dict[str, dict[str, Check]] = {
    "chat": {
        **dict.fromkeys(("temperature", "top_p", "min_p", "top_k", "presence_penalty"), _number),
        **dict.fromkeys(("frequency_penalty", "repetition_penalty"), _number),
        **dict.fromkeys((*LENGTHS, "top_logprobs"), _count),
        **dict.fromkeys(("stream", "logprobs", "parallel_tool_calls"), _flag),
        **dict.fromkeys(("reasoning_effort", "verbosity"), _text),
        "response_format": _format, "logit_bias": _object,
        "model": _text, "messages": _anything, "tools": _anything, "tool_choice": _anything, "stop": _texts,
        "seed": _number, "n": _choices,
    },
    "chat.messages": {
        **dict.fromkeys(("name", "tool_call_id"), _text),
        **dict.fromkeys(("reasoning_content", "refusal"), _optional_text),
        "role": _role, "content": _content, "tool_calls": _anything, "thinking_blocks": _thoughts,
        "cache_control": _brief_cache,
    },
    "chat.messages.content": {
        "type": lambda value: value in ("text", "image_url"),
        "text": _text, "image_url": _picture, "cache_control": _brief_cache,
    },
    "chat.messages.content.image_url": {"url": _text, "detail": _text},
    "chat.messages.tool_calls": {"id": _text, "type": _function, "function": _call, "index": _count},
    "chat.tools": {"type": _function, "function": _object, "cache_control": _brief_cache},
    "chat.tools.function": {
        "name": _text, "description": _optional_text, "parameters": _object, "strict": _anything,
    },
    "embedding": {"model": _text, "input": _inputs, "encoding_format": _text, "dimensions": _count},
}  # fmt: skip
#: how deeply a request may be nested: LiteLLM cannot log what is nested much deeper
DEEPEST = 100
#: halves of a character that stand alone
LONE = re.compile(r"[\ud800-\udfff]")
#: required fields, and those that a value of another field requires: LiteLLM fails without them before it sends the
#: request, and reports an error of the provider
NEEDED = {
    "chat": ("model", "messages"),
    "embedding": ("model", "input"),
    "chat.messages": ("role",),
    "chat.messages.content": ("type",),
    "chat.messages.tool_calls": ("id", "function"),
    "chat.tools": ("type", "function"),
    "chat.tools.function": ("name",),
}
NEEDED_BY: dict[str, tuple[str, dict[str, tuple[str, ...]]]] = {
    "chat.messages": (
        "role",
        {**dict.fromkeys(("system", "developer", "user"), ("content",)), "tool": ("content", "tool_call_id")},
    ),
    "chat.messages.content": ("type", {"text": ("text",), "image_url": ("image_url",)}),
}
#: fields that are a list of objects
LISTS = ("chat.messages", "chat.tools", "chat.messages.tool_calls")
#: fields that may be null, and fields that are dropped silently, since many clients send them
NULLED = ("content",)
UNSAID = ("stream_options", "user", "metadata", "store")
#: what LiteLLM itself adds to a request
OF_THE_PROXY = (
    *("proxy_server_request", "metadata", "litellm_metadata", "secret_fields"),
    *("litellm_call_id", "litellm_logging_obj", "litellm_trace_id"),
)

#: the header with the cause of a missing answer, and the header that numbers equal requests, so that paid answers are
#: not asked for again when an agent starts over
CAUSE, SAMPLE = "x-a11y-bench-cause", "x-a11y-bench-sample"
#: how providers name a parameter that they do not know
UNKNOWN = r".*(unknown|unrecogni[sz]ed|unsupported|unexpected|extra|invalid)\b.{0,30}\b(field|parameter|argument|input)"
#: the status of a request that is too large to be sent
TOO_LARGE = 413
#: cause, names of errors (LiteLLM's and ours), pattern of the error's text, statuses: the first row that fits decides
CAUSES = (
    (
        "context",
        ("ContextWindowExceededError",),
        "context.length|context.window|context.size|context.limit|(prompt|input|request).{0,20} too (long|large)|"
        "(input.length|input.tokens?|token.count).{0,30} exceed|exceeds? the maximum number of (input )?tokens|"
        "input length exceeds|inputs.{0,20} max_new_tokens.{0,10} must be <=",
        (413,),
    ),
    (
        "refused",
        ("ContentPolicyViolationError", "RejectedRequestError"),
        f"^(?!{UNKNOWN}).*(content.filter|content.policy|content.management|safety.(system|policy)|flagged|moderation)",
        (),
    ),
    (
        "configuration",
        ("AuthenticationError", "PermissionDeniedError", "NotFoundError", "UnsupportedParamsError", "Excessive"),
        "insufficient_quota|insufficient balance",
        (400, 401, 402, 403, 404, 405, 415, 422),
    ),
)
#: the causes that lie in a request itself: nobody else failed
OF_THE_REQUEST = ("context", "refused")
#: any other cause: the provider failed, or is overloaded
PROVIDER = "provider"
#: statuses whose text is examined, and how much of it: the rest may quote the prompt. An unpaid bill has the same
#: status as a limit of requests per minute
TOLD_BY_TEXT, UNPAID, TEXT_CHARS = (400, 403, 413, 422), 429, 300
#: how OpenAI, Moonshot and Z.ai call one. OpenAI's text about it is Google's about a limit of requests per minute
UNPAID_CODES = frozenset(("insufficient_quota", "exceeded_current_quota_error", "1113"))


def cause_of(name: str, status: int | None, text: str) -> str:
    """The cause of a missing answer, by an error's name, status and text: `context` (too long for the model), `refused`
    (for its content), `configuration` (key, name of the model, parameters) or `provider`."""
    beginning = text[:TEXT_CHARS].lower()
    for cause, names, pattern, _ in CAUSES:
        is_told = status in TOLD_BY_TEXT or (status == UNPAID and cause == "configuration")
        if name in names or (is_told and re.search(pattern, beginning, re.DOTALL)):
            return cause
    return next((cause for cause, _, _, statuses in CAUSES if status in statuses), PROVIDER)


class Excessive(HTTPException):
    """A request that asks for more than its budget could ever pay: others are not affected."""


class Refused(ValueError):
    """A request that breaks the protocol, or has a value that no request may have."""


def allowed(kind: str, body: Any, dropped: list[str] | None = None) -> dict[str, Any]:
    """The request with only the listed fields; `kind` is `chat` or `embedding`, `dropped` collects the names of others.
    The Responses API's limit of an answer becomes `max_tokens`, which LiteLLM translates for every provider.

    Raises Refused.
    """
    if not isinstance(body, dict):
        raise Refused("a request is a JSON object")
    if not _is_sendable(body):
        raise Refused(f"a request has a number that JSON does not have, or is nested more than {DEEPEST} deep")
    cleaned = dict(_fields(kind, _in_unicode(body), [] if dropped is None else dropped))
    if "messages" in cleaned and not cleaned["messages"]:
        raise Refused("there are no messages")
    return _limited(cleaned)


def _is_sendable(value: Any, depth: int = DEEPEST) -> bool:
    """Whether a value contains neither NaN nor an infinite number, which no client sends to a provider, and is nested
    no deeper than `depth`."""
    if isinstance(value, dict | list):
        members = value.values() if isinstance(value, dict) else value
        return depth > 0 and all(_is_sendable(member, depth - 1) for member in members)
    return not isinstance(value, float) or math.isfinite(value)


def _in_unicode(value: Any) -> Any:
    """A value with U+FFFD for each lone surrogate, which no client can send. Agents get them from broken files."""
    if isinstance(value, dict):
        return {_in_unicode(name): _in_unicode(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_in_unicode(member) for member in value]
    return LONE.sub("\N{REPLACEMENT CHARACTER}", value) if isinstance(value, str) else value


def _limited(request: dict[str, Any]) -> dict[str, Any]:
    """The request with the limit of its answer under a name that is sent. Chat's own names take precedence."""
    if OF_RESPONSES not in request:
        return request
    others = {name: value for name, value in request.items() if name != OF_RESPONSES}
    is_limited = any(name in others for name in SENT)
    return others if is_limited else {**others, "max_tokens": request[OF_RESPONSES]}


def _fields(holder: str, fields: Mapping[str, Any], dropped: list[str]) -> Iterator[tuple[str, Any]]:
    for name in _needed(holder, fields):
        if fields.get(name) is None:
            raise Refused(f"'{name}' is missing in {holder}")
    for name, value in fields.items():
        check = FIELDS[holder].get(name)
        if check is None or (value is None and name not in NULLED):
            dropped += [f"{holder}.{name}"] if check is None and name not in UNSAID else []
        elif not check(value):
            raise Refused(f"'{name}' in {holder} has a value that requests may not have: {json.dumps(value)[:100]}")
        else:
            yield name, _nested(f"{holder}.{name}", value, dropped)


def _needed(holder: str, fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The required fields of an object."""
    telling, by_value = NEEDED_BY.get(holder, ("", {}))
    value = fields.get(telling)
    return NEEDED.get(holder, ()) + (by_value.get(value, ()) if isinstance(value, str) else ())


def _nested(holder: str, value: Any, dropped: list[str]) -> Any:
    if holder in LISTS and not isinstance(value, list):
        raise Refused(f"{holder} is not a list")
    if holder not in FIELDS:
        return value
    if isinstance(value, dict):
        return dict(_fields(holder, value, dropped))
    if isinstance(value, list):
        if not all(isinstance(member, dict) for member in value):
            raise Refused(f"{holder} has a member that is not an object")
        return [dict(_fields(holder, member, dropped)) for member in value]
    if value is None or isinstance(value, str):
        return value
    raise Refused(f"{holder} has a form that requests may not have")


class Policy(CustomLogger):
    """LiteLLM passes all arguments by these names."""

    def choices(self, model: str) -> int:
        """How many answers one request to a model may ask for: several cost more than its limit of tokens suggests, and
        only the embedded proxy accounts for that."""
        return 1

    def embeds(self, model: str) -> bool:
        """Whether a model makes embeddings; any other model chats."""
        raise NotImplementedError

    def longest(self, model: str) -> int:
        """The most tokens of one answer of a model; 0 if the list does not say. Providers refuse to give more."""
        raise NotImplementedError

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """Clean a request, and refuse a model on the route of the other kind. Streams must report the provider's usage,
        else LiteLLM would guess; greedy requests may use the cache."""
        dropped: list[str] = []
        kind = "embedding" if "embedding" in call_type else "chat"
        try:
            request = allowed(kind, request_of(data), dropped)
            if self.embeds(request["model"]) != (kind == "embedding"):
                raise Refused(f"'{request['model']}' is not a model for {kind} requests")
            if request.get("n", 1) > self.choices(request["model"]):
                raise Refused(f"'{request['model']}' does not give that many answers ('n') to one request")
        except Refused as error:
            raise HTTPException(400, str(error)) from None
        if dropped:
            print(f"left out of a request: {', '.join(sorted(set(dropped)))}", flush=True)
        forwarded = {name: value for name, value in data.items() if name in OF_THE_PROXY} | request
        longest = self.longest(request["model"])
        forwarded |= {name: min(request[name], longest) for name in SENT if longest and name in request}
        forwarded["metadata"] = _own_metadata(data.get("metadata") or {})
        if forwarded.get("stream"):
            forwarded["stream_options"] = {"include_usage": True}
        if forwarded.get("temperature") == 0:
            forwarded["cache"] = {"use-cache": True}
        return forwarded

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        user_api_key_dict: Any,
        original_exception: Exception,
        traceback_str: str | None = None,
    ) -> None:
        """Tell the client the cause, and not to repeat what was retried here; pass on the provider's Retry-After, which
        LiteLLM would rename."""
        received = getattr(original_exception, "litellm_response_headers", None) or {}
        handed_on = {name: received[name] for name in ("retry-after",) if name in received}
        own_headers = {"x-should-retry": "false", CAUSE: cause_of_error(original_exception)}
        headers = {**own_headers, **handed_on}
        original_exception.headers = headers  # type: ignore[attr-defined]  # LiteLLM reads it


def cause_of_error(error: Exception) -> str:
    """The cause of an error that LiteLLM or the check above raised."""
    status = getattr(error, "status_code", None)
    if status == UNPAID and not UNPAID_CODES.isdisjoint(_codes(error)):
        return "configuration"
    text = getattr(error, "message", None) or getattr(error, "detail", None) or error
    return cause_of(type(error).__name__, status if isinstance(status, int) else None, str(text))


def _codes(error: Exception) -> set[str]:
    """The words with which a provider names an error."""
    told = getattr(error, "body", None)
    return {str(told.get(name)) for name in ("code", "type")} if isinstance(told, Mapping) else set()


def request_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """The request itself, without LiteLLM's additions."""
    return {name: value for name, value in data.items() if name not in OF_THE_PROXY}


def _own_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """LiteLLM's own metadata of a request, without the client's, which LiteLLM also keeps separately."""
    brought = metadata.get("requester_metadata")
    sent = brought if isinstance(brought, dict) else {}
    return {
        name: value
        for name, value in metadata.items()
        if name != "requester_metadata" and (name not in sent or sent[name] != value)
    }
