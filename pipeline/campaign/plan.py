"""What a campaign comes to before it begins: what is there, what will be asked, what that costs, takes and fills.

Reads the store and the ledger; writes nothing. What is likely is the mean of what this agent's earlier answers took, of
the same model where there are any, else of others at this model's prices; where there are none, it is not known.
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
    """One experiment: whose answers, how many are wanted and how many are there. `limit` is the most that it may
    spend, with what it `spent`; None is without a limit. `likely` and `seconds` are of what is still to ask, None where
    nothing is known."""

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
        """The most that what is left may cost; None without a limit."""
        if not self.asked:
            return Decimal(0)
        return None if self.limit is None else max(Decimal(0), self.limit - self.spent)


class History:
    """What earlier answers took, by agent and model."""

    def __init__(self, store: Store) -> None:
        self.rows = [one for one in requests(store.ledger) if one.holder != SHARED]

    def likely(self, experiment: Experiment, model: Model) -> tuple[Decimal | None, float | None]:
        """USD and seconds of one answer."""
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
    """What the same chats would have cost at another model's prices."""
    for one in rows:
        if one.kind == "llm":
            yield model.price.cost(Usage(one.tokens_in, one.tokens_out, one.tokens_cached, one.tokens_stored))
        else:
            yield one.cost_usd


class Disk(NamedTuple):
    """Bytes that are free, and that kept answers and test runs take by answer so far; None where there are none."""

    free: int
    by_answer: float | None


def disk(store: Store) -> Disk:
    """What is known of the disk of a data directory."""
    import shutil

    answers = list(store.root.glob("03_predictions/answers/*/*/*/manifest.json"))
    runs = list(store.root.glob("04_evaluation/runs/*/*/manifest.json"))
    sizes = [_size(path.parent for path in found) / len(found) for found in (answers, runs) if found]
    there = next(one for one in (store.root, *store.root.parents) if one.exists())
    return Disk(shutil.disk_usage(there).free, sum(sizes) if sizes else None)


def _size(folders: Iterable[Path]) -> int:
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())


def sums(steps: Sequence[Step]) -> Step:
    """All steps together; what is not known of one is not known of all."""
    likely = None if any(one.likely is None for one in steps) else total(one.likely or Decimal(0) for one in steps)
    seconds = None if any(one.seconds is None for one in steps) else sum(one.seconds or 0 for one in steps)
    limits = [one.spent + one.worst if one.worst is not None else None for one in steps]
    limit = None if None in limits else total(one for one in limits if one is not None)
    spent = total(one.spent for one in steps)
    counts = sum(one.wanted for one in steps), sum(one.there for one in steps)
    return Step(Repo("", ""), "all", "", *counts, spent, limit, likely, seconds)
