"""Running a campaign: datasets, answers, verdicts, assessments, pages, the report.

Every step is the same as in the stage's own command, so finished work is skipped, and the same command resumes an
interrupted campaign. One gateway serves all experiments. A failed experiment does not stop the others; failures are
listed at the end.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.campaign.file import Dataset
from pipeline.campaign.planning import Planning
from pipeline.campaign.steps import evaluate_and_say, say_stage
from pipeline.core.console import say
from pipeline.core.errors import A11yBenchError
from pipeline.core.names import Repo
from pipeline.core.options import REFERENCES
from pipeline.core.retry import Patience
from pipeline.core.subset import Subset
from pipeline.llm.gateway import Gateway
from pipeline.llm.opening import open_gateway
from pipeline.predict.stage import Predictor
from pipeline.sandbox.base import Limits

if TYPE_CHECKING:
    from pipeline.pages.generate import Generation

log = logging.getLogger(__name__)


@dataclass
class Conduct(Planning):
    """A campaign that can be run, on a data directory. `failed` has one line for each failure."""

    failed: list[str] = field(default_factory=list, init=False)

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
        """Record any failure in this block without stopping the other steps."""
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
        from pipeline.dataset.rebuild import read_list, rebuild, source_of

        say_stage("02 dataset", f"{repo} by its list")
        if self._matches_list(repo, lock):
            return
        _, entries = read_list(lock)
        given = (dataset.clone, dataset.issues, None)
        source = source_of(self.store, repo, entries, *given, github=dataset.github)
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
            predictor.budget, predictor.money = self._limit(predictor), self.money
            say_stage("03 predict", f"{title} ({position}; {self.money()})")
            predictor.predict()
            if missing := len(predictor.missing()):
                self.failed.append(f"{title}: {missing} answers are missing")
            self._evaluate(predictor.repo, experiment.label, experiment.model, predictor.subset, predictor.gateway)

    def _evaluate(self, repo: Repo, label: str, model: str, subset: Subset, gateway: Gateway | None = None) -> None:
        self.sandbox.check()
        settings = self.campaign.evaluate
        limits, patience = Limits(seconds=settings.timeout), Patience(settings.tries)
        how = {"jobs": self.campaign.jobs, "trust_local": self.trust_local}
        self.failed += evaluate_and_say(
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
