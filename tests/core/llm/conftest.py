"""One LiteLLM proxy for all tests of this folder: it takes about 15 seconds to start."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from pipeline.core.llm.experiment import Experiment
from pipeline.core.llm.gateway import open_gateway
from pipeline.core.llm.scripted import Answer, ScriptedModel
from pipeline.core.store import Store
from tests.core.llm.bench import MODELS, PROVIDER_KEY, Bench


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder = tmp_path_factory.mktemp("gateway")
    models, log, store = folder / "models.yaml", folder / "logs" / "proxy.log", Store(folder / "data")
    models.write_text(MODELS, encoding="utf-8")
    with ScriptedModel([Answer(("hello",), "good day " * 9)]) as upstream:
        given = {**os.environ, "SCRIPTED_URL": upstream.url, "SCRIPTED_KEY": PROVIDER_KEY}
        with open_gateway(models, store.ledger, say=print, log=log, given=given) as gateway:
            yield Bench(gateway, upstream, store, log)


@pytest.fixture
def experiment(request: pytest.FixtureRequest) -> Experiment:
    """Each test spends on its own."""
    return Experiment("o/r", "scripted", "agent", request.node.name)
