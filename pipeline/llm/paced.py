"""The checks of the proxy with a database: those of policy.py, and requests wait within `rpm` and `tpm`.

LiteLLM itself has no queue for them. A request waits once its key was checked. Runs inside the deployed proxy
(docker/proxy/compose.yaml puts this file, policy.py and rate_limits.py next to the configuration): LiteLLM only. Does
not cover several proxy processes behind one address, which count separately.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from litellm.proxy import proxy_server

from pipeline.llm.policy import Policy, request_of
from pipeline.llm.rate_limits import FREE, MINUTE, Lane, paced, requested


def _infos(model: str) -> Iterator[dict[str, Any]]:
    """What the list says of the entries of this name."""
    return (entry["model_info"] for entry in proxy_server.llm_router.model_list if entry["model_name"] == model)


class Paced(Policy):
    """Makes requests wait. `minute` is the number of seconds over which they are counted."""

    def __init__(self, minute: float = MINUTE) -> None:
        super().__init__()
        self._minute = minute

    @cached_property
    def _lanes(self) -> dict[str, Lane]:
        return paced(proxy_server.llm_router.model_list, self._minute)

    def embeds(self, model: str) -> bool:
        return any(info.get("mode") == "embedding" for info in _infos(model))

    def longest(self, model: str) -> int:
        lengths = (info.get("max_output_tokens") for info in _infos(model))
        return min((int(length) for length in lengths if length), default=0)

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        allowed = await super().async_pre_call_hook(user_api_key_dict, cache, data, call_type)
        model, tokens = requested(json.dumps(request_of(allowed)).encode())
        async with self._lanes.get(model, FREE).turn(tokens):
            return allowed


policy = Paced()
