"""Asking one model many questions of one kind, several times each, skipping those that have answers.

Writes the samples, and their cost to the ledger and `costs.csv`, under an experiment of their own. Answers that are
missing because of a provider or a budget are not stored; the next run asks again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import REPAIR, Track
from pipeline.core.store import Store, digest
from pipeline.core.work import Event, Interrupts, Tell, each
from pipeline.llm.asking import Answer, Read, Request, ask, unanswered
from pipeline.llm.chat import Message, connect
from pipeline.llm.costs import write_costs
from pipeline.llm.experiment import Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.models import SHIPPED, load_models
from pipeline.llm.opening import open_gateway
from pipeline.llm.samples import Samples

Q = TypeVar("Q", bound=Hashable)


@dataclass(frozen=True)
class Rubric(Generic[Q]):
    """A kind of questions: the agent that pays for them, how one is asked and read, and what its answers are kept by.

    `decisive` is everything that decides an answer besides question, model and parameters. `holder` gives the holder of
    a question's key (an instance), `inputs` the digests of a question.
    """

    agent: str
    decisive: tuple[str | int, ...]
    messages: Callable[[Q], list[Message]]
    again: str
    read: Read
    holder: Callable[[Q], str]
    inputs: Callable[[Q], dict[str, str]]


@dataclass(frozen=True)
class Asked:
    """Which model is asked, how often it is asked each question, and the most that this may cost for a repository, in
    USD.

    `environ` are the environment variables with the providers' keys, by default those of the process. A `gateway` that
    is already open is used and stays open.
    """

    model: str
    samples: int = 3
    budget: Decimal | None = None
    models: Path = SHIPPED
    environ: Mapping[str, str] | None = None
    gateway: Gateway | None = None


class Sampled(NamedTuple):
    """Reported for each sample, which is paid for and therefore kept at once. `question` is plain data."""

    question: Any
    number: int
    answer: Answer


@dataclass(frozen=True)
class Sample(Generic[Q]):
    """The request: the missing samples of a question, by their numbers. `name` is the holder of its key; `question` is
    returned unchanged."""

    name: str
    question: Q
    numbers: tuple[int, ...]
    request: Request

    @property
    def affinity(self) -> str:
        return ""

    @property
    def base_url(self) -> str:
        """The gateway that a worker has to reach."""
        return self.request.base_url

    def perform(self, tell: Tell) -> tuple[Answer, ...]:
        """The answers in order. After a failure, no more are asked for."""
        tell(Event(self.name, f"asking {self.request.model}"))
        answers: list[Answer] = []
        with connect(self.request.base_url, self.request.seconds) as line:
            for number in self.numbers:
                answers.append(ask(self.request, line))
                if answers[-1].failure:
                    break
                tell(Event(self.name, data=Sampled(self.question, number, answers[-1])))
        return tuple(answers)

    def failed(self, error: Exception) -> tuple[Answer, ...]:
        return (unanswered(error),)


class Panel(Generic[Q]):
    """One model and its samples, kept under `root`. `repo` is the repository of the answers, or the set of cases in the
    page track. Raises UserError at once for a model that cannot be asked."""

    def __init__(
        self,
        store: Store,
        repo: Repo | str,
        root: Path,
        rubric: Rubric[Q],
        asked: Asked,
        parameters: Mapping[str, Any],
        track: Track = REPAIR,
    ) -> None:
        self.store, self.root, self.rubric, self.asked, self.parameters = store, root, rubric, asked, parameters
        self.environ = os.environ if asked.environ is None else asked.environ
        model = load_models(asked.models).ready(asked.model, self.environ, "chat")
        *texts, version = rubric.decisive
        settings = digest(*texts, parameters, model.shaping, version)
        self.experiment = Experiment(str(repo), asked.model, rubric.agent, settings, track)

    def samples(self, question: Q) -> Samples:
        """The samples of a question."""
        how = {"model": self.asked.model, "settings": self.experiment.settings}
        return Samples(self.root, self.rubric.inputs(question) | how, self.asked.samples)

    def remaining(self, questions: Sequence[Q]) -> list[Q]:
        """The questions that lack samples, each once."""
        return [question for question in dict.fromkeys(questions) if self.samples(question).missing()]

    def complete(
        self,
        questions: Sequence[Q],
        progress: Progress,
        log: Path,
        jobs: int,
        engine: str = "threads",
    ) -> dict[Q, str]:
        """Ask for all missing samples, and count each `remaining` question in `progress`. Uses the gateway of `asked`,
        or opens one, which writes `log`. Returns why questions still lack samples."""
        remaining = self.remaining(questions)
        if not remaining:
            return {}
        with self._opened(progress, log) as gateway:
            progress.leave(self.rubric.agent)
            causes = self.ask(gateway, remaining, progress, jobs, engine, progress.finish)
            if self.asked.gateway:
                gateway.settle(self.experiment)
        write_costs(self.store)
        return causes

    def _opened(self, progress: Progress, log: Path) -> AbstractContextManager[Gateway]:
        if self.asked.gateway:
            return nullcontext(self.asked.gateway)
        say = partial(progress.step, self.rubric.agent)
        return open_gateway(self.asked.models, self.store.ledger, say=say, log=log, environ=self.environ)

    def ask(
        self,
        gateway: Gateway,
        questions: Sequence[Q],
        progress: Progress,
        jobs: int,
        engine: str = "threads",
        finish: Callable[[str, str], None] = lambda *_: None,
    ) -> dict[Q, str]:
        """Ask for the missing samples of questions, without writing `costs.csv`; `finish` is called for each
        question."""

        def hear(event: Event) -> None:
            progress.hear(event)
            if isinstance(event.data, Sampled):
                question, number, answer = event.data
                self.samples(question).keep(number, answer)

        requests = [self.request(gateway, question) for question in questions]
        causes: dict[Q, str] = {}
        for request, answers in each(
            requests, jobs=jobs, engine=engine, hear=hear, interrupts=Interrupts(progress.stopping)
        ):
            last = answers[-1] if answers else Answer()
            if last.failure:
                causes[request.question] = last.failure
            finish(request.name, last.failure or last.missing or "answered")
        return causes

    def request(self, gateway: Gateway, question: Q) -> Sample[Q]:
        """The request for the missing samples of a question, with its own key."""
        rubric, holder = self.rubric, self.rubric.holder(question)
        key = gateway.issue_key(self.experiment, holder, self.asked.budget)
        request = Request(
            gateway.base_url,
            key,
            self.asked.model,
            tuple(rubric.messages(question)),
            rubric.read,
            rubric.again,
            self.parameters,
            gateway.models.get(self.asked.model).time_limit,
        )
        return Sample(holder, question, tuple(self.samples(question).missing()), request)
