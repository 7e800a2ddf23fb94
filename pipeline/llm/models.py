"""The list of models: the `model_list` of LiteLLM's own configuration file.

Beyond LiteLLM, we require a price for every model (an unknown price is an error, never a guess; free models have 0), a
mode, and no secret in the file. Writes nothing.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pipeline.core.amounts import amount
from pipeline.core.errors import UserError, unknown
from pipeline.core.options import REFERENCES
from pipeline.core.shipped import ROOT
from pipeline.core.store import is_list_of_texts
from pipeline.core.texts import parse_yaml, read_text
from pipeline.llm.prices import Price
from pipeline.llm.rate_limits import NO_KEY, OF_RESPONSES, PACES, SENT

#: the list that comes with the project, and the demo's
SHIPPED = ROOT / "docker" / "proxy" / "models.yaml"
DEMO = ROOT / "data" / "demo" / "models.yaml"

#: fields of LiteLLM's `model_info`: USD per token
INPUT, OUTPUT = "input_cost_per_token", "output_cost_per_token"
CACHED, STORED = "cache_read_input_token_cost", "cache_creation_input_token_cost"
PRICES = (INPUT, OUTPUT, CACHED, STORED)
#: the price of a reasoning token, if it differs from other tokens
REASONING = "output_cost_per_reasoning_token"
#: the same prices for requests longer than so many thousand tokens
_TIER = re.compile(rf"(?:{'|'.join((*PRICES, REASONING))})(_above_(\d+)k_tokens)")
MODES = ("chat", "embedding")
#: the address of a LiteLLM proxy that already runs, and its master key; it has the providers' keys in its environment
PROXY_URL, PROXY_KEY = "A11Y_BENCH_PROXY_URL", "A11Y_BENCH_PROXY_KEY"
#: fields of `litellm_params` that do not shape answers: keys, limits and a provider's cache of prompts
_SHAPES_NOTHING = (
    *("api_key", "max_parallel_requests", *PACES, "timeout", "stream_timeout", "max_retries", "num_retries"),
    *("weight", "order", "tags", "cache_control_injection_points"),
)
#: fields of `litellm_params` with a server's address
_ADDRESSES = ("api_base", "base_url")
#: the host of an address on this machine
_LOOPBACK = re.compile(r"localhost|127(?:\.\d+){3}|::1")
#: fields of `model_info` that do shape answers: what the model accepts, and the longest answer that is asked for
_SHAPING = ("mode", "supports_vision", "max_input_tokens", "max_output_tokens")
#: fields of `litellm_params` with a provider's limits: requests in flight, requests and tokens per minute
LIMITS = ("max_parallel_requests", *PACES)
#: the field of `model_info` that says how many answers one request may ask for
CHOICES = "max_choices"
#: the field of `model_info` that says whether requests are sent in batches, and the providers that can be asked so
BATCH, OF_BATCHES = "batch", "openai/"
#: what an entry says with true or false
FLAGS = (BATCH, "supports_vision", "scripted")
#: seconds for an answer, including the gateway's retries; and for a batch, which a provider answers within a day
TIME_LIMIT, BATCH_LIMIT = 1800, 90_000
#: fields of `model_info` with the most tokens of a prompt and of an answer
TOKENS = ("max_input_tokens", "max_output_tokens", "max_tokens")
_VARIABLE = re.compile(r"^os\.environ/(\w+)$")
#: a name of a secret; `max_tokens` is none. A variable and a path are no secrets
_SECRET = re.compile("(key|secret|token|password|credentials?|authorization)$", re.IGNORECASE)
_NO_SECRET = re.compile(r"os\.environ/\w+$|(?:~|\.{1,2})?/")
#: a name of a price
_PRICED = re.compile("cost|pric", re.IGNORECASE)


@dataclass(frozen=True)
class Model:
    """One model of the list. `entry` is LiteLLM's, `environment` names the variables that it needs, `limits` are its
    values of LIMITS, and `scripted` means that a table of this project answers, and no model."""

    name: str
    kind: str
    price: Price
    scripted: bool
    environment: tuple[str, ...]
    limits: Mapping[str, int]
    entry: dict[str, Any]

    @property
    def provider(self) -> str:
        """The provider whose limits it shares: that of its key, or of its address if it needs no key."""
        parameters = self.entry["litellm_params"]
        key = parameters.get("api_key", NO_KEY)
        return parameters.get("api_base", "") if key == NO_KEY else key

    @property
    def context(self) -> int | None:
        """The most tokens of a prompt; None if the list does not say."""
        return self.entry["model_info"].get("max_input_tokens")

    @property
    def sees(self) -> bool:
        """Whether it accepts pictures."""
        return self.entry["model_info"].get("supports_vision") is True

    @property
    def choices(self) -> int:
        """How many answers one request may ask for (`n`), whose prompt is paid for once; 1 by default."""
        return self.entry["model_info"].get(CHOICES, 1)

    @property
    def in_batches(self) -> bool:
        """Whether its requests are sent in batches."""
        return self.entry["model_info"].get(BATCH) is True

    @property
    def time_limit(self) -> int:
        """Seconds for an answer."""
        return BATCH_LIMIT if self.in_batches else TIME_LIMIT

    @property
    def shaping(self) -> dict[str, Any]:
        """The part of its entry that shapes answers: no key, no limit of requests, no price."""
        return shaping(self.entry)

    @property
    def defaults(self) -> dict[str, int]:
        """The fields that its entry adds to requests without them; the possible cost of a request depends on these,
        too."""
        parameters = self.entry["litellm_params"]
        return {name: parameters[name] for name in (*SENT, "n") if type(parameters.get(name)) is int}

    @property
    def dropped(self) -> list[str]:
        """The fields that are removed from each request."""
        return list(self.entry["litellm_params"].get("additional_drop_params") or ())

    @property
    def row_kind(self) -> str:
        """Its kind in the ledger."""
        return "embedding" if self.kind == "embedding" else "llm"

    def missing(self, environ: Mapping[str, str]) -> list[str]:
        """The variables that it needs and `environ` lacks; none if a running proxy has them."""
        return [] if environ.get(PROXY_URL) else [name for name in self.environment if not environ.get(name)]


def shaping(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a model's entry that shapes answers. What is false in `model_info` is as if it was left out. Where a
    server listens on this machine does not matter: its port may be another one each time."""
    parameters = {name: value for name, value in entry["litellm_params"].items() if name not in _SHAPES_NOTHING}
    parameters |= {name: _address(parameters[name]) for name in _ADDRESSES if isinstance(parameters.get(name), str)}
    info = {name: entry["model_info"].get(name) for name in _SHAPING}
    return {"parameters": parameters, "info": {name: value for name, value in info.items() if value}}


