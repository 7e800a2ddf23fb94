"""The three steps of a prediction: preprocess (tasks), runtime (the agent), postprocess (predictions and costs).

Each can be called on its own; `predict` runs all three. An interrupted step resumes. With a sandbox for it, the runtime
step ends with the base's tests choosing among an agent's proposals (regression.py).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.cache import cache_root
from pipeline.core.console import log_file
from pipeline.core.dataset import read_dataset
from pipeline.core.git import Clone, require_commit
from pipeline.core.names import Repo
from pipeline.core.progress import Progress
from pipeline.core.records import Instance, Prediction
from pipeline.core.retry import patiently
from pipeline.core.store import Store, digest, write_json, write_records
from pipeline.core.subset import ALL, Subset
from pipeline.core.work import Interrupts, Settled, each
from pipeline.execution.images import source
from pipeline.llm.experiment import SHARED, Experiment
from pipeline.llm.gateway import BUDGET_EXCEEDED, Gateway
from pipeline.llm.models import DEMO, Model, load_models
from pipeline.llm.opening import open_gateway
from pipeline.predict import encodings, host, regression
from pipeline.predict.agents import Agent, load_agent
from pipeline.predict.pictures import pictures
from pipeline.predict.references import REFERENCES, answer
from pipeline.predict.request import EX_TEMPFAIL, Answer, Ask, Failure, Left, Room
from pipeline.predict.run import Owed, Run, Wanted, open_run, resume, tell
from pipeline.predict.runtime import finish, save, why_unanswered
from pipeline.sandbox import open_sandbox
from pipeline.sandbox.base import Sandbox
from pipeline.sandbox.handle import handle
from pipeline.sandbox.images import Directory, Kit

#: the sandbox of agents that run code
AGENTS_WORK_IN = "docker"
#: why an agent had no answer whose gateway is no more
GATEWAY_GONE = "gateway_gone"
#: why an instance has no prediction whose proposals wait for their tests
NOT_CHOSEN = "not_chosen"


class Rooms(NamedTuple):
    """Where agents that run code work, and this agent's tools there."""

    sandbox: Sandbox
    tools: Path


