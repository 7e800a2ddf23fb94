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
        self.rows = [one for one in requests(store.ledger) if one.holder != SHARED]

    def likely(self, experiment: Experiment, model: Model) -> tuple[Decimal | None, float | None]:
        """The likely USD and seconds of one answer."""
        of_agent = [one for one in self.rows if one.agent == experiment.label] or [
            one for one in self.rows if one.agent.split("@")[0] == experiment.agent
        ]
        same = [one for one in of_agent if one.key_model == experiment.model]
        rows = same or of_agent
        answers = len({(one.experiment, one.holder, one.answer) for one in rows})
        if not answers:
            return None, None
        cost = total(one.cost_usd for one in rows) if same else total(_priced(rows, model))
        return cost / answers, sum(one.latency_ms for one in rows) / 1000 / answers


def _priced(rows: Iterable[Request], model: Model) -> Iterable[Decimal]:
    """The cost of the same requests at another model's prices."""
    for request in rows:
        if request.kind == "llm":
            yield model.price.cost(
                Usage(request.tokens_in, request.tokens_out, request.tokens_cached, request.tokens_stored)
            )
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
    sizes = [_size(path.parent for path in found) / len(found) for found in (answers, runs) if found]
    there = next(one for one in (store.root, *store.root.parents) if one.exists())
    return Disk(shutil.disk_usage(there).free, sum(sizes) if sizes else None)


def _size(folders: Iterable[Path]) -> int:
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())


def sums(steps: Sequence[Step], budget: Decimal | None = None) -> Step:
    """The sums of all steps; a value that is unknown for one step is unknown in total. `budget` is the most that they
    may spend together, in USD."""
    likely = None if any(one.likely is None for one in steps) else total(one.likely or Decimal(0) for one in steps)
    seconds = None if any(one.seconds is None for one in steps) else sum(one.seconds or 0 for one in steps)
    limits = [one.spent + one.worst if one.worst is not None else None for one in steps]
    limit = None if None in limits else total(one for one in limits if one is not None)
    spent = total(one.spent for one in steps)
    if budget is not None:
        limit = max(spent, budget if limit is None else min(budget, limit))
    counts = sum(one.wanted for one in steps), sum(one.there for one in steps)
    return Step(Repo("", ""), "all", "", *counts, spent, limit, likely, seconds)