def _address(text: str) -> str:
    """An address; one on this machine without host and port."""
    with suppress(ValueError):
        parts = urlsplit(text)
        if _LOOPBACK.fullmatch(parts.hostname or ""):
            return parts._replace(netloc="").geturl()
    return text


@dataclass(frozen=True)
class ModelList:
    path: Path
    models: dict[str, Model]

    def get(self, name: str) -> Model:
        """The model of that name. Raises UserError that lists the available ones."""
        if name not in self.models:
            raise unknown("model", name, list(self.models))
        return self.models[name]

    def ready(self, name: str, environ: Mapping[str, str], kind: str | None = None) -> Model:
        """The model, if it is of that kind and `environ` has the variables that it needs. Raises UserError."""
        model = self.get(name)
        if kind and model.kind != kind:
            raise unknown(f"{kind} model", name, [other.name for other in self.models.values() if other.kind == kind])
        if missing := model.missing(environ):
            hint = f"run: export {missing[0]}=..., then the same command; the model list is {self.path}"
            raise UserError(f"model '{name}' needs the environment variable {missing[0]}", hint=hint)
        return model


def load_models(path: Path) -> ModelList:
    """Read and check a list. Raises UserError with file, line, field and hint."""
    return _parsed(path, read_text(path))


@lru_cache(maxsize=8)  # a campaign reads its list for each of its experiments
def _parsed(path: Path, text: str) -> ModelList:
    entries = _entries(path, text)
    models = [_model(_Location(path, number, line), entry) for number, (line, entry) in enumerate(entries)]
    for number, model in enumerate(models):
        if model.name in [earlier.name for earlier in models[:number]]:
            raise _Location(path, number, entries[number][0]).error("model_name", f"'{model.name}' is listed twice")
    return ModelList(path, {model.name: model for model in models})