class Predictor:
    """One experiment and its three steps. Raises UserError at once for an unknown agent, model or settings file.

    `budget` is the most that the experiment may spend, in USD, with all that it spent before, `cap` the most that one
    answer may cost; `given` is the environment in which the providers' keys are; `tester` is where existing tests
    choose among proposals, if any do; `name` is what people call these settings; `gateway` one that is open already,
    which stays so.
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
        given: Mapping[str, str] = os.environ,
        tester: Sandbox | None = None,
        engine: str = "threads",
        name: str = "",
        subset: Subset = ALL,
        attempts: int = 1,
        gateway: Gateway | None = None,
    ) -> None:
        self.store, self.models, self.jobs, self.budget, self.given = store, models, jobs, budget, given
        self.tester, self.engine, self.gateway = tester, engine, gateway
        self.subset, self.attempts, self.cap = subset, attempts, cap
        self.reference = agent in REFERENCES
        self._agent = None if self.reference else load_agent(agent, settings)
        self._model = None if self.reference else self._ready(model)
        self.repo, self.experiment = repo, Experiment(str(repo), model, agent, self._settings(), name=name)

    @property
    def agent(self) -> Agent:
        """The agent. Raises ValueError for a reference, which is none."""
        if self._agent is None:
            raise ValueError("a reference is no agent")
        return self._agent

    @property
    def model(self) -> Model:
        """The model. Raises ValueError for a reference, which asks none."""
        if self._model is None:
            raise ValueError("a reference asks no model")
        return self._model

    def _ready(self, name: str) -> Model:
        """The model, when it and all others that the agent's settings name can be asked. Raises UserError."""
        listed = load_models(self.models)
        model = listed.ready(name, self.given, "chat")
        self.further = [listed.ready(one, self.given) for one in self.agent.further(name)]
        return model

    def _settings(self) -> str:
        """A digest of the agent, its settings and what of the model's entry shapes answers; references have none."""
        if self.reference:
            return ""
        shaping = [one.shaping for one in (self.model, *self.further)]
        return digest(self.agent.digest, self.agent.settings_digest, *shaping)

    def _about(self) -> dict[str, Any]:
        """What people want to know of a run: the settings as they were, versions, the model's entry. No secret."""
        if self.reference:
            return {}
        text = self.agent.settings.read_text(encoding="utf-8", errors="replace")
        return {
            "version": self.agent.version,
            "agent_digest": self.agent.digest,
            "settings_text": text,
            "model": self.model.entry,
        }

    @property
    def trusted(self) -> bool:
        """Whether no model and no code that ran wrote the patches; of scripted models only the demo's are believed."""
        if self.reference:
            return True
        return self.model.scripted and self.models == DEMO and not self.agent.runs_code

    def predict(self, *, fresh: bool = False) -> list[Prediction]:
        """All three steps."""
        self.preprocess(fresh=fresh)
        self.runtime()
        return self.postprocess()

    def _lock(self) -> AbstractContextManager[None]:
        return self.store.lock("predict", self.repo, self.experiment.agent, self.experiment.model)

    def preprocess(self, *, fresh: bool = False) -> Run:
        """Open the run (or resume it) and write the tasks: what the agent may see, and nothing else."""
        read_dataset(self.store, self.repo)
        wanted = Wanted(self.subset, self.attempts, fresh, bool(self.tester), self._about())
        with self._lock():
            run = open_run(self.store, self.experiment, wanted)
            write_records(run.folder / "tasks.jsonl", [one.task() for one in run.instances])
            return run

    def runtime(self) -> None:
        """Let the agent answer every task that has no answer yet."""
        run = self.resume()
        with self._lock():
            missing = run.owed()
            with log_file(run.folder / "run.log"), Progress("predicting", len(missing)) as progress:
                if self.reference:
                    self._answer(run, missing, progress)
                elif missing:
                    self._ask(run, missing, progress)
            if self.tester:
                self._choose(run, self.tester)

    def resume(self) -> Run:
        """The run that is there. Raises UserError."""
        return resume(self.store, self.experiment, chooses=bool(self.tester))

    def _answer(self, run: Run, missing: list[Owed], progress: Progress) -> None:
        for instance, attempt in missing:
            patch, outcome = answer(self.experiment.agent, instance)
            finish(run, instance, Answer(patch, outcome), attempt)
            progress.finish(instance.instance_id, outcome)

    def _ask(self, run: Run, missing: list[Owed], progress: Progress) -> None:
        say = self._say(progress)
        clone = source(self.store, self.repo)
        for one, _ in missing:
            require_commit(clone, one.base.sha)
        encodings.tables(self.agent, self.experiment.model)  # downloaded before the first paid request
        rooms = self.rooms(say) if self.agent.runs_code else None
        with self._opened(run, say) as gateway:
            shared = gateway.issue_key(self.experiment, SHARED, self.budget)
            requests = [
                replace(self.request(gateway, run, one, clone, rooms, attempt), shared_key=shared)
                for one, attempt in missing
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
            given=self.given,
        )

    def ask(self, gateway: Gateway, run: Run, requests: Sequence[Ask], progress: Progress) -> None:
        """Ask, and write what comes of each task. One that begins when the budget is reached is not asked."""
        instances = {one.instance_id: one for one in run.instances}

        def admit(request: Ask) -> Ask | Settled:
            if gateway.exhausted(self.experiment):
                why = Failure(BUDGET_EXCEEDED, "the budget was reached before this task was begun")
                return Settled(Left(failure=why))
            return request

        def abort() -> None:
            host.abort()
            for request in requests:
                if request.room:
                    request.room.sandbox.sandbox().abort()

        interrupts = Interrupts(progress.stopping, abort)
        how: dict[str, Any] = {"jobs": self.jobs, "engine": self.engine, "admit": admit, "interrupts": interrupts}
        for request, left in each(requests, hear=progress.hear, **how):
            given_up = self._given_up(gateway, request, left) if request.room else ""
            believed = request.room is None
            instance = instances[request.task.instance_id]
            text = save(run, instance, left, given_up, request.attempt, believed=believed)
            progress.note("spent", f"{gateway.ledger.spend(self.experiment.id):.4f} USD")
            progress.finish(request.name, text)

    def _given_up(self, gateway: Gateway, request: Ask, left: Left) -> str:
        """Why an agent in a container was left without an answer, as the ledger and the gateway themselves say it."""
        told = gateway.given_up(self.experiment, request.key)
        return told or (GATEWAY_GONE if left.code == EX_TEMPFAIL and not gateway.is_up() else "")

    def _choose(self, run: Run, tester: Sandbox) -> None:
        clone = source(self.store, self.repo)
        requests = [
            regression.request(tester, clone, run, one, attempt=attempt)
            for attempt in range(1, run.attempts + 1)
            for one in regression.missing(run, attempt)
        ]
        with log_file(run.folder / "run.log"), Progress("choosing", len(requests)) as progress:
            regression.choose(run, requests, progress, self.jobs, Interrupts(progress.stopping, tester.abort))

    def request(
        self,
        gateway: Gateway,
        run: Run,
        instance: Instance,
        clone: Clone,
        rooms: Rooms | None = None,
        attempt: int = 1,
    ) -> Ask:
        """One task, with a key of its own. Agents that run code are anybody's, and may take a provider's failure for
        their end: of these the ledger tells."""
        name = run.answer(instance, attempt)
        key = gateway.issue_key(self.experiment, instance.instance_id, self.budget, answer=name, cap_usd=self.cap)
        room = rooms and Room(handle(rooms.sandbox), str(rooms.tools), instance.environment, instance.manifests)
        task = instance.task()
        seen = pictures(self.store, task) if self.model.sees else {}
        return Ask(
            agent=self.agent,
            model=self.experiment.model,
            task=task if seen else task.model_copy(update={"pictures": ()}),
            pictures=seen,
            base=instance.base.sha,
            clone=str(clone.place),
            base_url=gateway.base_url,
            key=key,
            cache=str(run.cache),
            room=room,
            attempt=attempt,
            contexts={one.name: one.context for one in (self.model, *self.further) if one.context},
            choices=gateway.choices(self.model),
            answer=name,
        )

    def rooms(self, say: Callable[[str], None]) -> Rooms:
        """Where agents that run code work. Raises UserError where there is no engine, or the agent's install fails."""
        sandbox = open_sandbox(AGENTS_WORK_IN, cache_root())
        sandbox.images.serve(Directory.here(self.store.root))
        kit = Kit(self.agent.folder, self.agent.digest, self.agent.call.install)
        return Rooms(sandbox, patiently(lambda: sandbox.images.tools(kit, say), say))

    @staticmethod
    def _say(progress: Progress) -> Callable[[str], None]:
        return lambda text: progress.step("gateway", text)

    def postprocess(self) -> list[Prediction]:
        """Collect the answers into `predictions.jsonl`, count how they ended, derive the costs; returns those of the
        first attempts."""
        from pipeline.llm.costs import served, write_costs

        run = self.resume()
        with self._lock():
            first, *_ = [self._collect(run, attempt) for attempt in range(1, run.attempts + 1)]
            tell(run, served(self.store.ledger, self.experiment.id))
            write_costs(self.store)
            return first

    def _collect(self, run: Run, attempt: int) -> list[Prediction]:
        unanswered = {one.instance_id: why_unanswered(run, one, attempt) for one in run.missing(attempt)}
        if self.tester:
            unanswered |= {one.instance_id: NOT_CHOSEN for one in regression.missing(run, attempt)}
        answered = (one for one in run.instances if one.instance_id not in unanswered)
        predictions = [self._prediction(run, one, attempt) for one in answered]
        ends = Counter(one.outcome for one in predictions)
        write_json(run.view(attempt) / "metadata.json", {"outcomes": ends, "unanswered": unanswered})
        write_records(run.view(attempt) / "predictions.jsonl", predictions)
        return predictions

    def _prediction(self, run: Run, instance: Instance, attempt: int) -> Prediction:
        result = run.unit(instance, attempt).result()
        taken = regression.chosen(run, instance, attempt).result() if self.tester else result
        return Prediction(
            instance_id=instance.instance_id,
            model_name_or_path=self.experiment.model,
            model_patch=taken["patch"],
            agent=self.experiment.label,
            run=run.name,
            outcome=result["outcome"],
            answer=run.answer(instance, attempt),
            attempt=attempt,
            trusted=self.trusted,
        )
