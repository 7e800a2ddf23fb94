"""How the embedded proxy is set up: LiteLLM's configuration and the environment of its process.

Reads `docker/proxy/config.yaml`, the settings of both deployments; writes nothing. No secret is in the configuration:
keys stay in the environment, and of the caller's environment only what the model list names and what it takes to reach
a provider is handed on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.core.shipped import ROOT
from pipeline.llm.models import PRICES, Model, ModelList

#: what a deployed proxy is given beside its models
SETTINGS = ROOT / "docker" / "proxy" / "config.yaml"

_HOOKS = "pipeline.llm.hooks"
_MASTER_KEY = "LITELLM_MASTER_KEY"

#: taken from the caller: finding programs, the way out through a proxy or a private certificate authority, back-off
PASSED = (
    *("PATH", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
    *("INITIAL_RETRY_DELAY", "MAX_RETRY_DELAY", "JITTER"),
)
#: unless the caller says otherwise: seconds before the first try after a failed one, and at most
BACK_OFF = {"INITIAL_RETRY_DELAY": "1", "MAX_RETRY_DELAY": "30"}
#: what a list may say of how much a model answers at most, in tokens
LENGTHS = ("max_output_tokens", "max_tokens")
#: no look-ups of prices and news at start, no .env file, no pages for people
QUIET = {
    **dict.fromkeys(("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"), "True"),
    **dict.fromkeys(("LITELLM_LOCAL_BLOG_POSTS", "LITELLM_LOCAL_POLICY_TEMPLATES"), "True"),
    **dict.fromkeys(("LITELLM_LOCAL_AUTOROUTER_PRESETS", "DONT_SHOW_FEEDBACK_BOX"), "True"),
    **dict.fromkeys(("DISABLE_ADMIN_UI", "NO_DOCS", "NO_REDOC"), "True"),
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "ERROR",
}


def configuration(models: ModelList, responses: Path | None = None) -> dict[str, Any]:
    """LiteLLM's configuration. `responses` is the folder of the cache; without one nothing is cached."""
    import yaml

    settings = yaml.safe_load(SETTINGS.read_text(encoding="utf-8"))
    return {
        "model_list": [_entry(model) for model in models.models.values()],
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
    """The cache of responses: of chats that ask for it (policy.py, hooks.py), keyed by every parameter, a provider's
    own too. LiteLLM finds no embedding again that only asks for it."""
    if responses is None:
        return {"cache": False}
    kept = {"type": "disk", "disk_cache_dir": str(responses), "mode": "default_off"}
    return {
        "cache": True,
        "cache_params": {**kept, "supported_call_types": ["acompletion"]},
        "enable_caching_on_provider_specific_optional_params": True,
    }


def _entry(model: Model) -> dict[str, Any]:
    """LiteLLM reckons in floats; its sums are not ours."""
    prices = {name: float(price) for name, price in zip(PRICES, model.price[:4], strict=True)}
    info = {name: float(value) if "cost" in name else value for name, value in model.entry["model_info"].items()}
    return {**model.entry, "model_info": info | prices}


def environment(
    models: ModelList, ledger: Path, home: Path, master_key: str, given: Mapping[str, str], gateway: str = ""
) -> dict[str, str]:
    """The whole environment of the proxy's process, which takes the keys of `gateway`; `given` is the caller's."""
    ours = {"ledger": str(ledger), "gateway": gateway, "models": listed(models), "limits": limits(models)}
    wanted = {*PASSED, *(name for model in models.models.values() for name in model.environment)}
    return {
        **BACK_OFF,
        **{name: given[name] for name in sorted(wanted) if name in given},
        **QUIET,
        "HOME": str(home),
        "PYTHONPATH": str(home),
        "PYTHONUNBUFFERED": "1",
        _MASTER_KEY: master_key,
        "A11Y_BENCH_GATEWAY": json.dumps(ours),
    }


def listed(models: ModelList) -> dict[str, dict[str, Any]]:
    """What the hooks need of each model; prices as digits."""
    return {
        model.name: {
            "kind": model.row_kind,
            "provider": model.provider,
            "price": model.price.described(),
            "most": max((_most(model, name) for name in LENGTHS), default=0),
            "choices": model.choices,
        }
        for model in models.models.values()
    }


def _most(model: Model, name: str) -> int:
    """A number of tokens that the list says, 0 where it does not."""
    said = model.entry["model_info"].get(name)
    return said if type(said) is int else 0


def limits(models: ModelList) -> dict[str, dict[str, int]]:
    """What each provider bears, by the names of LIMITS: the smallest that one of its models says."""
    found: dict[str, dict[str, int]] = {}
    for model in models.models.values():
        of_provider = found.setdefault(model.provider, {})
        of_provider.update((name, min(limit, of_provider.get(name, limit))) for name, limit in model.limits.items())
    return {provider: said for provider, said in found.items() if said}
