"""Runs of predictions as they stand: what each shows, how that ended, what it cost.

Reads `03_predictions/repair/`, `04_evaluation/repair/` and the ledger. Writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import Any

from pipeline.core.assessment import Assessment
from pipeline.core.errors import UserError, unknown
from pipeline.core.names import Repo
from pipeline.core.records import REPAIR, Outcome, Prediction, Verdict
from pipeline.core.store import Store, attempts_in, of_attempt, read_json, read_records, whose_run
from pipeline.llm.costs import requests
from pipeline.llm.experiment import SHARED
from pipeline.llm.ledger import Request
from pipeline.llm.prices import total


class Seen:
    """One run's folder. Raises UserError for a folder that does not say whose it is."""

    def __init__(self, store: Store, folder: Path) -> None:
        self.store, self.folder = store, folder
        self.agent, self.model = whose_run(folder)
        repo = Repo.of_slug(folder.parents[1].name)
        if repo is None:
            raise UserError("the folder is no repository's", path=folder.parents[1])
        self.repo = repo
        about = folder / "run.json"
        self.said: dict[str, Any] = read_json(about) if about.exists() else {}

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def address(self) -> str:
        """How people name it."""
        return f"{self.agent}/{self.repo.slug}/{self.model}/{self.name}"

    @cached_property
    def attempts(self) -> list[int]:
        return attempts_in(self.folder, "predictions.jsonl")

    def predictions(self, attempt: int = 1) -> dict[str, Prediction]:
        path = of_attempt(self.folder, attempt) / "predictions.jsonl"
        return {one.instance_id: one for one in read_records(path, Prediction)}

    def verdicts(self, attempt: int = 1) -> dict[str, Verdict]:
        """Those on this run; none where another one was evaluated since."""
        path = of_attempt(self.store.evaluation(self.repo, self.agent, self.model), attempt) / "verdicts.jsonl"
        return {one.instance_id: one for one in read_records(path, Verdict) if one.run == self.name}

    def assessments(self, attempt: int = 1) -> dict[str, Assessment]:
        """Those of its verdicts; none where nobody assessed it."""
        path = of_attempt(self.store.evaluation(self.repo, self.agent, self.model), attempt) / "assessments.jsonl"
        found = read_records(path, Assessment) if path.exists() else []
        return {one.instance_id: one for one in found if one.run == self.name}

    def outcomes(self, attempt: int = 1) -> dict[str, str]:
        """How each instance ended that was answered or evaluated."""
        answered = {name: f"answered ({one.outcome})" for name, one in self.predictions(attempt).items()}
        return answered | {name: str(one.outcome) for name, one in self.verdicts(attempt).items()}

    def cost(self, sent: Iterable[Request]) -> Decimal:
        """USD of the answers that it shows, every attempt and try at them, with what serves several."""
        answers = {one.answer for attempt in self.attempts for one in self.predictions(attempt).values()} - {""}
        shared = SHARED, self.said.get("experiment")
        return total(one.cost_usd for one in sent if one.answer in answers or (one.holder, one.experiment) == shared)

    def row(self, sent: Sequence[Request], newest: bool) -> tuple[Any, ...]:
        """For the list."""
        verdicts = self.verdicts()
        resolved = sum(one.outcome is Outcome.RESOLVED for one in verdicts.values())
        judged = f"{resolved} of {len(verdicts)}" if verdicts else "-"
        whose = str(self.repo), self.agent, self.model
        counts = len(self.predictions()), len(self.attempts)
        return *whose, self.name + ("" if newest else " (older)"), *counts, judged, f"{self.cost(sent):.4f}"


def seen_runs(store: Store) -> list[Seen]:
    """All runs with predictions, in the order of repository, agent, model and time."""
    folders = {path.parent for path in store.root.glob(f"03_predictions/{REPAIR}/*/*/*/*/predictions.jsonl")}
    found = [Seen(store, one) for one in sorted(folders) if Repo.of_slug(one.parents[1].name)]
    return sorted(found, key=lambda one: (str(one.repo), one.agent, one.model, one.name))


def find_run(store: Store, text: str) -> Seen:
    """A run by its name, or by the beginning of its address: the newest one of the agent and model that it names.

    Raises UserError where it names none, or those of several.
    """
    there = seen_runs(store)
    found = [one for one in there if one.name == text or f"{one.address}/".startswith(f"{text.rstrip('/')}/")]
    if not found:
        raise unknown("run", text, [one.address for one in there])
    if len({one.folder.parent for one in found}) > 1:
        raise UserError(f"'{text}' names several runs", hint=f"say which: {', '.join(one.address for one in found)}")
    return found[-1]


def sent_by(store: Store) -> list[Request]:
    """All requests of this track."""
    return [one for one in requests(store.ledger) if one.track == REPAIR]
