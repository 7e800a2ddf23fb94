"""What no request may change, in both deployments: LiteLLM calls this around every request.

Runs inside the proxy's environment, embedded (hooks.py) and deployed (docker/proxy/config.yaml, where this file lies
beside the configuration): LiteLLM only.
"""

from __future__ import annotations

from typing import Any

from litellm.integrations.custom_logger import CustomLogger

#: parameters of LiteLLM, not of the protocol, that a request may not set: they change who answers, or how often
NOT_FOR_REQUESTS = ("fallbacks", "mock_response", "num_retries")


class Policy(CustomLogger):
    """LiteLLM passes all arguments by these names."""

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        """Streams report the provider's own usage, else LiteLLM would guess; greedy requests may use the cache."""
        allowed = {name: value for name, value in data.items() if name not in NOT_FOR_REQUESTS}
        if data.get("stream"):
            allowed["stream_options"] = {"include_usage": True}
        if data.get("temperature") == 0:
            allowed.setdefault("cache", {"use-cache": True})
        return allowed

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        user_api_key_dict: Any,
        original_exception: Exception,
        traceback_str: str | None = None,
    ) -> None:
        """Tell the client not to try again what was tried here, and hand the provider's Retry-After on, which LiteLLM
        would rename."""
        given = getattr(original_exception, "litellm_response_headers", None) or {}
        handed_on = {name: given[name] for name in ("retry-after",) if name in given}
        original_exception.headers = {"x-should-retry": "false", **handed_on}


policy = Policy()
