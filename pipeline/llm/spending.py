"""What each experiment spent, from the ledger, and the check that all sums agree. Writes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple

from pipeline.core.amounts import amount
from pipeline.core.errors import A11yBenchError, UserError
from pipeline.core.records import CostRow
from pipeline.core.store import Store
from pipeline.core.texts import is_there, read_table
from pipeline.llm.costs import requests
from pipeline.llm.experiment import SHARED
from pipeline.llm.ledger import CACHED, OK, UNCOUNTED, Request, per_holder
from pipeline.llm.prices import total

#: the columns of costs.csv that are sums of USD
AMOUNTS = ("cost_llm_usd", "cost_emb_usd")
DERIVED = "costs.csv is recreated by: a11y-bench predict REPO MODEL --step postprocess"


class Spending(NamedTuple):
    """One experiment. `holders` is USD by instance and under `shared`; `sent` is how often its requests were sent, with
    all retries, `failed` counts those without an answer, and `unknown` those whose cost was not reported."""

    track: str
    repo: str
    model: str
    agent: str
    experiment: str
    requests: int
    sent: int
    failed: int
    unknown: int
    tokens: int
    holders: dict[str, Decimal]

    @property
    def cost_usd(self) -> Decimal:
        return total(self.holders.values())

    def row(self) -> tuple[Any, ...]:
        """The row of a table; amounts as digits."""
        shared = self.holders.get(SHARED, Decimal(0))
        counts = (self.requests, self.sent, self.failed, self.unknown, self.tokens)
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
        """The spending as plain data; amounts as digits."""
        holders = {holder: f"{cost:f}" for holder, cost in self.holders.items()}
        return {**self._asdict(), "holders": holders, "cost_usd": f"{self.cost_usd:f}"}


def spending(store: Store) -> list[Spending]:
    """All experiments, by track, repository, model and agent; empty without a ledger."""

    def by_experiment(row: Request) -> tuple[str, str, str, str, str]:
        return row.track, row.repo, row.key_model, row.agent, row.experiment

    grouped = groupby(sorted(requests(store.ledger), key=by_experiment), key=by_experiment)
    return [_spending(names, list(rows)) for names, rows in grouped]


def _spending(names: tuple[str, str, str, str, str], rows: list[Request]) -> Spending:
    sent = sum(row.sends for row in rows)
    failed = sum(row.status not in (OK, CACHED, UNCOUNTED) for row in rows)
    unknown = sum(row.unknown for row in rows)
    tokens = sum(row.tokens_in + row.tokens_out for row in rows)
    return Spending(*names, len(rows), sent, failed, unknown, tokens, per_holder(rows))


def check(store: Store, spent: list[Spending]) -> None:
    """Raise A11yBenchError unless the ledger, its instances and costs.csv have the same sum, to the last digit."""
    sums = {
        "the ledger": total(row.cost_usd for row in requests(store.ledger)),
        "the instances": total(experiment.cost_usd for experiment in spent),
        "costs.csv": _total_of_costs_file(store),
    }
    if len(set(sums.values())) > 1:
        amounts = ", ".join(f"{name} has {amount:f}" for name, amount in sums.items())
        raise A11yBenchError(f"the sums differ (USD): {amounts}\n  {DERIVED}")


def _total_of_costs_file(store: Store) -> Decimal:
    if not is_there(store.costs):
        return Decimal(0)
    rows = read_table(store.costs, CostRow.model_fields, hint=DERIVED)
    return total(_amount(store, line, row, name) for line, row in rows for name in AMOUNTS)


def _amount(store: Store, line: int, row: Mapping[str, str | None], name: str) -> Decimal:
    try:
        return amount(row[name])
    except ValueError as error:
        raise UserError(str(error), path=store.costs, line=line, field=name, hint=DERIVED) from None
