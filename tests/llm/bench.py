"""Shared by the tests of the gateway: a model list, and a gateway with its provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import httpx

from pipeline.core.store import Store
from pipeline.llm.experiment import Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.models import SHIPPED
from pipeline.llm.scripted import ScriptedModel

PROVIDER_KEY = "sk-canary-of-the-provider"
#: the shipped list, which both deployments must load, and models of the scripted provider
MODELS = f"""\
{SHIPPED.read_text(encoding="utf-8")}
  - model_name: scripted
    litellm_params: &upstream
      {{model: openai/scripted, api_base: os.environ/SCRIPTED_URL, api_key: os.environ/SCRIPTED_KEY}}
    model_info:
      mode: chat
      input_cost_per_token: "0.00000027"
      output_cost_per_token: "0.0000011"
      cache_read_input_token_cost: "0.00000003"
  - model_name: brief
    litellm_params: {{<<: *upstream, model: openai/brief, max_tokens: 1000}}
    model_info: {{mode: chat, input_cost_per_token: "0.00000027", output_cost_per_token: "0.0000011"}}
  - model_name: responding
    litellm_params: {{<<: *upstream, model: openai/gpt-5.4}}
    model_info: {{mode: chat, input_cost_per_token: "0", output_cost_per_token: "0"}}
  - model_name: modest
    litellm_params: {{<<: *upstream, model: openai/modest}}
    model_info: {{mode: chat, max_output_tokens: 500, input_cost_per_token: "0", output_cost_per_token: "0"}}
  - model_name: unlimited
    litellm_params: {{<<: *upstream, model: openai/unlimited, additional_drop_params: [max_tokens]}}
    model_info: {{mode: chat, input_cost_per_token: "0.00000027", output_cost_per_token: "0.0000011"}}
  - model_name: several
    litellm_params: *upstream
    model_info: {{mode: chat, max_choices: 4, input_cost_per_token: "0.00000027", output_cost_per_token: "0.0000011"}}
  - model_name: other
    litellm_params: *upstream
    model_info: {{mode: chat, input_cost_per_token: "1", output_cost_per_token: "1"}}
  - model_name: embedder
    litellm_params: *upstream
    model_info: {{mode: embedding, input_cost_per_token: "0.00000002", output_cost_per_token: "0"}}
  - model_name: short
    litellm_params: *upstream
    model_info: {{mode: embedding, max_input_tokens: 8, input_cost_per_token: "0.00000002", output_cost_per_token: "0"}}
  - model_name: picky
    litellm_params: {{model: gemini/picky, api_base: os.environ/SCRIPTED_URL, api_key: os.environ/SCRIPTED_KEY}}
    model_info: {{mode: chat, input_cost_per_token: "1", output_cost_per_token: "1"}}
  - model_name: closed
    litellm_params: {{<<: *upstream, model: openai/closed, api_base: "http://127.0.0.1:9/v1"}}
    model_info: {{mode: chat, input_cost_per_token: "1", output_cost_per_token: "1"}}
  - model_name: hasty
    litellm_params: {{<<: *upstream, model: openai/hasty, timeout: 0.5}}
    model_info: {{mode: chat, input_cost_per_token: "1", output_cost_per_token: "1"}}
  - model_name: narrow
    litellm_params: {{<<: *upstream, api_base: os.environ/SCRIPTED_URL, api_key: none, max_parallel_requests: 2}}
    model_info: {{mode: chat, input_cost_per_token: "0", output_cost_per_token: "0"}}
  - model_name: paced
    litellm_params: {{<<: *upstream, model: openai/paced, api_key: os.environ/PACED_KEY, rpm: 2}}
    model_info: {{mode: chat, input_cost_per_token: "0", output_cost_per_token: "0"}}
  - model_name: stubborn
    litellm_params: {{<<: *upstream, model: openai/stubborn, top_p: 0.5, additional_drop_params: [temperature]}}
    model_info: {{mode: chat, input_cost_per_token: "0", output_cost_per_token: "0"}}
  - model_name: remembering
    litellm_params:
      model: anthropic/claude-sonnet-4-6
      api_base: os.environ/SCRIPTED_URL
      api_key: os.environ/SCRIPTED_KEY
      cache_control_injection_points: [{{location: message, index: -1}}]
    model_info: {{mode: chat, input_cost_per_token: "0", output_cost_per_token: "0"}}
  - model_name: tiered
    litellm_params: {{<<: *upstream, model: openai/tiered}}
    model_info:
      mode: chat
      input_cost_per_token: "1"
      output_cost_per_token: "0"
      input_cost_per_token_above_1k_tokens: "2"
  - model_name: keyless
    litellm_params: {{model: openai/keyless, api_key: os.environ/NO_SUCH_KEY}}
    model_info: {{mode: chat, input_cost_per_token: "0", output_cost_per_token: "0"}}
"""
#: tests do not wait for a provider as long as users do
QUICK = {"INITIAL_RETRY_DELAY": "0.01", "MAX_RETRY_DELAY": "0.05", "JITTER": "0"}


@dataclass
class Bench:
    """The gateway, its provider, and helpers for tests that use both."""

    gateway: Gateway
    upstream: ScriptedModel
    store: Store
    log: Path
    keys: list[str] = field(default_factory=list)

    def key(self, experiment: Experiment, holder: str = "o__r-1", **more: object) -> str:
        self.keys.append(self.gateway.issue_key(experiment, holder, **more))
        return self.keys[-1]

    def post(
        self,
        key: str,
        path: str = "/chat/completions",
        sent_headers: dict[str, str] | None = None,
        *,
        waits: float | httpx.Timeout = 30,
        **body: object,
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {key}", **(sent_headers or {})}
        return httpx.post(f"{self.gateway.base_url}{path}", json=body, headers=headers, timeout=waits)

    def chat(self, key: str, text: str = "hello", model: str = "scripted", **more: object) -> httpx.Response:
        return self.post(key, model=model, messages=[{"role": "user", "content": text}], **more)
