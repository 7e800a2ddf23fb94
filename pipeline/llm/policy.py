"""What a request may say, in both deployments: a list of the protocol's fields, and LiteLLM calls this around each.

A field that is not listed is dropped, in nested objects too, and the proxy's log says its name; a value that could
reach out, cost what no price says, or is none of the protocol refuses the request (400) before it is sent or booked.
Why there is no answer is told here too, once for all who ask (CAUSES): a header repeats it to them. Runs inside the
proxy's environment, embedded (hooks.py, fence.py) and deployed (docker/proxy/config.yaml, where this file lies beside
the configuration): LiteLLM only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fastapi import HTTPException
from litellm.integrations.custom_logger import CustomLogger

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
    """Answers to one request; how many a model may be asked for is looked at later (`Policy.choices`)."""
    return type(value) is int and value >= 1


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _optional_text(value: Any) -> bool:
    return value is None or isinstance(value, str)


def _texts(value: Any) -> bool:
    return value is None or _text(value) or (isinstance(value, list) and all(map(_text, value)))


def _content(value: Any) -> bool:
    """A text, parts, or nothing beside a call of a tool."""
    return value is None or isinstance(value, str | list)


def _inputs(value: Any) -> bool:
    """A text, several, or their tokens."""
    return _text(value) or (isinstance(value, list) and bool(value))


def _brief_cache(value: Any) -> bool:
    """What is kept for longer costs more than the list's price."""
    return value == {"type": "ephemeral"}


def _picture(value: Any) -> bool:
    """In the request itself: an address would be fetched by the proxy, which reaches what an agent must not."""
    return _object(value) and _text(value.get("url")) and value["url"].startswith("data:image/")


def _function(value: Any) -> bool:
    """Other kinds are run by a provider, or make the proxy reach out."""
    return value == "function"


#: fields by what holds them; a dotted name holds the fields of an object, or of each in a list
FIELDS: dict[str, dict[str, Check]] = {
    "chat": {
        **dict.fromkeys(("temperature", "top_p", "min_p", "top_k", "presence_penalty"), _number),
        **dict.fromkeys(("frequency_penalty", "repetition_penalty"), _number),
        **dict.fromkeys(("max_tokens", "max_completion_tokens", "top_logprobs"), _count),
        **dict.fromkeys(("stream", "logprobs", "parallel_tool_calls"), _flag),
        **dict.fromkeys(("reasoning_effort", "verbosity"), _text),
        **dict.fromkeys(("response_format", "logit_bias"), _object),
        "model": _text, "messages": _anything, "tools": _anything, "tool_choice": _anything, "stop": _texts,
        "seed": _number, "n": _choices,
    },
    "chat.messages": {
        **dict.fromkeys(("name", "tool_call_id"), _text),
        **dict.fromkeys(("reasoning_content", "refusal"), _optional_text),
        "role": _text, "content": _content, "tool_calls": _anything, "thinking_blocks": _anything,
        "cache_control": _brief_cache,
    },
    "chat.messages.content": {
        "type": lambda value: value in ("text", "image_url"),
        "text": _text, "image_url": _picture, "cache_control": _brief_cache,
    },
    "chat.messages.content.image_url": {"url": _text, "detail": _text},
    "chat.messages.tool_calls": {"id": _text, "type": _function, "function": _object, "index": _count},
    "chat.tools": {"type": _function, "function": _object, "cache_control": _brief_cache},
    "chat.tools.function": {
        "name": _text, "description": _optional_text, "parameters": _anything, "strict": _anything,
    },
    "embedding": {"model": _text, "input": _inputs, "encoding_format": _text, "dimensions": _count},
}  # fmt: skip
#: fields without which there is nothing to send, and those that are a list of objects
NEEDED = {"chat": ("model", "messages"), "embedding": ("model", "input"), "chat.messages": ("role",)}
LISTS = ("chat.messages", "chat.tools", "chat.messages.tool_calls")
#: fields that null is a value of, and those that are dropped without a word, since many clients send them
NULLED = ("content",)
UNSAID = ("stream_options", "user", "metadata", "store")
#: what LiteLLM itself lays beside a request
OF_THE_PROXY = (
    *("proxy_server_request", "metadata", "litellm_metadata", "secret_fields"),
    *("litellm_call_id", "litellm_logging_obj", "litellm_trace_id"),
)

#: the header that says why there is no answer, and that of a request that says which of several alike it is: what was
#: paid for is then not asked for again when an answer is begun anew
CAUSE, SAMPLE = "x-a11y-bench-cause", "x-a11y-bench-sample"
#: cause, LiteLLM's names of errors, what a refused request is told, statuses: the first row decides of which one fits
CAUSES = (
    (
        "context",
        ("ContextWindowExceededError",),
        "context.length|context.window|context.size|context.limit|(prompt|input|request).{0,20} too (long|large)",
        (413,),
    ),
    (
        "refused",
        ("ContentPolicyViolationError", "RejectedRequestError"),
        "content.filter|content.policy|content.management|safety.(system|policy)",
        (),
    ),
    (
        "configuration",
        ("AuthenticationError", "PermissionDeniedError", "NotFoundError", "UnsupportedParamsError"),
        "",
        (400, 401, 402, 403, 404, 405, 415, 422),
    ),
)
#: any other: the provider failed, or bears no more at the moment
PROVIDER = "provider"
#: statuses whose text is looked at, and how much of it: further on a provider may quote the prompt
TOLD_BY_TEXT, TEXT_CHARS = (400, 413, 422), 300


