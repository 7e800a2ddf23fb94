"""The provider's own name of the model that answers a stream, since LiteLLM gives each part the requested name.

Only for providers that speak OpenAI's protocol. Runs inside the proxy's environment: LiteLLM only.
"""

from __future__ import annotations

from typing import Any

from litellm.litellm_core_utils.streaming_handler import CustomStreamWrapper

#: what LiteLLM notes about a request gets this field
SERVED = "a11y_bench_served"


def install() -> None:
    """Note the name of each part that LiteLLM reads. To be called before its first request."""
    plain = CustomStreamWrapper.handle_openai_chat_completion_chunk

    def noting(self: CustomStreamWrapper, chunk: Any) -> Any:
        self.logging_obj.model_call_details[SERVED] = getattr(chunk, "model", None)
        return plain(self, chunk)

    CustomStreamWrapper.handle_openai_chat_completion_chunk = noting
