"""What LiteLLM does not pass on of a provider's reply: who answered a stream, what it counted, and how answers ended.

LiteLLM gives each part of a stream the requested name of the model, counts the total of its tokens anew, and says
`stop` where an answer ended in a way that it does not know, or did not end at all: half an answer would pass for a
complete one. Names and totals are only noted for providers that speak OpenAI's protocol. Runs inside the proxy's
environment: LiteLLM only.
"""

from __future__ import annotations

from typing import Any

import litellm
from litellm.litellm_core_utils import core_helpers
from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper
from litellm.types import utils

#: what LiteLLM notes about a request gets these fields: the provider's name of the model, and all tokens of a stream
SERVED, TOTAL = "a11y_bench_served", "a11y_bench_total"
#: how providers say that an answer was cut at the model's context (Mistral; Anthropic and Z.ai), in LiteLLM's word
CUT = dict.fromkeys(("model_length", "model_context_window_exceeded"), "length")
#: how they say that they failed in the middle of an answer (OpenRouter and Mistral; Z.ai; DeepSeek; Cohere; SGLang)
FAILED = ("error", "network_error", "insufficient_system_resource", "timeout", "abort")
#: the status of an answer that its provider did not finish
BAD_GATEWAY = 502


class Unfinished(litellm.APIError):
    """An answer that its provider did not finish. What was sent of it may have a cost."""

    def __init__(self, message: str) -> None:
        super().__init__(BAD_GATEWAY, message, llm_provider="", model="")


def install() -> None:
    """Make LiteLLM note names and totals, and refuse unfinished answers. To be called before its first request."""
    core_helpers._FINISH_REASON_MAP.update(CUT)
    plain_reason, plain_chunk = utils.map_finish_reason, CustomStreamWrapper.handle_openai_chat_completion_chunk
    plain_end = CustomStreamWrapper.finish_reason_handler

    def checked(reason: Any) -> Any:
        _require_answered(reason)
        return plain_reason(reason)

    def noting(self: CustomStreamWrapper, chunk: Any) -> Any:
        details = self.logging_obj.model_call_details
        details[SERVED] = getattr(chunk, "model", None)
        details[TOTAL] = getattr(getattr(chunk, "usage", None), "total_tokens", None) or details.get(TOTAL)
        for choice in getattr(chunk, "choices", None) or ():
            _require_answered(choice.finish_reason)
        return plain_chunk(self, chunk)

    def ending(self: CustomStreamWrapper) -> Any:  # some providers give no reason, but the usage last
        is_told = self.received_finish_reason or self.intermittent_finish_reason
        if not is_told and not getattr(self.chunks[-1] if self.chunks else None, "usage", None):
            raise Unfinished("the stream ended before its answer")
        return plain_end(self)

    utils.map_finish_reason = checked
    CustomStreamWrapper.handle_openai_chat_completion_chunk = noting
    CustomStreamWrapper.finish_reason_handler = ending


def _require_answered(reason: Any) -> None:
    """Raise Unfinished if this is why an answer ended."""
    if str(reason).lower() in FAILED:
        raise Unfinished(f"the answer ended with '{reason}'")
