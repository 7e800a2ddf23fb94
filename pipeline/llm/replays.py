"""Tells requests that are sent from replays: what LiteLLM does not find in its cache of responses reserves money.

A request is a replay only if LiteLLM answers it with what this very look found, so a response that disappears before
the look is paid for, and one that disappears afterwards is not missed. Runs inside the proxy's environment: LiteLLM
only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

import litellm
from litellm.caching.caching_handler import CachingHandlerResponse, LLMCachingHandler

#: called with the arguments of a request before it is sent; what it raises refuses the request
Sends = Callable[[Mapping[str, Any]], Awaitable[None]]


class Replays(LLMCachingHandler):
    """LiteLLM makes one for each try at a request, and looks for its response before it sends it."""

    before_sending: ClassVar[Sends]

    async def async_get_cache(self, *args: Any, **asked: Any) -> CachingHandlerResponse | None:
        found = await super().async_get_cache(*args, **asked)
        if not _is_whole(found):
            await Replays.before_sending(asked["kwargs"])
        return found


def _is_whole(found: CachingHandlerResponse | None) -> bool:
    """Whether nothing is sent: a response to a chat, or all vectors of a request for embeddings."""
    if found is None:
        return False
    is_chat = found.cached_result is not None and found.final_embedding_cached_response is None
    return is_chat or found.embedding_all_elements_cache_hit is True


def install(before_sending: Sends) -> None:
    """Let LiteLLM look by this class, before its first request."""
    Replays.before_sending = staticmethod(before_sending)
    litellm.utils._LLMCachingHandler = Replays
