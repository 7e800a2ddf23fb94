"""Asking one model many questions of one kind, several times each, and only those without an answer.

Writes the samples, and their cost to the ledger and `costs.csv`, on an experiment of their own. What a provider or a
budget owes is not stored; the next run asks again.
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
from pipeline.llm.asking import Answer, Read, Request, ask, owed
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
    """A kind of questions: whose money they cost, how one is put and read, and by what its answers are kept.

    `decisive` is all that decides an answer beside question, model and parameters; `holder` gives whose key a question
    is asked with (an instance), `inputs` its digests.
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
    """Who is asked, how often each question, and the most that this may cost for a repository, in USD.

    `given` is the environment in which the providers' keys are; the process's own by default. `gateway` is one that is
    open already, which stays so.
    """

    model: str
    samples: int = 3
    budget: Decimal | None = None
    models: Path = SHIPPED
    given: Mapping[str, str] | None = None
    gateway: Gateway | None = None


class Sampled(NamedTuple):
    """Told when a sample is there: it is paid for, and kept at once. `question` is plain data."""

    question: Any
    number: int
    answer: Answer


@dataclass(frozen=True)
class Sample(Generic[Q]):
    """The request: the samples of a question that are missing, by their numbers. `name` is whose key it is asked with,
    `question` is handed back as it is."""

    name: str
    question: Q
    numbers: tuple[int, ...]
    request: Request

    @property
    def affinity(self) -> str:
        return ""

    def perform(self, tell: Tell) -> tuple[Answer, ...]:
        """One answer after the other, the last of which may be owed: no more is asked for then."""
        tell(Event(self.name, f"asking {self.request.model}"))
        answers: list[Answer] = []
        with connect(self.request.base_url) as line:
            for number in self.numbers:
                answers.append(ask(self.request, line))
                if answers[-1].owed:
                    break
                tell(Event(self.name, data=Sampled(self.question, number, answers[-1])))
        return tuple(answers)

    def failed(self, error: Exception) -> tuple[Answer, ...]:
        return (owed(error),)


class Panel(Generic[Q]):
    """One model and its samples, kept under `root`. `repo` is whose answers these are: of the track of pages, a set of
    cases. Raises UserError at once for a model that cannot be asked."""

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
        self.given = os.environ if asked.given is None else asked.given
        model = load_models(asked.models).ready(asked.model, self.given, "chat")
        *texts, version = rubric.decisive
        settings = digest(*texts, parameters, model.shaping, version)
        self.experiment = Experiment(str(repo), asked.model, rubric.agent, settings, track)

    def samples(self, question: Q) -> Samples:
        """What there is about a question."""
        how = {"model": self.asked.model, "settings": self.experiment.settings}
        return Samples(self.root, self.rubric.inputs(question) | how, self.asked.samples)

    def left(self, questions: Sequence[Q]) -> list[Q]:
        """Those that lack samples, each once."""
        return [one for one in dict.fromkeys(questions) if self.samples(one).missing()]

    def complete(
        self,
        questions: Sequence[Q],
        progress: Progress,
        log: Path,
        jobs: int,
        engine: str = "threads",
    ) -> dict[Q, str]:
        """Ask for all that is missing, and count each of `left` in `progress`; through the gateway of `asked`, or one
        of its own, which writes `log`. Returns why questions still lack samples."""
        left = self.left(questions)
        if not left:
            return {}
        with self._opened(progress, log) as there:
            progress.leave(self.rubric.agent)
            causes = self.ask(there, left, progress, jobs, engine, progress.finish)
            if self.asked.gateway:
                there.settle(self.experiment)
        write_costs(self.store)
        return causes

    def _opened(self, progress: Progress, log: Path) -> AbstractContextManager[Gateway]:
        if self.asked.gateway:
            return nullcontext(self.asked.gateway)
        say = partial(progress.step, self.rubric.agent)
        return open_gateway(self.asked.models, self.store.ledger, say=say, log=log, given=self.given)

    def ask(
        self,
        gateway: Gateway,
        questions: Sequence[Q],
        progress: Progress,
        jobs: int,
        engine: str = "threads",
        finish: Callable[[str, str], None] = lambda *_: None,
    ) -> dict[Q, str]:
        """Ask for what questions lack, without `costs.csv`; `finish` is told each that is done with, and how."""

        def hear(event: Event) -> None:
            progress.hear(event)
            if isinstance(event.data, Sampled):
                question, number, answer = event.data
                self.samples(question).keep(number, answer)

        requests = [self.request(gateway, one) for one in questions]
        causes: dict[Q, str] = {}
        for request, answers in each(
            requests, jobs=jobs, engine=engine, hear=hear, interrupts=Interrupts(progress.stopping)
        ):
            last = answers[-1] if answers else Answer()
            if last.owed:
                causes[request.question] = last.owed
            finish(request.name, last.owed or last.missing or "answered")
        return causes

    def request(self, gateway: Gateway, question: Q) -> Sample[Q]:
        """What is missing of a question, with a key of its own."""
        rubric, holder = self.rubric, self.rubric.holder(question)
        key = gateway.issue_key(self.experiment, holder, self.asked.budget)
        asked = Request(
            gateway.base_url,
            key,
            self.asked.model,
            tuple(rubric.messages(question)),
            rubric.read,
            rubric.again,
            self.parameters,
        )
        return Sample(holder, question, tuple(self.samples(question).missing()), asked)