def _entries(path: Path, text: str) -> list[tuple[int, Any]]:
    """The entries of `model_list`, each with its line."""
    content, root = parse_yaml(text, path)
    if not isinstance(content, dict) or list(content) != ["model_list"] or not isinstance(content["model_list"], list):
        hint = "the gateway makes LiteLLM's other settings itself; those of one model go into its litellm_params"
        raise UserError("a list `model_list` is expected, and nothing else", path=path, field="model_list", hint=hint)
    (nodes,) = (value for key, value in root.value if key.value == "model_list")
    lines = [node.start_mark.line + 1 for node in nodes.value]
    return list(zip(lines, content["model_list"], strict=True))


@dataclass(frozen=True)
class _Location:
    """The location of an entry, for errors."""

    path: Path
    number: int
    line: int

    def error(self, field: str, message: str, hint: str | None = None) -> UserError:
        return UserError(message, path=self.path, line=self.line, field=f"model_list[{self.number}].{field}", hint=hint)

    def text(self, part: Any, name: str, field: str) -> str:
        value = part.get(name) if isinstance(part, dict) else None
        if not isinstance(value, str) or not value:
            raise self.error(field, "text is missing")
        return value


def _model(location: _Location, entry: Any) -> Model:
    name = location.text(entry, "model_name", "model_name")
    if name in REFERENCES:
        raise location.error("model_name", f"'{name}' stands for a reference, not for a model", "use another name")
    parameters, info = entry.get("litellm_params"), entry.get("model_info")
    location.text(parameters, "model", "litellm_params.model")
    kind = location.text(info, "mode", "model_info.mode")
    if kind not in MODES:
        raise location.error("model_info.mode", f"'{kind}' is not a mode", f"available: {', '.join(MODES)}")
    for table, fields in (("litellm_params", parameters), ("model_info", info)):
        if wrong := [field for field in fields if not isinstance(field, str)]:
            raise location.error(table, f"'{wrong[0]}' is not the name of a field")
    _check_key(location, parameters)
    if "api_base" in parameters:
        location.text(parameters, "api_base", "litellm_params.api_base")
    if misplaced := next(filter(_PRICED.search, parameters), ""):
        raise location.error(f"litellm_params.{misplaced}", "a price that is not used", "write it in model_info")
    matches = (_VARIABLE.match(value) for value in parameters.values() if isinstance(value, str))
    variables = tuple(match[1] for match in matches if match)
    _check_lengths(location, parameters)
    limits = {limit: _limit(location, parameters, limit) for limit in LIMITS if parameters.get(limit) is not None}
    choices = info.get(CHOICES, 1)
    if type(choices) is not int or choices < 1:
        raise location.error(f"model_info.{CHOICES}", f"'{choices}' is not a number of answers")
    for length in TOKENS:
        if info.get(length) is not None and (type(info[length]) is not int or info[length] < 1):
            raise location.error(f"model_info.{length}", f"'{info[length]}' is not a number of tokens", "write 128000")
    for flag in FLAGS:
        if type(info.get(flag, False)) is not bool:
            raise location.error(f"model_info.{flag}", f"'{info[flag]}' is neither true nor false")
    _check_batch(location, parameters, info)
    _check_sampling(location, parameters)
    return Model(name, kind, _prices(location, info), info.get("scripted") is True, variables, limits, entry)


def _check_key(location: _Location, parameters: dict[str, Any]) -> None:
    key = str(parameters.get("api_key", NO_KEY))
    if key != NO_KEY and not _VARIABLE.match(key):
        hint = f"write os.environ/NAME and put the key into that environment variable; {NO_KEY} if none is needed"
        raise location.error("litellm_params.api_key", "a key must not be written in this file", hint)
    hint = "write os.environ/NAME and put the secret into that environment variable"
    if field := next(_secrets("litellm_params", {**parameters, "api_key": None}), ""):
        raise location.error(field, "a secret must not be written in this file", hint)
    for name in _ADDRESSES:
        if _has_secret(parameters.get(name)):
            hint = "write os.environ/NAME and put the address into that environment variable"
            raise location.error(f"litellm_params.{name}", "an address with a secret must not be in this file", hint)


def _has_secret(address: Any) -> bool:
    """Whether an address has a password, or a parameter that its name calls a secret."""
    try:
        parts = urlsplit(address) if isinstance(address, str) else urlsplit("")
        return bool(parts.username or parts.password or any(_SECRET.search(name) for name, _ in parse_qsl(parts.query)))
    except ValueError:
        return False


