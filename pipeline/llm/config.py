"""How the embedded proxy is set up: LiteLLM's configuration and the environment of its process.

Reads `docker/proxy/config.yaml`, the settings of both deployments; writes nothing. No secret is in the configuration:
keys stay in the environment. Of the caller's environment, only variables that the model list names or that are needed
to reach a provider are passed on.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from pipeline.core.shipped import ROOT
from pipeline.core.store import digest
from pipeline.llm.models import BATCH_LIMIT, PRICES, Model, ModelList

#: the settings of a deployed proxy besides its models
SETTINGS = ROOT / "docker" / "proxy" / "config.yaml"

_HOOKS = "pipeline.llm.hooks"
_MASTER_KEY = "LITELLM_MASTER_KEY"

#: taken from the caller: paths of programs, network proxies and certificate authorities, back-off
PASSED = (
    *("PATH", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("INITIAL_RETRY_DELAY", "MAX_RETRY_DELAY", "JITTER"),
)
#: defaults: the first and the longest pause before a retry, in seconds
BACK_OFF = {"INITIAL_RETRY_DELAY": "1", "MAX_RETRY_DELAY": "30"}
#: fields of a list with the maximum number of tokens in a model's answer
LENGTHS = ("max_output_tokens", "max_tokens")
#: no look-up of prices and news at start, no .env file, no web pages
QUIET = {
    **dict.fromkeys(("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"), "True"),
    **dict.fromkeys(("LITELLM_LOCAL_BLOG_POSTS", "LITELLM_LOCAL_POLICY_TEMPLATES"), "True"),
    **dict.fromkeys(("LITELLM_LOCAL_AUTOROUTER_PRESETS", "DONT_SHOW_FEEDBACK_BOX"), "True"),
    **dict.fromkeys(("DISABLE_ADMIN_UI", "NO_DOCS", "NO_REDOC"), "True"),
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "ERROR",
}


def configuration(
    models: ModelList, responses: Path | None = None, batch_address: Callable[[str], str] = str
) -> dict[str, Any]:
    """LiteLLM's configuration. `responses` is the folder of the cache; without it, nothing is cached. `batch_address`
    returns the address of a model whose requests are sent in batches."""
    import yaml

    settings = yaml.safe_load(SETTINGS.read_text(encoding="utf-8"))
    return {
        "model_list": [_entry(model, batch_address) for model in models.models.values()],
        "router_settings": settings["router_settings"],
        "litellm_settings": {
            **settings["litellm_settings"],
            **_cache(responses),
            "callbacks": f"{_HOOKS}.bookkeeper",
        },
        "general_settings": {
            "master_key": f"os.environ/{_MASTER_KEY}",
            "custom_auth": f"{_HOOKS}.custom_auth",
            "custom_auth_run_common_checks": True,
        },
    }


def _cache(responses: Path | None) -> dict[str, Any]:
    """The cache of responses, keyed by every parameter, including those of providers. Each request says whether it uses
    the cache (hooks.py): where a cache is off by default, LiteLLM stores embeddings and never finds them."""
    if responses is None:
        return {"cache": False}
    disk = {"type": "disk", "disk_cache_dir": str(responses), "mode": "default_on"}
    return {
        "cache": True,
        "cache_params": {**disk, "supported_call_types": ["acompletion", "aembedding"]},
        "enable_caching_on_provider_specific_optional_params": True,
    }


def _entry(model: Model, batch_address: Callable[[str], str]) -> dict[str, Any]:
    """A model's entry for LiteLLM, which calculates in floats; we do not use its sums."""
    batch = {"api_base": batch_address(model.name), "timeout": BATCH_LIMIT} if model.in_batches else {}
    prices = {name: float(price) for name, price in zip(PRICES, model.price[:4], strict=True)}
    info = {name: float(value) if "cost" in name else value for name, value in model.entry["model_info"].items()}
    return {**model.entry, "litellm_params": model.entry["litellm_params"] | batch, "model_info": info | prices}


def environment(
    models: ModelList, ledger: Path, home: Path, master_key: str, environ: Mapping[str, str], gateway: str = ""
) -> dict[str, str]:
    """The whole environment of the proxy's process, which accepts the keys of `gateway`; `environ` is the caller's."""
    settings = {"ledger": str(ledger), "gateway": gateway, "models": listed(models), "limits": limits(models)}
    passed = {*PASSED, *(name for model in models.models.values() for name in model.environment)}
    direct = {name: f"{environ.get(name, '')},127.0.0.1".lstrip(",") for name in ("NO_PROXY", "no_proxy")}
    return {
        **BACK_OFF,
        **{name: environ[name] for name in sorted(passed) if name in environ},
        **direct,
        **QUIET,
        "HOME": str(home),
        "PYTHONPATH": str(home),
        "PYTHONUNBUFFERED": "1",
        _MASTER_KEY: master_key,
        "A11Y_BENCH_GATEWAY": json.dumps(settings),
    }


def listed(models: ModelList) -> dict[str, dict[str, Any]]:
    """The fields of each model that the hooks need; prices as digits."""
    return {
        model.name: {
            "kind": model.row_kind,
            "provider": model.provider,
            "price": model.price.described(),
            "context": model.context or 0,
            "most": max((_most(model, name) for name in LENGTHS), default=0),
            "longest": _most(model, LENGTHS[0]),
            "choices": model.choices,
            "defaults": model.defaults,
            "dropped": model.dropped,
            "shape": digest(model.shaping),
        }
        for model in models.models.values()
    }


def _most(model: Model, name: str) -> int:
    """A number of tokens in the list, 0 if it has none."""
    limit = model.entry["model_info"].get(name)
    return limit if type(limit) is int else 0


def limits(models: ModelList) -> dict[str, dict[str, int]]:
    """The limits of each provider, by the names of LIMITS: the smallest among its models."""
    by_provider: dict[str, dict[str, int]] = {}
    for model in models.models.values():
        of_provider = by_provider.setdefault(model.provider, {})
        of_provider.update((name, min(limit, of_provider.get(name, limit))) for name, limit in model.limits.items())
    return {provider: numbers for provider, numbers in by_provider.items() if numbers}
