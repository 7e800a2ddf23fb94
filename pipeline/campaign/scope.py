"""The scope of a campaign: the experiments that its file asks for, on a data directory, and the money that they have.

Reads the file, the model list, the datasets and the ledger; writes nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.campaign.file import Agent, Campaign, Dataset, Pages, at, load_campaign, repo_of, selecting, subset_of
from pipeline.campaign.lists import differing
from pipeline.core.cache import cache_root
from pipeline.core.dataset import read_dataset
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.store import Store
from pipeline.core.subset import ALL, Subset
from pipeline.llm.costs import committed, experiments_by_name, spent_by
from pipeline.llm.gateway import Gateway
from pipeline.llm.models import SHIPPED, ModelList, load_models
from pipeline.predict.agents import load_agent
from pipeline.predict.host import checked
from pipeline.predict.stage import Predictor
from pipeline.sandbox import offered, open_sandbox
from pipeline.sandbox.base import Sandbox

if TYPE_CHECKING:
    from pipeline.pages.generate import Generation


@dataclass
class Scope:
    """Every model that an agent or a set of cases names is checked at once; raises UserError for one that cannot be
    asked. `opened` is a sandbox for tests that is already open. `only_plans` does not need the models' variables;
    `lacking` names those that are missing."""

    store: Store
    path: Path
    trust_local: bool = False
    opened: Sandbox | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    only_plans: bool = False

    def __post_init__(self) -> None:
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
        if campaign.sandbox not in offered() and not self.opened:
            with at(self.path, "sandbox"):
                raise unknown("sandbox", campaign.sandbox, offered())
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
        """Repositories that do not match their lists: they are rebuilt first, and not asked about while they differ."""
        return [repo for repo, dataset in self.repos if dataset.lock and not self._matches_list(repo, dataset.lock)]

    def _matches_list(self, repo: Repo, lock: Path) -> bool:
        """Whether the dataset matched its list when they were last compared, however its environments were inferred."""
        if lock not in self._fitting:
            self._fitting[lock] = not any(difference.is_telling for difference in differing(self.store, repo, lock))
        return self._fitting[lock]

    def lacking(self) -> dict[str, list[str]]:
        """The needed variables that are not set, each with the models that need it; only for a plan."""
        asked = [predictor for predictor in self._all() if not predictor.reference]
        models = [model for predictor in asked for model in (predictor.model, *predictor.further)]
        listed = load_models(self.models)
        models += [listed.get(name) for pages in self.campaign.pages for name in pages.models or self.campaign.models]
        models += [listed.get(self.campaign.evaluate.judge)] if self.campaign.evaluate.judge else []
        by_variable: dict[str, list[str]] = {}
        for model in {model.name: model for model in models}.values():
            for name in model.missing(self._set):
                by_variable.setdefault(name, []).append(model.name)
        return by_variable

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

    def _spent(self, *experiments: str) -> Decimal:
        return spent_by(self.store.ledger, experiments)

    def _committed(self, *experiments: str) -> Decimal:
        return committed(self.store.ledger, experiments)

    @cached_property
    def experiments(self) -> list[str]:
        """The experiments that the campaign's budget covers, also those of repositories that are not asked now, and
        earlier ones of the same agents and models with other settings."""
        known, found = experiments_by_name(self.store.ledger), list[str]()
        for experiment in (predictor.experiment for predictor in self._all()):
            found += [experiment.id, *known.get((experiment.repo, experiment.label, experiment.model), ())]
        return list(dict.fromkeys(found))

    def _all(self) -> Iterator[Predictor]:
        """The predictors of all repositories, also of those that must be rebuilt first."""
        return (self._predictor(repo, *asked, ALL, None) for repo, _ in self.repos for asked in self._asked)

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

    def money(self) -> str:
        spent = self._spent(*self.experiments)
        limit = f" of {self.campaign.budget:f}" if self.campaign.budget is not None else ""
        return f"spent {spent:.4f}{limit} USD"
