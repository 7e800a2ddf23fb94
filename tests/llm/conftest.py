"""The gateway in both deployments, each started once: a proxy takes 15 seconds to start, and 30 with a database."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from llm import database
from llm.bench import MODELS, PROVIDER_KEY, QUICK, Bench

from pipeline.core.store import Store
from pipeline.llm.experiment import Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.models import PROXY_KEY, PROXY_URL
from pipeline.llm.opening import open_gateway
from pipeline.llm.scripted import Answer, ScriptedModel

ANSWERS = [
    Answer(("hello",), "good day " * 9),
    Answer(("weather",), "", ("look_up", '{"place": "Graz"}')),
]
EMBEDDED = "embedded"
DEPLOYED = pytest.param("deployed", marks=pytest.mark.engine("PostgreSQL"))


class Setting(NamedTuple):
    """How a gateway is opened, and the provider that it reaches."""

    folder: Path
    given: dict[str, str]
    upstream: ScriptedModel

    @property
    def log(self) -> Path:
        return self.folder / "proxy.log"


@pytest.fixture(scope="session", params=[EMBEDDED, DEPLOYED])
def setting(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    """A provider and, for the deployed gateway, the proxy that is already running."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "models.yaml").write_text(MODELS, encoding="utf-8")
    with ExitStack() as stack:
        upstream = stack.enter_context(ScriptedModel(list(ANSWERS)))
        given = {**os.environ, **QUICK, "SCRIPTED_URL": upstream.url, "SCRIPTED_KEY": PROVIDER_KEY, "PACED_KEY": "k"}
        setting = Setting(folder, given, upstream)
        if request.param != EMBEDDED:
            url = stack.enter_context(database.database())
            address = stack.enter_context(database.proxy(url, folder / "models.yaml", setting.log, given))
            setting = setting._replace(given={**os.environ, PROXY_URL: address, PROXY_KEY: database.MASTER_KEY})
        yield setting


@pytest.fixture(scope="session")
def bench(setting: Setting) -> Iterator[Bench]:
    """For its users, the gateway is the same in both deployments."""
    with opened(setting) as (gateway, store):
        yield Bench(gateway, setting.upstream, store, setting.log)


@contextmanager
def opened(setting: Setting, data: str = "data", **given: str) -> Iterator[tuple[Gateway, Store]]:
    """A gateway and the place of its ledger; `given` changes the environment."""
    store = Store(setting.folder / data)
    with open_gateway(
        setting.folder / "models.yaml",
        store.ledger,
        say=print,
        log=setting.log,
        responses=setting.folder / "responses",
        environ={**setting.given, **given},
    ) as gateway:
        yield gateway, store


@pytest.fixture
def experiment(request: pytest.FixtureRequest) -> Experiment:
    """An experiment of each test's own."""
    return Experiment("o/r", "scripted", "agent", request.node.name)
