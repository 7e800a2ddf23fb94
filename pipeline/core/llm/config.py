"""How the proxy is set up: LiteLLM's configuration and the environment of its process.

Pure functions. No secret is in the configuration: keys stay in the environment, and of the caller's environment only
what the model list names and what it takes to reach a provider is handed on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.core.llm.models import CACHED, INPUT, OUTPUT, STORED, Model, ModelList

_HOOKS = "pipeline.core.llm.hooks"
_MASTER_KEY = "A11Y_BENCH_MASTER_KEY"

#: taken from the caller: finding programs, and the way out through a proxy or a private certificate authority
PASSED = (
    *("PATH", "LANG", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"),
)
#: no look-ups of prices and news at start, no .env file, no pages for people
QUIET = {
    **dict.fromkeys(("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS"), "True"),
    **dict.fromkeys(("LITELLM_LOCAL_BLOG_POSTS", "LITELLM_LOCAL_POLICY_TEMPLATES"), "True"),
    **dict.fromkeys(("LITELLM_LOCAL_AUTOROUTER_PRESETS", "DONT_SHOW_FEEDBACK_BOX"), "True"),
    **dict.fromkeys(("DISABLE_ADMIN_UI", "NO_DOCS", "NO_REDOC"), "True"),
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "ERROR",
}


def configuration(models: ModelList) -> dict[str, Any]:
    """LiteLLM's configuration. A failed try is not repeated here: agents retry, and each try is a row of the ledger."""
    return {
        "model_list": [_entry(model) for model in models.models.values()],
        "litellm_settings": {
            "callbacks": f"{_HOOKS}.bookkeeper",
            "num_retries": 0,
            "request_timeout": 600,
            "turn_off_message_logging": True,
        },
        "router_settings": {"num_retries": 0, "disable_cooldowns": True},
        "general_settings": {
            "master_key": f"os.environ/{_MASTER_KEY}",
            "custom_auth": f"{_HOOKS}.custom_auth",
            "custom_auth_run_common_checks": True,
        },
    }


def _entry(model: Model) -> dict[str, Any]:
    """LiteLLM reckons in floats; its sums are not ours."""
    prices = {name: float(price) for name, price in zip((INPUT, OUTPUT, CACHED, STORED), model.price, strict=True)}
    return {**model.entry, "model_info": {**model.entry["model_info"], **prices}}


def environment(
    models: ModelList, ledger: Path, home: Path, master_key: str, given: Mapping[str, str]
) -> dict[str, str]:
    """The whole environment of the proxy's process, of which `given` is the caller's."""
    wanted = {*PASSED, *(name for model in models.models.values() for name in model.environment)}
    listed = {
        model.name: (
            "embedding" if model.kind == "embedding" else "llm",
            *(format(price, "f") for price in model.price),
        )
        for model in models.models.values()
    }
    return {
        **{name: given[name] for name in sorted(wanted) if name in given},
        **QUIET,
        "HOME": str(home),
        "PYTHONPATH": str(home),
        "PYTHONUNBUFFERED": "1",
        _MASTER_KEY: master_key,
        "A11Y_BENCH_GATEWAY": json.dumps({"ledger": str(ledger), "models": listed}),
    }