def _secrets(field: str, value: Any) -> Iterator[str]:
    """The fields with a text that their names call a secret."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _secrets(f"{field}.{name}", member)
    elif isinstance(value, list):
        for member in value:
            yield from _secrets(field, member)
    elif isinstance(value, str) and _SECRET.search(field.rpartition(".")[2]) and not _NO_SECRET.match(value):
        yield field


def _check_sampling(location: _Location, parameters: dict[str, Any]) -> None:
    for name in ("temperature", "top_p"):
        value = parameters.get(name, 0)
        if type(value) not in (int, float) or not 0 <= value < math.inf:
            raise location.error(f"litellm_params.{name}", f"'{value}' is not a number from 0")
    dropped = parameters.get("additional_drop_params") or []
    if not is_list_of_texts(dropped):
        hint = "write [seed, stop]"
        raise location.error("litellm_params.additional_drop_params", f"'{dropped}' is not a list of names", hint)


def _check_batch(location: _Location, parameters: dict[str, Any], info: dict[str, Any]) -> None:
    if info.get(BATCH) and info["mode"] != "chat":
        raise location.error(f"model_info.{BATCH}", "only chats are sent in batches", "leave it out")
    if info.get(BATCH) and not parameters["model"].startswith(OF_BATCHES):
        hint = f"write {OF_BATCHES}NAME, and the provider's api_base if it is not OpenAI"
        raise location.error("litellm_params.model", "batches are sent in OpenAI's protocol only", hint)


def _check_lengths(location: _Location, parameters: dict[str, Any]) -> None:
    """Raise UserError unless each limit of an answer in `litellm_params` is a number under a name that is sent."""
    if OF_RESPONSES in parameters:
        hint = "write max_tokens, which is translated for every provider; the provider's own limit goes into model_info"
        raise location.error(f"litellm_params.{OF_RESPONSES}", "a limit that providers may not know", hint)
    for name in SENT:
        if name in parameters and (type(parameters[name]) is not int or parameters[name] < 1):
            message = f"'{parameters[name]}' is not a number of tokens"
            raise location.error(f"litellm_params.{name}", message, "write 4096")


def _limit(location: _Location, parameters: dict[str, Any], name: str) -> int:
    limit = parameters[name]
    if type(limit) is not int or limit < 1:
        unit = "tokens" if name == "tpm" else "requests"
        raise location.error(f"litellm_params.{name}", f"'{limit}' is not a number of {unit}")
    return limit


def _prices(location: _Location, info: dict[str, Any]) -> Price:
    for name in info:
        if _PRICED.search(name) and name not in (*PRICES, REASONING) and not _TIER.fullmatch(name):
            hint = f"available: {', '.join((*PRICES, REASONING))}, and each of them with _above_NUMBERk_tokens"
            raise location.error(f"model_info.{name}", "a price that is not used", hint)
    marks = {match[1]: int(match[2]) * 1000 for match in map(_TIER.fullmatch, info) if match}
    given = {name: _price(location, info, name) for name in (INPUT, OUTPUT)} | _given(location, info, "")
    plain, tiers = _made(given), []
    for mark, above in sorted(marks.items(), key=lambda pair: pair[1]):
        own = _given(location, info, mark)
        given |= own
        if REASONING in given.keys() - own.keys():
            given[REASONING] = max(given[REASONING], given[OUTPUT])
        tiers.append((above, _made(given)))
    return plain._replace(tiers=tuple(tiers))


def _given(location: _Location, info: dict[str, Any], mark: str) -> dict[str, Decimal]:
    """The prices that the list gives requests of one length. Others are those of shorter requests; a reasoning token
    never costs less than another one because the list forgot it."""
    return {name: _price(location, info, f"{name}{mark}") for name in (*PRICES, REASONING) if f"{name}{mark}" in info}


def _made(given: Mapping[str, Decimal]) -> Price:
    """A price. Without prices of their own, cached tokens cost as much as others."""
    cached, stored = (given.get(name, given[INPUT]) for name in (CACHED, STORED))
    return Price(given[INPUT], given[OUTPUT], cached, stored, given.get(REASONING))


def _price(location: _Location, info: dict[str, Any], name: str) -> Decimal:
    """A price as written: a number's shortest decimal form, never its binary value."""
    field, value = f"model_info.{name}", info.get(name)
    hint = "write the provider's price in USD per token; 0 if it is free"
    if value is None:
        raise location.error(field, "the price is unknown", hint)
    try:
        return amount(value)
    except ValueError:
        raise location.error(field, f"'{value}' is not a price", hint) from None
