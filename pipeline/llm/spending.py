"""What each experiment spent, from the ledger, and the check that all sums are one. Writes nothing."""

from __future__ import annotations

import csv
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

from pipeline.core.errors import A11yBenchError
from pipeline.core.store import Store
from pipeline.llm.costs import requests
from pipeline.llm.experiment import SHARED
from pipeline.llm.ledger import CACHED, OK, Request, per_holder
from pipeline.llm.prices import total


class Spending(NamedTuple):
    """One experiment. `holders` is USD by instance, with `shared` beside them; `failed` counts requests without an
    answer."""

    track: str
    repo: str
    model: str
    agent: str
    experiment: str
    requests: int
    failed: int
    tokens: int
    holders: dict[str, Decimal]

    @property
    def cost_usd(self) -> Decimal:
        return total(self.holders.values())

    def row(self) -> tuple[Any, ...]:
        """For a table; amounts as digits."""
        shared = self.holders.get(SHARED, Decimal(0))
        counts = (self.requests, self.failed, self.tokens)
        return (
            self.track,
            self.repo,
            self.model,
            self.agent,
            self.experiment[:8],
            *counts,
            f"{shared:f}",
            f"{self.cost_usd:f}",
        )

    def described(self) -> dict[str, Any]:
        """For a program; amounts as digits."""
        holders = {holder: f"{cost:f}" for holder, cost in self.holders.items()}
        return {**self._asdict(), "holders": holders, "cost_usd": f"{self.cost_usd:f}"}


def spending(store: Store) -> list[Spending]:
    """In the order of track, repository, model and agent; none without a ledger."""

    def by_experiment(row: Request) -> tuple[str, str, str, str, str]:
        return row.track, row.repo, row.key_model, row.agent, row.experiment

    grouped = groupby(sorted(requests(store.ledger), key=by_experiment), key=by_experiment)
    return [_spending(names, list(rows)) for names, rows in grouped]


def _spending(names: tuple[str, str, str, str, str], rows: list[Request]) -> Spending:
    failed = sum(row.status not in (OK, CACHED) for row in rows)
    tokens = sum(row.tokens_in + row.tokens_out for row in rows)
    return Spending(*names, len(rows), failed, tokens, per_holder(rows))


def check(store: Store, spent: list[Spending]) -> None:
    """Raises A11yBenchError unless the ledger, its instances and costs.csv have the same sum, to the last digit."""
    sums = {
        "the ledger": total(row.cost_usd for row in requests(store.ledger)),
        "the instances": total(one.cost_usd for one in spent),
        "costs.csv": _written(store),
    }
    if len(set(sums.values())) > 1:
        said = ", ".join(f"{name} has {amount:f}" for name, amount in sums.items())
        hint = "costs.csv is derived anew by: a11y-bench predict REPO MODEL --step postprocess"
        raise A11yBenchError(f"the sums differ (USD): {said}\n  {hint}")


def _written(store: Store) -> Decimal:
    if not store.costs.exists():
        return Decimal(0)
    with store.costs.open(encoding="utf-8", newline="") as lines:
        return total(Decimal(row["cost_llm_usd"]) + Decimal(row["cost_emb_usd"]) for row in csv.DictReader(lines))
