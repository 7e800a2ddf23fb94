"""One gateway to a scripted model, started once, since a proxy takes 15 seconds to start."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.core.store import Store
from pipeline.llm.gateway import Gateway
from pipeline.llm.models import PROXY_URL
from pipeline.llm.opening import open_gateway
from pipeline.llm.provider import Fault, Output, Received
from pipeline.llm.scripted import ScriptedModel

MODELS = """
model_list:
  - &model
    model_name: one
    litellm_params: {model: openai/one, api_base: os.environ/PAGES_URL, api_key: os.environ/PAGES_KEY}
    model_info: {mode: chat, input_cost_per_token: "0.001", output_cost_per_token: "0.002"}
  - {<<: *model, model_name: other}
"""


class Writer(ScriptedModel):
    """Answers with a page that contains the prompt's last word and the seed; `heard` is called before each answer."""

    def __init__(self) -> None:
        super().__init__([])
        self.asked, self.heard = threading.local(), lambda: None
        self.text: Callable[[str, object], str] = lambda word, seed: f"<!doctype html><h1>{word} {seed}</h1></html>"

    def receive(self, request: Received) -> Fault:
        self.asked.seed = request.body.get("seed")
        self.heard()
        return super().receive(request)

    def reply(self, prompt: str) -> Output:
        return Output(self.text(prompt.split()[-1].strip("."), self.asked.seed))


class Setting(NamedTuple):
    """An open gateway, its store, and the model behind it."""

    gateway: Gateway
    store: Store
    models: Path
    environ: dict[str, str]
    writer: Writer


@pytest.fixture(scope="session")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    folder = tmp_path_factory.mktemp("pages")
    models = folder / "models.yaml"
    models.write_text(MODELS, encoding="utf-8")
    store = Store(folder / "data")
    store.begin()
    with Writer() as writer:
        here = {name: value for name, value in os.environ.items() if name != PROXY_URL}
        environ = {**here, "PAGES_URL": writer.url, "PAGES_KEY": "sk-provider", "INITIAL_RETRY_DELAY": "0"}
        how = {"log": folder / "proxy.log", "responses": store.responses, "environ": environ}
        with open_gateway(models, store.ledger, say=print, **how) as gateway:
            yield Setting(gateway, store, models, environ, writer)


@pytest.fixture
def setting(opened: Setting) -> Setting:
    """The same with no requests and no faults so far."""
    opened.writer.requests.clear()
    opened.writer.heard = lambda: None
    opened.writer.text = Writer().text
    return opened
