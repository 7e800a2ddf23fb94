"""A judge on loopback with scripted answers, behind a gateway that records no costs."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import factories
import pytest

from pipeline.core.progress import Progress
from pipeline.core.store import Store
from pipeline.evaluate.assess.judge.panel import Panel
from pipeline.evaluate.assess.judge.prompt import Question
from pipeline.llm.experiment import Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.ledger import Ledger
from pipeline.llm.models import DEMO, load_models
from pipeline.llm.panel import Asked
from pipeline.llm.provider import Output
from pipeline.llm.scripted import ScriptedModel

#: the environment that the demo's list of models asks for
GIVEN = {"A11Y_BENCH_SCRIPTED_URL": "unused", "A11Y_BENCH_SCRIPTED_KEY": "unused"}


def rating(score: int, **more: str) -> str:
    return json.dumps({"reasoning": "because", "score": score, **more})


@dataclass
class Speaker(ScriptedModel):
    """Gives its answers one after the other, and repeats the last one."""

    answers: list[str] = field(default_factory=list)

    def reply(self, prompt: str) -> Output:
        return Output(self.answers.pop(0) if self.answers[1:] else self.answers[0])


class Direct(Gateway):
    """A gateway without a proxy: its keys open everything and cost nothing."""

    def _new_key(self, experiment: Experiment, holder: str, budget_usd: object) -> str:
        return secrets.token_hex(8)

    def settle(self, experiment: Experiment | None = None) -> None:
        """No costs are recorded."""


@dataclass
class Court:
    """A panel, its model, and a way for tests to ask it."""

    store: Store
    speaker: Speaker
    gateway: Gateway

    def panel(self, model: str = "scripted", parameters: dict[str, object] | None = None, **asked: Any) -> Panel:
        asked_of = Asked(model, models=DEMO, environ=GIVEN, **asked)
        return Panel(self.store, factories.REPO, asked_of, parameters or {"temperature": 0.1})

    def ask(self, panel: Panel, *patches: str, jobs: int = 1, engine: str = "threads") -> dict[str, str]:
        """The result for each patch."""
        with Progress("judging", len(patches)) as progress:
            owed = panel.ask(self.gateway, [question(patch) for patch in patches], progress, jobs, engine)
        return {asked.patch: cause for asked, cause in owed.items()}


def question(patch: str) -> Question:
    return Question(factories.make_instance().task(), patch)


@pytest.fixture
def court(tmp_path: Path) -> Iterator[Callable[..., Court]]:
    """`court(3, "nonsense", -1)`: the model's answers in order; numbers are ratings."""
    with convened(tmp_path) as say:
        yield say


@contextmanager
def convened(folder: Path) -> Iterator[Callable[..., Court]]:
    """The same, with its store in a folder."""
    store = Store(folder)
    ledger = Ledger(store.ledger)
    with Speaker([]) as speaker:
        gateway = Direct(load_models(DEMO), ledger, GIVEN)
        gateway.base_url = speaker.url

        def say(*answers: int | str) -> Court:
            speaker.answers[:] = [rating(answer) if isinstance(answer, int) else answer for answer in answers]
            return Court(store, speaker, gateway)

        yield say
    ledger.close()
