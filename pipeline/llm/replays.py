"""Distinguishing requests that are sent from replays: those that LiteLLM does not find in its cache reserve money.

A request is a replay only if LiteLLM answers it with the result of this same look-up. If a response disappears from the
cache before the look-up, the request is paid for; if it disappears afterwards, it is not needed. Runs inside the
proxy's environment: LiteLLM only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, ClassVar

import litellm
from litellm.caching.caching_handler import CachingHandlerResponse, LLMCachingHandler

#: called with the arguments of a request before it is sent; what it raises refuses the request
Sends = Callable[[Mapping[str, Any]], Awaitable[None]]


class Replays(LLMCachingHandler):
    """LiteLLM makes one for each try at a request, and looks up the response by it before it sends the request."""

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
    """Make LiteLLM use this class for look-ups. To be called before its first request."""
    Replays.before_sending = staticmethod(before_sending)
    litellm.utils._LLMCachingHandler = Replays