def cause_of(name: str, status: int | None, text: str) -> str:
    """Why there is no answer, of an error's name, its status and what it says: `context` (too long for the model),
    `refused` (for what it holds), `configuration` (key, name of the model, parameters) or `provider`."""
    said = text[:TEXT_CHARS].lower() if status in TOLD_BY_TEXT else ""
    for cause, names, words, _ in CAUSES:
        if name in names or (words and re.search(words, said)):
            return cause
    return next((cause for cause, _, _, statuses in CAUSES if status in statuses), PROVIDER)


class Refused(ValueError):
    """A request that is none of the protocol, or asks for what no request may have."""


def allowed(kind: str, body: Any, dropped: list[str] | None = None) -> dict[str, Any]:
    """The request with the listed fields alone; `kind` is `chat` or `embedding`, `dropped` takes the names of others.

    Raises Refused.
    """
    if not isinstance(body, dict):
        raise Refused("a request is a JSON object")
    cleaned = dict(_fields(kind, body, [] if dropped is None else dropped))
    if "messages" in cleaned and not cleaned["messages"]:
        raise Refused("there are no messages")
    return cleaned


def _fields(place: str, given: Mapping[str, Any], dropped: list[str]) -> Iterator[tuple[str, Any]]:
    for name in NEEDED.get(place, ()):
        if name not in given:
            raise Refused(f"'{name}' is missing in {place}")
    for name, value in given.items():
        check = FIELDS[place].get(name)
        if check is None or (value is None and name not in NULLED):
            dropped += [f"{place}.{name}"] if check is None and name not in UNSAID else []
        elif not check(value):
            raise Refused(f"'{name}' in {place} has a value that no request may have: {json.dumps(value)[:100]}")
        else:
            yield name, _nested(f"{place}.{name}", value, dropped)


def _nested(place: str, value: Any, dropped: list[str]) -> Any:
    if place in LISTS and not isinstance(value, list):
        raise Refused(f"{place} is no list")
    if place not in FIELDS:
        return value
    if isinstance(value, dict):
        return dict(_fields(place, value, dropped))
    if isinstance(value, list):
        if not all(isinstance(one, dict) for one in value):
            raise Refused(f"{place} holds what is no object")
        return [dict(_fields(place, one, dropped)) for one in value]
    if value is None or isinstance(value, str):
        return value
    raise Refused(f"{place} is of no form that a request may have")


class Policy(CustomLogger):
    """LiteLLM passes all arguments by these names."""

    def choices(self, model: str) -> int:
        """How many answers one request to a model may ask for: several cost more than its limit of tokens says, which
        only the embedded proxy reckons with."""
        return 1

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """Streams report the provider's own usage, else LiteLLM would guess; greedy requests may use the cache."""
        dropped: list[str] = []
        try:
            said = allowed("embedding" if "embedding" in call_type else "chat", _body(data), dropped)
            if said.get("n", 1) > self.choices(said["model"]):
                raise Refused(f"several answers ('n') to one request are not taken for '{said['model']}'")
        except Refused as error:
            raise HTTPException(400, str(error)) from None
        if dropped:
            print(f"left out of a request: {', '.join(sorted(set(dropped)))}", flush=True)
        kept = {name: value for name, value in data.items() if name in OF_THE_PROXY} | said
        kept["metadata"] = _own_words(data.get("metadata") or {})
        if kept.get("stream"):
            kept["stream_options"] = {"include_usage": True}
        if kept.get("temperature") == 0:
            kept["cache"] = {"use-cache": True}
        return kept

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        user_api_key_dict: Any,
        original_exception: Exception,
        traceback_str: str | None = None,
    ) -> None:
        """Tell the client why there is no answer, not to try again what was tried here, and hand the provider's
        Retry-After on, which LiteLLM would rename."""
        given = getattr(original_exception, "litellm_response_headers", None) or {}
        handed_on = {name: given[name] for name in ("retry-after",) if name in given}
        told = {"x-should-retry": "false", CAUSE: cause_of_error(original_exception)}
        headers = {**told, **handed_on}
        original_exception.headers = headers  # type: ignore[attr-defined]  # LiteLLM reads it


def cause_of_error(error: Exception) -> str:
    """The same of what LiteLLM, or the check above, raised."""
    status = getattr(error, "status_code", None)
    text = getattr(error, "message", None) or getattr(error, "detail", None) or error
    return cause_of(type(error).__name__, status if isinstance(status, int) else None, str(text))


def _body(data: Mapping[str, Any]) -> dict[str, Any]:
    """What the request itself says, without what LiteLLM laid beside it."""
    return {name: value for name, value in data.items() if name not in OF_THE_PROXY}


def _own_words(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """LiteLLM's own words on a request, without those that the request brought along, which LiteLLM keeps apart too."""
    brought = metadata.get("requester_metadata")
    words = brought if isinstance(brought, dict) else {}
    return {
        name: value
        for name, value in metadata.items()
        if name != "requester_metadata" and (name not in words or words[name] != value)
    }


policy = Policy()
