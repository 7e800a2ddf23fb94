"""Running a campaign: datasets, answers, verdicts, assessments, pages, the report.

Every step is the same as in the stage's own command, so finished work is skipped, and the same command resumes an
interrupted campaign. One gateway serves all experiments. A failed experiment does not stop the others; failures are
listed at the end.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.campaign.file import (
    Agent,
    Campaign,
    Dataset,
    Pages,
    at,
    count_listed,
    load_campaign,
    repo_of,
    selecting,
    subset_of,
)
from pipeline.campaign.lists import differing
from pipeline.campaign.plan import History, Step
from pipeline.campaign.steps import evaluate_and_say, say_stage
from pipeline.core.cache import cache_root
from pipeline.core.console import say
from pipeline.core.dataset import read_dataset
from pipeline.core.errors import A11yBenchError, UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.options import REFERENCES
from pipeline.core.retry import Patience
from pipeline.core.store import Store
from pipeline.core.subset import ALL, Subset
from pipeline.llm.costs import committed, spent_by
from pipeline.llm.experiment import Experiment
from pipeline.llm.gateway import Gateway
from pipeline.llm.models import SHIPPED, Model, ModelList, load_models
from pipeline.llm.opening import open_gateway
from pipeline.predict.agents import load_agent
from pipeline.predict.host import checked
from pipeline.predict.run import Wanted, view
from pipeline.predict.stage import Predictor
from pipeline.sandbox import SANDBOXES, open_sandbox
from pipeline.sandbox.base import Limits, Sandbox

if TYPE_CHECKING:
    from pipeline.pages.generate import Generation

log = logging.getLogger(__name__)


@dataclass
class Conduct:
    """A campaign on a data directory. Every model that an agent or a set of cases names is checked before the first
    paid request; raises UserError at once for one that cannot be asked. `opened` is a sandbox for tests that is already
    open. `only_plans` does not need the models' variables; `lacking` names those that are missing."""

    store: Store
    path: Path
    trust_local: bool = False
    opened: Sandbox | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    only_plans: bool = False

    def __post_init__(self) -> None:
        self.failed: list[str] = []
        self._fitting: dict[Path, bool] = {}
        self.models = self.campaign.model_list or SHIPPED
        listed, self._set = load_models(self.models), self.environ
        if self.only_plans:
            unset = [name for model in listed.models.values() for name in model.missing(self.environ)]
            self.environ = {**self.environ, **dict.fromkeys(unset, "unset")}
        self._check(listed)

    def _check(self, listed: ModelList) -> None:
        """Raise UserError, with the place in the file, for an unknown sandbox or agent, and for a model that cannot be
        asked."""
        campaign = self.campaign
        if campaign.sandbox not in SANDBOXES:
            with at(self.path, "sandbox"):
                raise unknown("sandbox", campaign.sandbox, [name for name in SANDBOXES if name != "scripted"])
        tables: dict[str, tuple[Agent | Pages, ...]] = {"agents": campaign.agents, "pages": campaign.pages}
        for table, parts in tables.items():
            for number, part in enumerate(parts):
                with at(self.path, *((table, number) if part.models else ()), "models"):
                    for name in part.models or campaign.models:
                        listed.ready(name, self.environ, "chat")
        for number, agent in enumerate(campaign.agents):
            with at(self.path, "agents", number, "agent"):
                checked(load_agent(agent.agent, agent.settings))
        if campaign.evaluate.judge:
            with at(self.path, "evaluate", "judge"):
                listed.ready(campaign.evaluate.judge, self.environ, "chat")

    @cached_property
    def campaign(self) -> Campaign:
        return load_campaign(self.path)

    @cached_property
    def repos(self) -> list[tuple[Repo, Dataset]]:
        """The datasets of the file, each with its repository. Raises UserError for one that is listed twice."""
        found: dict[Repo, Dataset] = {}
        for number, dataset in enumerate(self.campaign.datasets):
            repo = self._repo(number, dataset)
            if repo in found:
                with at(self.path, "datasets", number, "lock" if dataset.lock else "repo"):
                    raise UserError(f"{repo} is listed twice", hint="select all its instances in one table")
            found[repo] = dataset
        return list(found.items())

    def _repo(self, number: int, dataset: Dataset) -> Repo:
        with at(self.path, "datasets", number, "lock" if dataset.lock else "repo"):
            return repo_of(dataset)

    @cached_property
    def sandbox(self) -> Sandbox:
        return self.opened or open_sandbox(self.campaign.sandbox, cache_root())

    # -- the work ---------------------------------------------------------------------------------------------------
    def subset(self, repo: Repo, dataset: Dataset) -> Subset:
        """The instances that a dataset of the file selects. Raises UserError with the place in the file."""
        number = self.campaign.datasets.index(dataset)
        with at(self.path, "datasets", number, "repo"):
            built = read_dataset(self.store, repo)
        with at(self.path, "datasets", number, selecting(dataset)):
            subset = subset_of(self.store, dataset, self.path.parent, built)
            subset.of(built)
            return subset

    def predictors(self, gateway: Gateway | None = None) -> Iterator[tuple[Predictor, Agent]]:
        """A predictor per experiment, in the order of the file: repositories, agents, models."""
        for repo, dataset in self.built:
            subset = self.subset(repo, dataset)
            for agent, model in self._asked:
                yield self._predictor(repo, agent, model, subset, gateway), agent

    @property
    def _asked(self) -> list[tuple[Agent, str]]:
        """The agents, each with its models, once."""
        models = self.campaign.models
        return [(agent, model) for agent in self.campaign.agents for model in dict.fromkeys(agent.models or models)]

    def _predictor(self, repo: Repo, agent: Agent, model: str, subset: Subset, gateway: Gateway | None) -> Predictor:
        return Predictor(
            self.store,
            repo,
            agent.agent,
            model,
            models=self.models,
            settings=agent.settings,
            jobs=self.campaign.jobs,
            budget=agent.budget,
            cap=agent.cap,
            environ=self.environ,
            tester=self.sandbox if agent.filter_tests else None,
            name=agent.name,
            subset=subset,
            attempts=agent.attempts or self.campaign.attempts,
            gateway=gateway,
        )

    @property
    def built(self) -> list[tuple[Repo, Dataset]]:
        """The datasets that can be asked: those that are not rebuilt first."""
        unbuilt = self.unbuilt()
        return [(repo, dataset) for repo, dataset in self.repos if repo not in unbuilt]

    def unbuilt(self) -> list[Repo]:
        """Repositories that are not what their list says: they are rebuilt first, and not asked while they differ."""
        return [repo for repo, dataset in self.repos if dataset.lock and not self._fits(repo, dataset.lock)]

    def _fits(self, repo: Repo, lock: Path) -> bool:
        """Whether the dataset is what its list says, as last compared, however its environments were inferred."""
        if lock not in self._fitting:
            self._fitting[lock] = not any(difference.is_telling for difference in differing(self.store, repo, lock))
        return self._fitting[lock]

    def lacking(self) -> dict[str, list[str]]:
        """The needed variables that are not set, each with the models that need it; only for a plan."""
        predictors = [predictor for predictor, _ in self.predictors() if not predictor.reference]
        models = [model for predictor in predictors for model in (predictor.model, *predictor.further)]
        listed = load_models(self.models)
        models += [listed.get(name) for pages in self.campaign.pages for name in pages.models or self.campaign.models]
        models += [listed.get(self.campaign.evaluate.judge)] if self.campaign.evaluate.judge else []
        by_variable: dict[str, list[str]] = {}
        for model in {model.name: model for model in models}.values():
            for name in model.missing(self._set):
                by_variable.setdefault(name, []).append(model.name)
        return by_variable

    def plan(self) -> list[Step]:
        """Existing and missing answers by experiment: of datasets that are built, and of cases of the page track. An
        answer that several share (names of the same settings, sets of cases) counts as missing for the first of
        them."""
        history, answers, shared = History(self.store), set[str](), set[Path]()
        steps = [self._step(predictor, history, answers) for predictor, _ in self.predictors()]
        for generation in [self._generation(pages, None) for pages in self.campaign.pages]:
            missing = {model: set(units) - shared for model, units in generation.missing().items()}
            steps += [self._pages_step(generation, model, len(units), history) for model, units in missing.items()]
            shared.update(*missing.values())
        return steps

    def plan_of_lists(self) -> list[Step]:
        """The same of datasets that are rebuilt first: no answer counts as existing."""
        history, unbuilt = History(self.store), self.unbuilt()
        return [
            self._listed_step(self._predictor(repo, *asked, ALL, None), dataset, number, history)
            for number, (repo, dataset) in enumerate(self.repos)
            if repo in unbuilt
            for asked in self._asked
        ]

    def _listed_step(self, predictor: Predictor, dataset: Dataset, number: int, history: History) -> Step:
        with at(self.path, "datasets", number, selecting(dataset)):
            count = predictor.attempts * count_listed(self.store, dataset, self.path.parent)
        return self._step_of(predictor, count, count, history)

    def _pages_step(self, generation: Generation, model: str, missing: int, history: History) -> Step:
        experiment = generation.experiment(model)
        count = len(generation.cases) * generation.asked.samples
        spent, limit = self._spent(experiment.id), None
        if generation.budget is not None:
            limit = spent + max(Decimal(0), generation.budget - self._committed(experiment.id))
        likely, seconds = self._likely(history, experiment, generation.entries[model], missing)
        names = experiment.repo, experiment.label, model
        return Step(
            *names, count, count - missing, spent, limit, likely, seconds, experiment.track, experiment=experiment.id
        )

    def _likely(
        self, history: History, experiment: Experiment, model: Model, missing: int
    ) -> tuple[Decimal | None, float | None]:
        """The likely USD and seconds of missing answers; None if unknown."""
        if not missing:
            return Decimal(0), 0
        cost, seconds = history.likely(experiment, model)
        return None if cost is None else missing * cost, self._together(missing, seconds)

    def _together(self, count: int, seconds: float | None) -> float | None:
        """The seconds of `count` pieces of work that are done in parallel, from those of one; None if unknown."""
        return None if seconds is None else count * seconds / self.campaign.jobs

    def _step(self, predictor: Predictor, history: History, shared: set[str]) -> Step:
        """The step of an experiment. Its missing answers are added to `shared`, and those in it do not count."""
        wanted = Wanted(predictor.subset, predictor.attempts, chooses=bool(predictor.tester))
        run = view(self.store, predictor.experiment, wanted)
        missing = {run.answer(*attempt) for attempt in run.unanswered()} - shared
        shared.update(missing)
        return self._step_of(predictor, len(run.instances) * run.attempts, len(missing), history)

    def _step_of(self, predictor: Predictor, count: int, missing: int, history: History) -> Step:
        experiment = predictor.experiment
        likely: tuple[Decimal | None, float | None] = (None, None) if missing else (Decimal(0), 0)
        if not predictor.reference:
            likely = self._likely(history, experiment, predictor.model, missing)
        spent, most = self._spent(experiment.id), self._most(predictor, missing)
        limit = None if most is None else spent + most
        names = experiment.repo, experiment.label, experiment.model
        testing = self._together(missing, history.testing(predictor.repo)) if missing else 0
        return Step(*names, count, count - missing, spent, limit, *likely, testing=testing, experiment=experiment.id)

    # -- money ------------------------------------------------------------------------------------------------------
    def _spent(self, *experiments: str) -> Decimal:
        return spent_by(self.store.ledger, experiments)

    def _committed(self, *experiments: str) -> Decimal:
        return committed(self.store.ledger, experiments)

    @cached_property
    def experiments(self) -> list[str]:
        """The experiments that the campaign's budget covers, also those of repositories that are not asked now."""
        predictors = (self._predictor(repo, *asked, ALL, None) for repo, _ in self.repos for asked in self._asked)
        return list(dict.fromkeys(predictor.experiment.id for predictor in predictors))

    @property
    def left(self) -> Decimal | None:
        """What is left of the campaign's budget, in USD; None without one. Requests of unknown cost count with their
        highest possible cost, as they do for the budget of an experiment."""
        if self.campaign.budget is None:
            return None
        return max(Decimal(0), self.campaign.budget - self._committed(*self.experiments))

    def _limit(self, predictor: Predictor) -> Decimal | None:
        """The maximum that an experiment may spend, including earlier spending: its own budget, within what is left
        of the campaign's."""
        left = self.left
        if left is None:
            return predictor.budget
        limit = self._committed(predictor.experiment.id) + left
        return limit if predictor.budget is None else min(limit, predictor.budget)

    def _left(self, predictor: Predictor) -> Decimal | None:
        """What an experiment may still spend, in USD; None without a limit."""
        limit = self._limit(predictor)
        return None if limit is None else max(Decimal(0), limit - self._committed(predictor.experiment.id))

    def _most(self, predictor: Predictor, missing: int) -> Decimal | None:
        """The maximum cost of the missing answers, in USD; None without a limit. Caps do not cover work that several
        answers share, with further models such as those for embeddings."""
        shares = not predictor.reference and any(model.price.input for model in predictor.further)
        caps = None if predictor.cap is None or shares else missing * predictor.cap
        return min((bound for bound in (self._left(predictor), caps) if bound is not None), default=None)

    def money(self) -> str:
        spent = self._spent(*self.experiments)
        limit = f" of {self.campaign.budget:f}" if self.campaign.budget is not None else ""
        return f"spent {spent:.4f}{limit} USD"

    # -- the stages -------------------------------------------------------------------------------------------------
    def conduct(self) -> list[str]:
        """Do everything that is missing; returns the failures, one line each."""
        for repo, dataset in self.repos:
            if dataset.lock:
                with self._recorded(f"{repo}: {dataset.lock.name}"):
                    self._rebuild(repo, dataset, dataset.lock)
        with self._gateway() as gateway:
            steps = list(self.predictors(gateway))
            if self.campaign.references:
                for repo, dataset in self.built:
                    self._references(repo, self.subset(repo, dataset))
            for number, (predictor, _) in enumerate(steps, 1):
                self._experiment(predictor, f"{number} of {len(steps)}")
            pages = [self._generate(self._generation(case_set, gateway)) for case_set in self.campaign.pages]
        for run in filter(None, pages):
            with self._recorded(f"pages {run.name}"):
                self._pages(run)
        return self.failed

    @contextmanager
    def _recorded(self, title: str) -> Iterator[None]:
        """Record a failure in this block without stopping the other steps, whatever it is."""
        try:
            yield
        except A11yBenchError as error:
            self._fail(title, str(error))
        except Exception as error:
            log.exception("unexpected failure of %s", title)
            self._fail(title, f"{type(error).__name__}: {error}")

    def _fail(self, title: str, why: str) -> None:
        self.failed.append(f"{title}: {why}")
        say(f"FAILED {title}: {why}")

    @contextmanager
    def _gateway(self) -> Iterator[Gateway | None]:
        """The common gateway, opened only if something is asked."""
        if not self._asks():
            yield None
            return
        log, say_it = self.store.root / "03_predictions" / "gateway.log", lambda text: say(f"gateway: {text}")
        how: dict[str, Any] = {"responses": self.store.responses, "environ": self.environ, "log": log, "say": say_it}
        self.store.begin()
        with open_gateway(self.models, self.store.ledger, **how) as gateway:
            yield gateway

    def _asks(self) -> bool:
        return any(step.asked for step in self.plan())

    def _rebuild(self, repo: Repo, dataset: Dataset, lock: Path) -> None:
        """Rebuild the dataset of a list if it differs. Raises A11yBenchError if it still does."""
        from pipeline.build.qualify import Settings
        from pipeline.dataset.rebuild import clone_of, read_list, rebuild, source_of

        say_stage("02 dataset", f"{repo} by its list")
        if self._fits(repo, lock):
            return
        _, entries = read_list(lock)
        clone = dataset.clone or (clone_of(self.store, repo) if dataset.github else None)
        source = source_of(repo, entries, clone, dataset.issues, None, github=dataset.github)
        settings, jobs = Settings(self.sandbox), self.campaign.jobs
        self._fitting.clear()
        found = rebuild(self.store, source, repo, entries, settings, jobs=jobs, trust_local=self.trust_local)
        if telling := [difference for difference in found if difference.is_telling]:
            message = f"{len(telling)} facts differ from the list, as {telling[0].instance}: {telling[0].fact}"
            raise A11yBenchError(f"{message}; nothing is asked (just dataset-rebuild {dataset.lock} shows all)")

    def _references(self, repo: Repo, subset: Subset) -> None:
        for name in REFERENCES:
            with self._recorded(f"{name} on {repo}"):
                say_stage("03 predict", f"{name} on {repo}")
                Predictor(self.store, repo, name, name, models=self.models, subset=subset).predict()
                self._evaluate(repo, name, name, subset)

    def _experiment(self, predictor: Predictor, position: str) -> None:
        experiment = predictor.experiment
        title = f"{experiment.label} with {experiment.model} on {experiment.repo}"
        with self._recorded(title):
            predictor.budget = self._limit(predictor)
            say_stage("03 predict", f"{title} ({position}; {self.money()})")
            predictor.predict()
            if missing := len(predictor.missing()):
                self.failed.append(f"{title}: {missing} answers are missing")
            self._evaluate(predictor.repo, experiment.label, experiment.model, predictor.subset, predictor.gateway)

    def _evaluate(self, repo: Repo, label: str, model: str, subset: Subset, gateway: Gateway | None = None) -> None:
        settings = self.campaign.evaluate
        limits, patience = Limits(seconds=settings.timeout), Patience(settings.tries)
        how = {"jobs": self.campaign.jobs, "trust_local": self.trust_local}
        evaluate_and_say(
            self.store, repo, label, model, self.sandbox, subset=subset, limits=limits, patience=patience, **how
        )
        if settings.assess is not None and label not in REFERENCES:
            self._assess(repo, label, model, limits, patience, gateway, **how)

    def _assess(
        self,
        repo: Repo,
        label: str,
        model: str,
        limits: Limits,
        patience: Patience,
        gateway: Gateway | None,
        **how: Any,
    ) -> None:
        from pipeline.evaluate.answers import Subject
        from pipeline.evaluate.assess.stage import Extras, assess
        from pipeline.evaluate.runs import How
        from pipeline.llm.panel import Asked

        settings = self.campaign.evaluate
        judge = Asked(settings.judge, settings.judge_samples, settings.judge_budget, self.models, self.environ, gateway)
        parts = settings.assess or ()
        extras = Extras("axe" in parts, "stories" in parts, judge if "judge" in parts else None)
        say_stage("04 assess", f"{label} with {model} on {repo}")
        assess(self.store, Subject(repo, label, model), How(self.sandbox, limits, patience), extras=extras, **how)

    # -- the page track ---------------------------------------------------------------------------------------------
    def _generation(self, pages: Pages, gateway: Gateway | None) -> Generation:
        """The answers that a set of cases asks for. Raises UserError."""
        from pipeline.pages.cases import OWN, load_cases, set_name
        from pipeline.pages.generate import Generation
        from pipeline.pages.runs import Asked

        folder = pages.cases or OWN
        cases = load_cases(folder, pages.case)
        models = pages.models or self.campaign.models
        asked = Asked(
            models, pages.samples, pages.k, pages.seed, temperature=pages.temperature, max_tokens=pages.max_tokens
        )
        how: dict[str, Any] = {
            "models": self.models,
            "run": pages.run,
            "jobs": self.campaign.jobs,
            "budget": pages.budget,
            "environ": self.environ,
            "gateway": gateway,
        }
        return Generation(self.store, set_name(folder, cases), cases, asked, **how)

    def _generate(self, generation: Generation) -> Any:
        """The run of a set of cases, with the answers that exist; None if it failed."""
        from pipeline.pages.generate import count_causes

        name = generation.case_set
        say_stage("pages", f"{name}: {', '.join(generation.asked.models)}")
        with self._recorded(f"pages {name}"):
            run, causes = generation.generate()
            if causes:
                self.failed.append(f"pages {name}: answers are missing: {count_causes(causes)}")
            return run
        return None

    def _pages(self, run: Any) -> None:
        from pipeline.pages.evaluating import Evaluation
        from pipeline.pages.report import write

        say_stage("pages", f"{run.name}: verdicts")
        evaluation = Evaluation(run, jobs=self.campaign.jobs)
        say(f"report: {write(evaluation, evaluation.evaluate())}")


def described(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """A plan as plain data; amounts are strings of digits."""
    return [
        {name: str(value) if isinstance(value, Decimal) else value for name, value in step._asdict().items()}
        | {"asked": step.asked, "worst": None if step.worst is None else str(step.worst)}
        for step in steps
    ]
