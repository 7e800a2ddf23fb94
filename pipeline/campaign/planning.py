"""The plan of a campaign's experiments: what exists, what is missing, and what that may cost and take.

Reads the store and the ledger; writes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline.campaign.file import Agent, Dataset, at, count_listed, selecting
from pipeline.campaign.plan import History, Step
from pipeline.campaign.scope import Scope
from pipeline.core.errors import UserError
from pipeline.core.subset import ALL
from pipeline.llm.experiment import Experiment
from pipeline.llm.models import Model
from pipeline.llm.prices import Usage
from pipeline.predict.run import Wanted, view
from pipeline.predict.stage import Predictor

if TYPE_CHECKING:
    from pipeline.pages.generate import Generation


class Planning(Scope):
    """A campaign whose steps can be planned."""

    def plan(self) -> list[Step]:
        """Existing and missing answers by experiment: of datasets that are built, and of cases of the page track. An
        answer that several experiments share (other names of the same settings, sets of cases) counts as missing for
        the first of them."""
        history, answers, shared = History(self.store), set[str](), set[Path]()
        steps = [self._step(predictor, agent, history, answers) for predictor, agent in self.predictors()]
        for generation in [self._generation(pages, None) for pages in self.campaign.pages]:
            missing = {model: set(units) - shared for model, units in generation.missing().items()}
            steps += [self._pages_step(generation, model, len(units), history) for model, units in missing.items()]
            shared.update(*missing.values())
        return steps

    def plan_of_lists(self) -> list[Step]:
        """The same for datasets that are rebuilt first: no answer counts as existing."""
        history, unbuilt = History(self.store), self.unbuilt()
        return [
            self._listed_step(self._predictor(repo, *asked, ALL, None), dataset, number, history)
            for number, (repo, dataset) in enumerate(self.repos)
            if repo in unbuilt
            for asked in self._asked
        ]

    def _listed_step(self, predictor: Predictor, dataset: Dataset, number: int, history: History) -> Step:
        with at(self.path, "datasets", number, "lock"):
            if not (dataset.clone or dataset.github):
                hint = "add clone, the folder of a clone, or github = true"
                raise UserError("it differs from its list, and has nothing to be rebuilt from", hint=hint)
        with at(self.path, "datasets", number, selecting(dataset)):
            count = predictor.attempts * count_listed(self.store, dataset, self.path.parent)
        return self._step_of(predictor, count, count, history)

    def _pages_step(self, generation: Generation, model: str, missing: int, history: History) -> Step:
        experiment = generation.experiment(model)
        count = len(generation.cases) * generation.asked.samples
        spent, limit = self._spent(experiment.id), None
        if generation.budget is not None:
            limit = spent + max(Decimal(0), generation.budget - self._committed(experiment.id))
        likely, seconds, _ = self._likely(history, experiment, generation.entries[model], missing)
        names = experiment.repo, experiment.label, model
        return Step(
            *names, count, count - missing, spent, limit, likely, seconds, experiment.track, experiment=experiment.id
        )

    def _likely(
        self, history: History, experiment: Experiment, model: Model, missing: int, typical: Usage | None = None
    ) -> tuple[Decimal | None, float | None, bool]:
        """The likely USD and seconds of missing answers, None if unknown; and whether the USD are those of the tokens
        that an answer typically takes."""
        if not missing:
            return Decimal(0), 0, False
        cost, seconds = history.likely(experiment, model)
        if rough := cost is None and typical is not None:
            cost = model.price.cost(typical)
        return None if cost is None else missing * cost, self._in_parallel(missing, seconds), rough

    def _in_parallel(self, count: int, seconds: float | None) -> float | None:
        """The seconds for `count` pieces of work that are done in parallel, given the seconds for one, which is the
        least that any number of them takes; None if unknown."""
        return None if seconds is None else seconds * max(count / self.campaign.jobs, min(count, 1))

    def _step(self, predictor: Predictor, agent: Agent, history: History, shared: set[str]) -> Step:
        """The step of an experiment. Its missing answers are added to `shared`, and those in it do not count. Raises
        UserError, with the place in the file, for a name that other settings have."""
        wanted = Wanted(predictor.subset, predictor.attempts, chooses=bool(predictor.tester))
        with at(self.path, "agents", self.campaign.agents.index(agent), "name"):
            run = view(self.store, predictor.experiment, wanted)
        missing = {run.answer(*attempt) for attempt in run.unanswered()} - shared
        shared.update(missing)
        return self._step_of(predictor, len(run.instances) * run.attempts, len(missing), history)

    def _step_of(self, predictor: Predictor, count: int, missing: int, history: History) -> Step:
        experiment = predictor.experiment
        typical = predictor.agent.typical
        likely, seconds, rough = self._likely(history, experiment, predictor.model, missing, typical)
        spent, most = self._spent(experiment.id), self._maximum_cost(predictor, missing)
        limit = None if most is None else spent + most
        names = experiment.repo, experiment.label, experiment.model
        testing = self._in_parallel(missing, history.testing(predictor.repo)) if missing else 0
        counts = count, count - missing
        return Step(
            *names, *counts, spent, limit, likely, seconds, testing=testing, experiment=experiment.id, rough=rough
        )

    def _maximum_cost(self, predictor: Predictor, missing: int) -> Decimal | None:
        """The maximum cost of the missing answers, in USD; None without a limit. Caps do not cover work that several
        answers share, with further models such as those for embeddings."""
        shares = not predictor.reference and any(model.price.input for model in predictor.further)
        caps = None if predictor.cap is None or shares else missing * predictor.cap
        return min((bound for bound in (self._left(predictor), caps) if bound is not None), default=None)


def described(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """A plan as plain data; amounts are strings of digits."""
    return [
        {name: str(value) if isinstance(value, Decimal) else value for name, value in step._asdict().items()}
        | {"asked": step.asked, "worst": None if step.worst is None else str(step.worst)}
        for step in steps
    ]
