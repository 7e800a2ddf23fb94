"""The three steps of a prediction: preprocess (tasks), runtime (the agent), postprocess (predictions and costs).

Each can be called on its own; `predict` runs all three. An interrupted step resumes. `predict` asks only for the
selected instances and attempts, whatever else the run shows. With a sandbox for it, the base's tests choose among an
agent's proposals at the end of the runtime step (regression.py).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.cache import cache_root
from pipeline.core.console import log_file
from pipeline.core.dataset import read_dataset
from pipeline.core.errors import UserError
from pipeline.core.git import Clone, require_commit
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Instance, Prediction
from pipeline.core.retry import patiently
from pipeline.core.store import Store, digest, write_json, write_records
from pipeline.core.subset import ALL, Subset
from pipeline.core.work import Interrupts, Settled, each
from pipeline.execution.images import source
from pipeline.llm.chat import connect
from pipeline.llm.experiment import SHARED, Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.ledger import BUDGET_EXCEEDED, CAP_LOST, CAP_REACHED, key_hash
from pipeline.llm.models import DEMO, Model, ModelList, load_models
from pipeline.llm.opening import open_gateway
from pipeline.llm.preflight import CONFIGURATION, refusal, unusable
from pipeline.predict import encodings, host, regression
from pipeline.predict.agents import Agent, load_agent
from pipeline.predict.pictures import pictures
from pipeline.predict.references import REFERENCES, answer
from pipeline.predict.request import EX_TEMPFAIL, AgentResult, Answer, Ask, Failure, Room
from pipeline.predict.run import Attempt, Run, Wanted, open_run, record_served, resume
from pipeline.predict.runtime import finish, save, why_unanswered
from pipeline.sandbox import open_sandbox
from pipeline.sandbox.base import Sandbox
from pipeline.sandbox.handle import handle
from pipeline.sandbox.images import Directory, Kit
from pipeline.sandbox.watch import Watch

#: the sandbox of agents that run code
AGENTS_WORK_IN = "docker"
#: the cause of a missing answer if the gateway has stopped
GATEWAY_GONE = "gateway_gone"
#: the cause of a missing prediction if its proposals were not tested yet
NOT_CHOSEN = "not_chosen"
#: the beginning of the causes of requests that the provider did not accept
REJECTED = "provider_4"


class Rooms(NamedTuple):
    """The sandbox in which an agent that runs code works, and what its tools are made of."""

    sandbox: Sandbox
    kit: Kit


class Predictor:
    """One experiment and its three steps. Raises UserError at once for an unknown agent, model or settings file.

    `budget` is the most that the experiment may ever spend, in USD, including earlier spending; `cap` is the most that
    one answer may cost. `environ` are the environment variables with the providers' keys, `tester` is the sandbox in
    which existing tests choose among proposals, if they should, and `name` is the name of these settings. A `gateway`
    that is already open is used and stays open.
    """

    def __init__(
        self,
        store: Store,
        repo: Repo,
        agent: str,
        model: str,
        *,
        models: Path,
        settings: Path | None = None,
        jobs: int = 2,
        budget: Decimal | None = None,
        cap: Decimal | None = None,
        environ: Mapping[str, str] = os.environ,
        tester: Sandbox | None = None,
        engine: str = "threads",
        name: str = "",
        subset: Subset = ALL,
        attempts: int = 1,
        gateway: Gateway | None = None,
    ) -> None:
        self.store, self.models, self.jobs, self.budget, self.environ = store, models, jobs, budget, environ
        self.tester, self.engine, self.gateway = tester, engine, gateway
        self.subset, self.attempts, self.cap = subset, attempts, cap
        #: what the live view says of the money of all experiments
        self.money: Callable[[], str] | None = None
        self.reference = agent in REFERENCES
        self._agent = None if self.reference else host.checked(load_agent(agent, settings))
        self._model = None if self.reference else self._ready(model)
        self.repo, self.experiment = repo, Experiment(str(repo), model, agent, self._settings(), name=name)

    @property
    def agent(self) -> Agent:
        """The agent. Raises ValueError for a reference, which is not an agent."""
        if self._agent is None:
            raise ValueError("a reference is not an agent")
        return self._agent

    @property
    def model(self) -> Model:
        """The model. Raises ValueError for a reference, which asks no model."""
        if self._model is None:
            raise ValueError("a reference asks no model")
        return self._model

    @cached_property
    def _version(self) -> str:
        """The digest of the agent's own files."""
        return self.agent.digest

    @cached_property
    def _indexer(self) -> str:
        """The digest of everything that makes the results which the runs of a repository share: the agent's own files
        and its further models."""
        return digest(self._version, *(model.shaping for model in self.further))

    def _ready(self, name: str) -> Model:
        """The model, once it and all further models of the agent's settings are known to be usable: a key opens no
        further model except for embeddings. Raises UserError."""
        listed = load_models(self.models)
        model = listed.ready(name, self.environ, "chat")
        self.further = [self._named(listed, other) for other in self.agent.further(name)]
        return model

    def _named(self, listed: ModelList, name: str) -> Model:
        """A further model that the settings name."""
        try:
            return listed.ready(name, self.environ, "embedding")
        except UserError as error:
            message = f"the agent's settings name it: {error.message}"
            hint = f"{error.hint or ''}; or name another model in [retrieval.model]".removeprefix("; ")
            raise UserError(message, path=self.agent.settings, hint=hint) from None

    def _settings(self) -> str:
        """A digest of the agent, its settings, and the part of the models' entries that shapes answers; references have
        none."""
        if self.reference:
            return ""
        shaping = [model.shaping for model in (self.model, *self.further)]
        return digest(self._version, self.agent.settings_digest, *shaping)

    def _about(self) -> dict[str, Any]:
        """Further information on a run for people: the settings, versions and the models' entries, without secrets."""
        if self.reference:
            return {}
        text = self.agent.settings.read_text(encoding="utf-8", errors="replace")
        return {
            "version": self.agent.version,
            "agent_digest": self._version,
            "settings_text": text,
            **({"settings": self.agent.effect} if self.agent.effect else {}),
            "model": self.model.entry,
            "further_models": [model.entry for model in self.further],
        }

    @property
    def trusted(self) -> bool:
        """Whether the patches were written neither by a model nor by untrusted code. Of scripted models, only the
        demo's are trusted."""
        if self.reference:
            return True
        return self.model.scripted and self.models == DEMO and not self.agent.runs_code

    def predict(self, *, fresh: bool = False) -> list[Prediction]:
        """Run all three steps for what is selected."""
        self.preprocess(fresh=fresh)
        self.runtime(attempts=self.attempts)
        return self.postprocess()

    def _lock(self) -> AbstractContextManager[None]:
        return self.store.lock("predict", self.repo, self.experiment.agent, self.experiment.model)

    def preprocess(self, *, fresh: bool = False) -> Run:
        """Open the run (or resume it) and write the tasks: what the agent may see, and nothing else."""
        read_dataset(self.store, self.repo)
        wanted = Wanted(self.subset, self.attempts, fresh, bool(self.tester), self._about())
        with self._lock():
            run = open_run(self.store, self.experiment, wanted)
            write_records(run.folder / "tasks.jsonl", [instance.task() for instance in run.instances])
            return run

    def runtime(self, *, attempts: int | None = None) -> None:
        """Let the agent answer the selected tasks that have no answer yet, up to this number of attempts; by default,
        all attempts of the run."""
        run = self.resume()
        with self._lock():
            wanted = self.selected(run, attempts)
            missing = [attempt for attempt in wanted if not run.is_answered(*attempt)]
            with log_file(run.folder / "run.log"), Progress("predicting", len(missing)) as progress:
                if self.reference:
                    self._answer(run, missing, progress)
                elif missing:
                    self._ask(run, missing, progress)
            if self.tester:
                self._choose(run, wanted, self.tester)

    def selected(self, run: Run, attempts: int | None = None) -> list[Attempt]:
        """The selected attempts of those that a run shows: all first ones, then all second ones."""
        chosen = {instance.instance_id for instance in self.subset.of(read_dataset(self.store, self.repo))}
        instances = [instance for instance in run.instances if instance.instance_id in chosen]
        last = run.attempts if attempts is None else attempts
        return [(instance, attempt) for attempt in range(1, last + 1) for instance in instances]

    def missing(self) -> list[Attempt]:
        """The selected attempts without an answer."""
        run = self.resume()
        return [attempt for attempt in self.selected(run, self.attempts) if not run.is_answered(*attempt)]

    def resume(self) -> Run:
        """The existing run. Raises UserError if there is none."""
        return resume(self.store, self.experiment, chooses=bool(self.tester))

    def _answer(self, run: Run, missing: list[Attempt], progress: Progress) -> None:
        for instance, attempt in missing:
            patch, outcome = answer(self.experiment.agent, instance)
            finish(run, instance, Answer(patch, outcome), attempt)
            progress.finish(instance.instance_id, outcome)

    def _ask(self, run: Run, missing: list[Attempt], progress: Progress) -> None:
        say = self._say(progress)
        clone = source(self.store, self.repo)
        for instance, _ in missing:
            require_commit(clone, instance.base.sha)
        encodings.tables(self.agent, self.experiment.model)  # downloaded before the first paid request
        rooms = self.rooms(say) if self.agent.runs_code else None
        with self._opened(run, say) as gateway:
            shared = gateway.issue_key(self.experiment, SHARED, self.budget)
            self._try_further(gateway, shared)
            requests = [
                replace(self.request(gateway, run, instance, clone, rooms, attempt), shared_key=shared)
                for instance, attempt in missing
            ]
            self.ask(gateway, run, requests, progress)
            if self.gateway:
                gateway.settle(self.experiment)

    def _opened(self, run: Run, say: Callable[[str], None]) -> AbstractContextManager[Gateway]:
        if self.gateway:
            return nullcontext(self.gateway)
        return open_gateway(
            self.models,
            self.store.ledger,
            say=say,
            log=run.folder / "gateway.log",
            responses=self.store.responses,
            environ=self.environ,
        )

    def _try_further(self, gateway: Gateway, key: str) -> None:
        """Ask each further model once, before anything is paid for. Raises UserError for a wrong key or name."""
        with connect(gateway.base_url) as connection:
            for model in self.further:
                if why := refusal(connection, key, model.name):
                    raise UserError(unusable(model.name, why), hint=self._remedy)

    @property
    def _remedy(self) -> str:
        return f"check its key and its name in {self.models}, and run the same command again"

    def ask(self, gateway: Gateway, run: Run, requests: Sequence[Ask], progress: Progress) -> None:
        """Ask for each task and write the result. Once the budget is reached, no further task is begun. Raises
        UserError, also without asking further, once an agent on this machine finds its input unusable, or once a
        model cannot be asked because of its key or its name."""
        instances, refused = {instance.instance_id: instance for instance in run.instances}, list[Failure]()
        room = next((request.room for request in requests if request.room), None)
        watch = Watch(room.sandbox.sandbox() if room else None)

        def admit(request: Ask) -> Ask | Settled:
            if refused:
                return Settled(AgentResult(failure=refused[0], begun=False))
            if gateway.exhausted(self.experiment, request.answer):
                failure = Failure(BUDGET_EXCEEDED, "the budget was reached before this task was begun")
                return Settled(AgentResult(failure=failure, begun=False))
            admitted = watch.admit(request)
            return Settled(replace(admitted.result, begun=False)) if isinstance(admitted, Settled) else admitted

        def abort() -> None:
            host.abort()
            for request in requests:
                if request.room:
                    request.room.sandbox.sandbox().abort()

        interrupts = Interrupts(progress.stopping, abort)
        how: dict[str, Any] = {"jobs": self.jobs, "engine": self.engine, "admit": admit, "interrupts": interrupts}
        for request, result in each(requests, hear=progress.hear, **how):
            watch.heed(result.failure.cause if result.failure else "")
            given_up = self._given_up(gateway, request, result)
            instance = instances[request.task.instance_id]
            text = save(run, instance, result, given_up, request.attempt, believed=request.room is None)
            if shared := self._shared_by_all(gateway, request, result, given_up):
                refused.append(shared)
            progress.note("spent", f"{gateway.ledger.spend(self.experiment.id):.4f} USD")
            if self.money:
                progress.note("campaign", self.money())
            progress.finish(request.name, text)
        if refused:
            is_model = refused[0].cause == CONFIGURATION
            hint = self._remedy if is_model else "correct it, and run the same command again: docs/agents.md"
            raise UserError(refused[0].message, hint=hint)

    def _shared_by_all(self, gateway: Gateway, request: Ask, result: AgentResult, given_up: str) -> Failure | None:
        """The failure of a task that was begun, if all others would have it, too. An agent on this machine is trusted
        to say that its input or the configuration is to blame; of any other, only what the ledger says counts."""
        believed = request.room is None
        if believed and result.refusal:
            return result.refusal
        answer = result.answer(given_up, believed=believed) if result.begun else None
        if not isinstance(answer, Failure) or not answer.cause.startswith((CONFIGURATION, REJECTED)):
            return None
        keys = [key for key in (request.key, request.shared_key) if key]
        model = gateway.denied(self.experiment, *keys, is_certain=believed)
        return Failure(CONFIGURATION, unusable(model, answer.message)) if model else None

    def _given_up(self, gateway: Gateway, request: Ask, result: AgentResult) -> str:
        """Why an agent was left without an answer, according to the ledger and the gateway. An agent on this machine is
        trusted to report what its provider did, but does not know the cap."""
        if request.room is None:
            refusal = gateway.ledger.refusal(key_hash(request.key))
            return refusal if refusal in (CAP_REACHED, CAP_LOST) else ""
        cause = gateway.given_up(self.experiment, request.key)
        return cause or (GATEWAY_GONE if result.code == EX_TEMPFAIL and not gateway.is_up() else "")

    def _choose(self, run: Run, wanted: Sequence[Attempt], tester: Sandbox) -> None:
        clone = source(self.store, self.repo)
        requests = [
            regression.request(tester, clone, run, instance, attempt=attempt)
            for instance, attempt in wanted
            if regression.is_missing(run, instance, attempt)
        ]
        with log_file(run.folder / "run.log"), Progress("choosing", len(requests)) as progress:
            interrupts = Interrupts(progress.stopping, tester.abort)
            regression.choose(run, requests, progress, self.jobs, interrupts, self.engine)

    def request(
        self,
        gateway: Gateway,
        run: Run,
        instance: Instance,
        clone: Clone,
        rooms: Rooms | None = None,
        attempt: int = 1,
    ) -> Ask:
        """The request for one task, with its own key. Agents that run code are untrusted and may mistake a failure of
        the provider for their own end: for these, the ledger decides."""
        name = run.answer(instance, attempt)
        key = gateway.issue_key(self.experiment, instance.instance_id, self.budget, answer=name, cap_usd=self.cap)
        room = rooms and Room(handle(rooms.sandbox), rooms.kit, instance.environment, instance.manifests)
        task = instance.task()
        shown_pictures = pictures(self.store, task) if self.model.sees else {}
        return Ask(
            agent=self.agent,
            model=self.experiment.model,
            task=task if shown_pictures else task.model_copy(update={"pictures": ()}),
            pictures=shown_pictures,
            base=instance.base.sha,
            clone=str(clone.place),
            base_url=gateway.base_url,
            key=key,
            cache=str(run.cache(self.store, self._indexer, run.asked_by(instance, attempt))),
            room=room,
            attempt=attempt,
            contexts={model.name: model.context for model in (self.model, *self.further) if model.context},
            choices=gateway.choices(self.model),
            answer=name,
            settings=self.agent.settings.read_bytes(),
            version=self._version,
        )

    def rooms(self, say: Callable[[str], None]) -> Rooms:
        """Where agents that run code work; their tools are made here first. Raises UserError if there is no engine, or
        the agent's install fails."""
        sandbox = open_sandbox(AGENTS_WORK_IN, cache_root())
        sandbox.images.serve(Directory.here(self.store.root))
        kit = Kit(self.agent.folder, self._version, self.agent.call.install)
        patiently(lambda: sandbox.images.tools(kit, say), say)
        return Rooms(sandbox, kit)

    @staticmethod
    def _say(progress: Progress) -> Callable[[str], None]:
        return lambda text: progress.step("gateway", text)

    def postprocess(self) -> list[Prediction]:
        """Collect the answers into `predictions.jsonl`, count outcomes, derive the costs. Return the predictions of the
        first attempts."""
        from pipeline.llm.costs import served, write_costs

        run = self.resume()
        with self._lock():
            first_attempts, *_ = [self._collect(run, attempt) for attempt in range(1, run.attempts + 1)]
            record_served(run, served(self.store.ledger, self.experiment.id, run.names()))
            write_costs(self.store)
            return first_attempts

    def _collect(self, run: Run, attempt: int) -> list[Prediction]:
        unanswered = {instance.instance_id: why_unanswered(run, instance, attempt) for instance in run.missing(attempt)}
        if self.tester:
            unanswered |= {instance.instance_id: NOT_CHOSEN for instance in regression.missing(run, attempt)}
        answered = (instance for instance in run.instances if instance.instance_id not in unanswered)
        predictions = [self._prediction(run, instance, attempt) for instance in answered]
        outcomes = Counter(prediction.outcome for prediction in predictions)
        names = {
            instance.instance_id: run.answer(instance, attempt)
            for instance in run.instances
            if instance.instance_id in unanswered
        }
        about = {"outcomes": outcomes, "unanswered": unanswered, "answers": names}
        write_json(run.view(attempt) / "metadata.json", about)
        write_records(run.view(attempt) / "predictions.jsonl", predictions)
        return predictions

    def _prediction(self, run: Run, instance: Instance, attempt: int) -> Prediction:
        result = run.unit(instance, attempt).result()
        chosen = regression.chosen(run, instance, attempt).result() if self.tester else result
        return Prediction(
            instance_id=instance.instance_id,
            model_name_or_path=self.experiment.model,
            model_patch=chosen["patch"],
            agent=self.experiment.label,
            run=run.name,
            outcome=result["outcome"],
            answer=run.answer(instance, attempt),
            attempt=attempt,
            trusted=self.trusted,
        )
