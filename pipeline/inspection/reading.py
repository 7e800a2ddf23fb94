"""Stored runs of predictions: their answers, outcomes and cost.

Reads `03_predictions/repair/`, `04_evaluation/repair/` and the ledger. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.core.assessment import Assessment
from pipeline.core.console import say
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.records import REPAIR, Outcome, Prediction, Verdict
from pipeline.core.run_record import read_run
from pipeline.core.store import Store, attempts_in, of_attempt, read_records, whose_run
from pipeline.llm.costs import requests
from pipeline.llm.experiment import SHARED
from pipeline.llm.ledger import Request
from pipeline.llm.prices import total


class Run:
    """One run's folder. Raises UserError for a folder that does not name its repository, agent and model."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.agent, self.model = whose_run(folder)
        repo = Repo.of_slug(folder.parents[1].name)
        if repo is None:
            raise UserError("the folder is not named after a repository", path=folder.parents[1])
        self.repo = repo
        self.about = read_run(folder)

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def address(self) -> str:
        """The name by which people find it."""
        return f"{self.agent}/{self.repo.slug}/{self.model}/{self.name}"

    @cached_property
    def attempts(self) -> list[int]:
        return attempts_in(self.folder, "predictions.jsonl")

    def predictions(self, attempt: int = 1) -> dict[str, Prediction]:
        path = of_attempt(self.folder, attempt) / "predictions.jsonl"
        return {prediction.instance_id: prediction for prediction in read_records(path, Prediction)}

    def verdicts(self, attempt: int = 1) -> dict[str, Verdict]:
        """The verdicts on this run; empty if another run was evaluated since."""
        path = of_attempt(self.store.evaluation(self.repo, self.agent, self.model), attempt) / "verdicts.jsonl"
        return {verdict.instance_id: verdict for verdict in read_records(path, Verdict) if verdict.run == self.name}

    def assessments(self, attempt: int = 1) -> dict[str, Assessment]:
        """The assessments of this run; empty if there are none."""
        path = of_attempt(self.store.evaluation(self.repo, self.agent, self.model), attempt) / "assessments.jsonl"
        found = read_records(path, Assessment) if path.exists() else []
        return {assessment.instance_id: assessment for assessment in found if assessment.run == self.name}

    def answered(self, attempt: int = 1) -> dict[str, str]:
        """The agent's own outcome of each instance that was answered; predictions made elsewhere have none."""
        return {
            name: f"answered ({prediction.outcome})" if prediction.outcome else "answered"
            for name, prediction in self.predictions(attempt).items()
        }

    def outcomes(self, attempt: int = 1) -> dict[str, str]:
        """The outcome of each instance that was answered or evaluated."""
        return self.answered(attempt) | {name: str(verdict.outcome) for name, verdict in self.verdicts(attempt).items()}

    def cost(self, sent: Iterable[Request]) -> Decimal | None:
        """USD of its answers, with all attempts and tries, and of requests shared by the whole experiment; None for
        predictions made elsewhere."""
        predictions = (prediction for attempt in self.attempts for prediction in self.predictions(attempt).values())
        answers = {prediction.answer for prediction in predictions}
        if "" in answers:
            return None
        shared = SHARED, self.about.experiment
        own = (
            request for request in sent if request.answer in answers or (request.holder, request.experiment) == shared
        )
        return total(request.cost_usd for request in own)

    def row(self, sent: Sequence[Request]) -> tuple[Any, ...]:
        """The run's row in the list."""
        verdicts = self.verdicts()
        resolved = sum(verdict.outcome is Outcome.RESOLVED for verdict in verdicts.values())
        judged = f"{resolved} of {len(verdicts)}" if verdicts else "-"
        owner = str(self.repo), self.agent, self.model
        counts, cost = (len(self.predictions()), len(self.attempts)), self.cost(sent)
        shown_cost = "-" if cost is None else f"{cost:.4f}"
        return *owner, self.name, *counts, judged, shown_cost


def seen_runs(store: Store) -> list[Run]:
    """All runs with predictions, in the order of repository, agent, model and time. A run that cannot be read is left
    out, with a message."""
    folders = {path.parent for path in store.root.glob(f"03_predictions/{REPAIR}/*/*/*/*/predictions.jsonl")}
    named = [folder for folder in sorted(folders) if Repo.of_slug(folder.parents[1].name)]
    found = [run for folder in named for run in _read(store, folder)]
    return sorted(found, key=lambda run: (str(run.repo), run.agent, run.model, run.name))


def _read(store: Store, folder: Path) -> Iterator[Run]:
    try:
        yield Run(store, folder)
    except UserError as error:
        say(f"left out, since it cannot be read: {error}")


def find_run(store: Store, text: str) -> Run:
    """The newest run with this name, or whose address begins with it.

    Raises UserError if there is none, or if it fits several agents, models or repositories.
    """
    runs = seen_runs(store)
    found = [run for run in runs if run.name == text or f"{run.address}/".startswith(f"{text.rstrip('/')}/")]
    if not found:
        raise unknown("run", text, [run.address for run in runs])
    if len({run.folder.parent for run in found}) > 1:
        hint = f"name one of them: {', '.join(run.address for run in found)}"
        raise UserError(f"'{text}' names several runs", hint=hint)
    return found[-1]


def sent_by(store: Store) -> list[Request]:
    """All requests of the repair track."""
    return [request for request in requests(store.ledger) if request.track == REPAIR]
