"""Generation: every model answers every prompt several times, through the gateway.

Reads cases and the model list; writes a run, answers (which runs share), the ledger and `costs.csv`. A stored answer is
never paid for twice. Failures of a provider or budget are not stored, and the same command asks again.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core import console
from pipeline.core.progress import Progress
from pipeline.core.records import PAGES
from pipeline.core.store import Store, Unit, digest, write_bytes, write_records
from pipeline.core.work import Event, Interrupts, Settled, Tell, each
from pipeline.llm.asking import unanswered
from pipeline.llm.chat import OWN, Message, connect, say
from pipeline.llm.costs import write_costs
from pipeline.llm.experiment import Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.ledger import BUDGET_EXCEEDED
from pipeline.llm.models import Model, load_models
from pipeline.llm.opening import open_gateway
from pipeline.pages.answers import page_of
from pipeline.pages.cases import Case
from pipeline.pages.records import PageAnswer, Usage
from pipeline.pages.runs import Asked, Run, kept_answer, open_run

#: the agent's name in the ledger: the prompt alone
AGENT = "page"
#: the file of an unchanged answer
REPLY = "reply.txt"


class Written(NamedTuple):
    """The result: an unchanged answer with its metadata, or the cause why there is none."""

    text: str = ""
    finish: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost_usd: str | None = None
    latency_s: float = 0
    cause: str = ""


@dataclass(frozen=True)
class Write:
    """The request: one prompt to one model. `key` names the answer, `secret` is a key of the gateway at `base_url`."""

    name: str
    key: tuple[str, str, int]
    base_url: str
    secret: str = field(repr=False)
    model: Model
    messages: tuple[Message, ...]
    parameters: Mapping[str, Any]

    @property
    def affinity(self) -> str:
        return ""

    def perform(self, tell: Tell) -> Written:
        tell(Event(self.name, "asking"))
        started = time.monotonic()
        with connect(self.base_url, self.model.time_limit) as client:
            answer = say(client, self.secret, self.model.name, list(self.messages), **self.parameters)
        latency = round(time.monotonic() - started, 3)
        if answer.usage is None:
            return Written(answer.text, answer.finish, latency_s=latency)
        cost = format(self.model.price.cost(answer.usage), "f")
        return Written(answer.text, answer.finish, answer.usage.tokens_in, answer.usage.tokens_out, cost, latency)

    def failed(self, error: Exception) -> Written:
        """An empty answer if the prompt is too long for the model or refused; with other failures it stays missing."""
        cause = unanswered(error).failure
        return Written(finish=cause) if cause in OWN else Written(cause=cause)


class Generation:
    """One run and its answers. Raises UserError at once for a model that cannot be asked, and for a k above n.

    `budget` is the maximum that each model may spend on these cases with these settings, in USD, including earlier
    spending. `environ` has the environment variables with the providers' keys. `gateway` is one that is already open,
    and stays open.
    """

    def __init__(
        self,
        store: Store,
        case_set: str,
        cases: list[Case],
        asked: Asked,
        *,
        models: Path,
        jobs: int = 4,
        budget: Decimal | None = None,
        run: str = "",
        environ: Mapping[str, str] = os.environ,
        gateway: Gateway | None = None,
    ) -> None:
        self.store, self.models, self.jobs, self.budget, self.environ = store, models, jobs, budget, environ
        model_list = load_models(models)
        self.asked = asked.checked()
        self.entries = {name: model_list.ready(name, environ, "chat") for name in self.asked.models}
        self.case_set, self.cases, self.name, self.gateway = case_set, cases, run, gateway

    def missing(self) -> dict[str, list[Path]]:
        """The folders of the answers that do not exist yet, by model. Writes nothing."""
        run = Run(self.store, self.name, self.case_set, self.asked, tuple(self.cases))
        lacking: dict[str, list[Path]] = {model: [] for model in self.asked.models}
        for key in self._missing(run):
            lacking[key[1]].append(self.unit(run, key).folder)
        return lacking

    def generate(self) -> tuple[Run, dict[tuple[str, str, int], str]]:
        """Ask for the missing answers. Returns the run, and the cause of each answer that is still missing."""
        self.store.begin()
        entries = {name: model.shaping for name, model in self.entries.items()}
        with self.store.lock("pages", self.case_set):
            run = open_run(self.store, self.case_set, self.cases, self.asked, entries, self.name)
        with self.store.lock("pages-run", run.name):
            try:
                with self._asking(run), console.log_file(run.folder / "run.log"):
                    missing = self._missing(run)
                    if self.asked.fresh and not missing:
                        console.say(f"{run.name} has all its answers: give another --run for new ones")
                    with Progress("asking", len(missing)) as progress:
                        causes = self._ask(run, missing, progress) if missing else {}
            finally:  # Ctrl-C ends it with the answers that it has
                self._write(run)
        return run, causes

    @contextmanager
    def _asking(self, run: Run) -> Iterator[None]:
        """Lock the models that lack answers: runs share answers, whatever the names of their cases, so two simultaneous
        runs would both pay for the same answer."""
        with ExitStack() as locks:
            for model in sorted({model for _, model, _ in self._missing(run)}):
                locks.enter_context(self.store.lock("pages-ask", model))
            yield

    def experiment(self, model: str) -> Experiment:
        """The experiment that pays for a model's answers."""
        settings = (self.asked.system, self.asked.temperature, self.asked.max_tokens, self.entries[model].shaping)
        return Experiment(self.case_set, model, AGENT, digest(*settings), PAGES)

    def inputs(self, run: Run, key: tuple[str, str, int]) -> dict[str, str]:
        """Everything that an answer depends on. A fresh answer belongs to its run."""
        case, model, sample = key
        inputs = {
            "model": digest(model, self.entries[model].shaping),
            "prompt": digest(run.by_name[case].prompt),
            "system": digest(self.asked.system),
            "parameters": digest(self.asked.parameters(sample)),
            "sample": str(sample),
        }
        return inputs | ({"fresh": run.name} if self.asked.fresh else {})

    def unit(self, run: Run, key: tuple[str, str, int]) -> Unit:
        return kept_answer(self.store, self.inputs(run, key))

    def _missing(self, run: Run) -> list[tuple[str, str, int]]:
        """The answers that do not exist yet; of several cases with the same prompt, the first one's."""
        first: dict[Path, tuple[str, str, int]] = {}
        for key in run.keys:
            if not self._is_kept(run, key):
                first.setdefault(self.unit(run, key).folder, key)
        return list(first.values())

    def _is_kept(self, run: Run, key: tuple[str, str, int]) -> bool:
        return self.unit(run, key).is_done(**self.inputs(run, key))

    def _ask(self, run: Run, missing: list[tuple[str, str, int]], progress: Progress) -> dict[Any, str]:
        causes: dict[Any, str] = {}
        try:
            with self._opened(run, progress) as gateway:
                requests = [self._request(gateway, run, key) for key in missing]
                options: dict[str, Any] = {
                    "jobs": self.jobs,
                    "hear": progress.hear,
                    "admit": partial(self._admit, gateway),
                }
                for request, written in each(requests, interrupts=Interrupts(progress.stopping), **options):
                    if written.cause:
                        causes[request.key] = written.cause
                    else:
                        self._keep(run, request.key, written)
                    progress.finish(request.name, written.cause or written.finish or "answered")
                gateway.settle()
        finally:
            write_costs(self.store)
        return causes

    def _opened(self, run: Run, progress: Progress) -> AbstractContextManager[Gateway]:
        if self.gateway:
            return nullcontext(self.gateway)
        announce, log = partial(progress.step, "gateway"), run.folder / "gateway.log"
        return open_gateway(self.models, self.store.ledger, say=announce, log=log, environ=self.environ)

    def _admit(self, gateway: Gateway, request: Write) -> Write | Settled:
        """Skip a request whose turn comes after the budget was reached."""
        exhausted = gateway.exhausted(self.experiment(request.model.name))
        return Settled(Written(cause=BUDGET_EXCEEDED)) if exhausted else request

    def _request(self, gateway: Gateway, run: Run, key: tuple[str, str, int]) -> Write:
        case, model, sample = key
        messages = (
            {"role": "system", "content": self.asked.system},
            {"role": "user", "content": run.by_name[case].prompt},
        )
        answer = self.unit(run, key).folder.name
        secret = gateway.issue_key(self.experiment(model), case, self.budget, answer)
        name = f"{case} {model} s{sample}"
        parameters = self.asked.parameters(sample)
        return Write(name, key, gateway.base_url, secret, self.entries[model], messages, parameters)

    def _keep(self, run: Run, key: tuple[str, str, int], written: Written) -> None:
        metadata = {name: value for name, value in written._asdict().items() if name not in ("text", "cause")}
        about = {**metadata, "run": run.name}
        self.unit(run, key).keep({REPLY: written.text.encode("utf-8", "replace")}, about, **self.inputs(run, key))

    def _write(self, run: Run) -> None:
        """Write the existing pages and their records."""
        present = [key for key in run.keys if self._is_kept(run, key)]
        write_records(run.folder / "answers.jsonl", [self._answer(run, key) for key in present])

    def _answer(self, run: Run, key: tuple[str, str, int]) -> PageAnswer:
        unit, (case, model, sample) = self.unit(run, key), key
        about, html = unit.result(), page_of((unit.folder / REPLY).read_bytes().decode())
        path = run.html(*key)
        write_bytes(run.folder / path, html.encode())
        return PageAnswer(
            case=case,
            model=model,
            sample=sample,
            html=str(path),
            digest=digest(html),
            seed=self.asked.parameters(sample).get("seed"),
            temperature=self.asked.temperature,
            usage=Usage(**{name: about[name] for name in Usage.model_fields}),
            latency_s=about["latency_s"],
            cached=about["run"] != run.name,
            finish=about["finish"],
        )


def count_causes(causes: Mapping[Any, str]) -> str:
    """The causes of missing answers in words, each with its number."""
    return ", ".join(f"{count} {cause}" for cause, count in sorted(Counter(causes.values()).items()))
