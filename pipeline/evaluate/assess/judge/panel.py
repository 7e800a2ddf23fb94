"""Asking one model about the patches of a repository, several times about each.

Writes the samples to `04_evaluation/ratings/`, and what they cost to the ledger and `costs.csv`: on an experiment of
its own, whose agent is `judge`. What a provider or a budget owes is not kept, and is asked for again by the next run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.core.errors import InfrastructureError
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.store import Store, digest
from pipeline.core.work import Call, Interrupts, each
from pipeline.evaluate.assess.judge import prompt, reply
from pipeline.evaluate.assess.judge.prompt import Question
from pipeline.evaluate.assess.judge.reply import BadAnswer
from pipeline.evaluate.assess.judge.samples import Samples
from pipeline.llm.chat import Message, chat, connect
from pipeline.llm.costs import write_costs
from pipeline.llm.experiment import Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.models import SHIPPED, load_models
from pipeline.llm.opening import open_gateway

#: whose money it is, in the ledger and in costs.csv
AGENT = "judge"
#: answers of one sample at most
TRIES = 2
#: raised whenever answers are asked for or read differently: older ones are stale
VERSION = 1


@dataclass(frozen=True)
class Asked:
    """Who judges, how often each patch, and the most that this judge may cost for a repository, in USD.

    `given` is the environment in which the providers' keys are; the process's own unless told.
    """

    model: str
    samples: int = 3
    budget: Decimal | None = None
    models: Path = SHIPPED
    given: Mapping[str, str] | None = None


class Panel:
    """One judge and its samples. Raises UserError at once for a model that can not be asked."""

    def __init__(self, store: Store, repo: Repo, asked: Asked, parameters: Mapping[str, Any]) -> None:
        self.store, self.repo, self.asked, self.parameters = store, repo, asked, parameters
        self.given = os.environ if asked.given is None else asked.given
        model = load_models(asked.models).ready(asked.model, self.given, "chat")
        settings = digest(prompt.RUBRIC, prompt.AGAIN, parameters, model.entry, VERSION)
        self.experiment = Experiment(str(repo), asked.model, AGENT, settings)

    def samples(self, question: Question) -> Samples:
        """What there is about a patch."""
        root = self.store.root / "04_evaluation" / "ratings" / self.repo.slug
        return Samples(root, question, self.asked.model, self.experiment.settings, self.asked.samples)

    def judge(self, questions: Sequence[Question], progress: Progress, log: Path, jobs: int) -> dict[Question, str]:
        """Ask for all that is missing; the gateway writes `log`. Returns why patches still lack samples."""
        left = [one for one in dict.fromkeys(questions) if self.samples(one).missing()]
        if not left:
            return {}
        say = partial(progress.step, AGENT)
        with open_gateway(self.asked.models, self.store.ledger, say=say, log=log, given=self.given) as gateway:
            owed = self.ask(gateway, left, progress, jobs)
        write_costs(self.store)
        return owed

    def ask(
        self, gateway: Gateway, questions: Sequence[Question], progress: Progress, jobs: int
    ) -> dict[Question, str]:
        """The same through a gateway that is open, without `costs.csv`."""
        with connect(gateway.base_url) as line:

            def work(question: Question) -> tuple[Question, str]:
                progress.step(question.task.instance_id, f"asking {self.asked.model}")
                key = gateway.issue_key(self.experiment, question.task.instance_id, self.asked.budget)
                return question, self._complete(partial(chat, line, key), question)

            requests = [Call(one.task.instance_id, partial(work, one)) for one in questions]
            done = each(requests, jobs=jobs, interrupts=Interrupts(progress.stopping))
            return {question: cause for _, (question, cause) in done if cause}

    def _complete(self, chat: Callable[..., str], question: Question) -> str:
        """Make the samples that are missing. Returns why one could not be, empty when all are there."""
        samples = self.samples(question)
        ask = partial(chat, self.asked.model, **self.parameters)
        try:
            for unit in samples.missing():
                unit.finish(sample(ask, question), **samples.inputs)
        except InfrastructureError as error:
            return error.cause
        return ""


def sample(ask: Callable[[list[Message]], str], question: Question) -> dict[str, Any]:
    """One rating, as plain data; an answer that can not be read is asked for once more, and then missing."""
    asked, why = prompt.messages(question), ""
    for _ in range(TRIES):
        answer = ask(asked)
        try:
            return {"rating": reply.read(answer).model_dump()}
        except BadAnswer as error:
            why = str(error)
            asked = prompt.once_more(question, answer, why)
    return {"missing": f"bad answer: {why}"}
