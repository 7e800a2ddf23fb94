"""The plan of a campaign: existing and missing answers, their cost, time and disk space.

Reads the store and the ledger; writes nothing. Likely values are means over this agent's earlier answers, of the same
model if there are any, else of other models at this model's prices. Without earlier answers they are unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from pipeline.core.names import Repo
from pipeline.core.store import Store
from pipeline.llm.costs import requests
from pipeline.llm.experiment import SHARED, Experiment
from pipeline.llm.ledger import Request
from pipeline.llm.models import Model
from pipeline.llm.prices import Usage, total


class Step(NamedTuple):
    """One experiment: how many answers are wanted, and how many exist. `limit` is the maximum that it may spend
    including what it `spent`, in USD; None means no limit. `likely` (USD) and `seconds` are for the missing answers,
    None if unknown."""

    repo: Repo
    label: str
    model: str
    wanted: int
    there: int
    spent: Decimal
    limit: Decimal | None
    likely: Decimal | None
    seconds: float | None

    @property
    def asked(self) -> int:
        return self.wanted - self.there

    @property
    def worst(self) -> Decimal | None:
        """The maximum cost of the missing answers, in USD; None without a limit."""
        if not self.asked:
            return Decimal(0)
        return None if self.limit is None else max(Decimal(0), self.limit - self.spent)


class History:
    """Cost and time of earlier answers, by agent and model."""

    def __init__(self, store: Store) -> None:
        self.rows = [request for request in requests(store.ledger) if request.holder != SHARED]

    def likely(self, experiment: Experiment, model: Model) -> tuple[Decimal | None, float | None]:
        """The likely USD and seconds of one answer."""
        of_agent = [request for request in self.rows if request.agent == experiment.label] or [
            request for request in self.rows if request.agent.split("@")[0] == experiment.agent
        ]
        of_model = [request for request in of_agent if request.key_model == experiment.model]
        rows = of_model or of_agent
        answers = len({(request.experiment, request.holder, request.answer) for request in rows})
        if not answers:
            return None, None
        cost = total(request.cost_usd for request in rows) if of_model else total(_priced(rows, model))
        return cost / answers, sum(request.latency_ms for request in rows) / 1000 / answers


def _priced(rows: Iterable[Request], model: Model) -> Iterable[Decimal]:
    """The cost of the same requests at another model's prices."""
    for request in rows:
        if request.kind == "llm":
            yield model.price.cost(Usage(*(getattr(request, name) for name in Usage._fields)))
        else:
            yield request.cost_usd


class Disk(NamedTuple):
    """Free bytes, and the bytes per answer that stored answers and test runs have used so far; None without any."""

    free: int
    by_answer: float | None


def disk(store: Store) -> Disk:
    """The disk space of a data directory."""
    import shutil

    answers = list(store.root.glob("03_predictions/answers/*/*/*/manifest.json"))
    runs = list(store.root.glob("04_evaluation/runs/*/*/manifest.json"))
    sizes = [_size(path.parent for path in manifests) / len(manifests) for manifests in (answers, runs) if manifests]
    existing = next(folder for folder in (store.root, *store.root.parents) if folder.exists())
    return Disk(shutil.disk_usage(existing).free, sum(sizes) if sizes else None)


def _size(folders: Iterable[Path]) -> int:
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())


def sums(steps: Sequence[Step], left: Decimal | None = None) -> Step:
    """The sums of all steps; a value that is unknown for one step is unknown in total. `left` is the most that they
    may still spend together, in USD."""
    likely = None if any(step.likely is None for step in steps) else total(step.likely or Decimal(0) for step in steps)
    seconds = None if any(step.seconds is None for step in steps) else sum(step.seconds or 0 for step in steps)
    worst = [step.worst for step in steps]
    bounds = [left, None if None in worst else total(amount for amount in worst if amount is not None)]
    most = min((bound for bound in bounds if bound is not None), default=None)
    spent = total(step.spent for step in steps)
    limit = None if most is None else spent + most
    counts = sum(step.wanted for step in steps), sum(step.there for step in steps)
    return Step(Repo("", ""), "all", "", *counts, spent, limit, likely, seconds)
