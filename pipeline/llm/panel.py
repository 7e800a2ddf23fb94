"""Asking one model many questions of a kind, several times each: what is missing, and no more.

Writes the samples, and what they cost to the ledger and `costs.csv`, on an experiment of the rubric's own. What a
provider or a budget owes is not kept, and is asked for again by the next run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import httpx

from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.store import Store, digest
from pipeline.core.work import Call, Interrupts, each
from pipeline.llm.asking import Read, Request, ask
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

    `given` is the environment in which the providers' keys are; the process's own unless told.
    """

    model: str
    samples: int = 3
    budget: Decimal | None = None
    models: Path = SHIPPED
    given: Mapping[str, str] | None = None


class Panel(Generic[Q]):
    """One model and its samples, kept under `root`. Raises UserError at once for a model that can not be asked."""

    def __init__(
        self, store: Store, repo: Repo, root: Path, rubric: Rubric[Q], asked: Asked, parameters: Mapping[str, Any]
    ) -> None:
        self.store, self.root, self.rubric, self.asked, self.parameters = store, root, rubric, asked, parameters
        self.given = os.environ if asked.given is None else asked.given
        model = load_models(asked.models).ready(asked.model, self.given, "chat")
        *texts, version = rubric.decisive
        settings = digest(*texts, parameters, model.entry, version)
        self.experiment = Experiment(str(repo), asked.model, rubric.agent, settings)

    def samples(self, question: Q) -> Samples:
        """What there is about a question."""
        how = {"model": self.asked.model, "settings": self.experiment.settings}
        return Samples(self.root, self.rubric.inputs(question) | how, self.asked.samples)

    def complete(self, questions: Sequence[Q], progress: Progress, log: Path, jobs: int) -> dict[Q, str]:
        """Ask for all that is missing; the gateway writes `log`. Returns why questions still lack samples."""
        left = [one for one in dict.fromkeys(questions) if self.samples(one).missing()]
        if not left:
            return {}
        say = partial(progress.step, self.rubric.agent)
        with open_gateway(self.asked.models, self.store.ledger, say=say, log=log, given=self.given) as gateway:
            owed = self.ask(gateway, left, progress, jobs)
        write_costs(self.store)
        return owed

    def ask(self, gateway: Gateway, questions: Sequence[Q], progress: Progress, jobs: int) -> dict[Q, str]:
        """The same through a gateway that is open, without `costs.csv`."""
        with connect(gateway.base_url) as line:

            def work(question: Q) -> tuple[Q, str]:
                holder = self.rubric.holder(question)
                progress.step(holder, f"asking {self.asked.model}")
                key = gateway.issue_key(self.experiment, holder, self.asked.budget)
                return question, self._complete(question, self.request(question, gateway.base_url, key), line)

            calls = [Call(self.rubric.holder(one), partial(work, one)) for one in questions]
            done = each(calls, jobs=jobs, interrupts=Interrupts(progress.stopping))
            return {question: cause for _, (question, cause) in done if cause}

    def request(self, question: Q, base_url: str, key: str) -> Request:
        """A question as a unit of asking."""
        messages, (read, again) = self.rubric.messages(question), (self.rubric.read, self.rubric.again)
        return Request(base_url, key, self.asked.model, tuple(messages), read, again, self.parameters)

    def _complete(self, question: Q, request: Request, line: httpx.Client) -> str:
        """Make the samples that are missing. Returns why one could not be, empty when all are there."""
        samples = self.samples(question)
        for unit in samples.missing():
            answer = ask(request, line)
            if answer.owed:
                return answer.owed
            samples.keep(unit, answer)
        return ""
