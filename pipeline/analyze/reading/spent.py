"""What was spent: `costs.csv`, and the ledger it is derived from where there is one.

The ledger alone tells requests and instances apart; a `costs.csv` that came without one is enough for the totals.
"""

from __future__ import annotations

import csv
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from pipeline.analyze.reading import checks
from pipeline.analyze.reading.rows import Rows
from pipeline.core.errors import UserError
from pipeline.core.names import parse_repo
from pipeline.core.records import REPAIR, CostRow
from pipeline.core.store import Store, unique
from pipeline.llm.ledger import Ledger, Request
from pipeline.llm.prices import EXACT, total


class Spent(NamedTuple):
    """What one holder of an experiment spent; `latency_ms` was spent waiting for answers."""

    requests: int = 0
    tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    latency_ms: int = 0

    @property
    def seconds(self) -> float:
        return self.latency_ms / 1000

    def plus(self, request: Request) -> Spent:
        """With one more request."""
        return Spent(
            self.requests + 1,
            self.tokens + request.tokens_in + request.tokens_out,
            EXACT.add(self.cost_usd, request.cost_usd),
            self.latency_ms + request.latency_ms,
        )


#: by agent, model and holder: an instance, or `shared`
SpentBy = dict[tuple[str, str, str], Spent]


def read(rows: Rows, store: Store) -> SpentBy:
    """Add `costs` and `requests`; returns what was spent by holder. Other tracks are left out.

    Raises UserError for a broken row (with line and field), an experiment that stands twice, and a broken ledger.
    """
    costs, requests = (list(filter(_of(rows), found)) for found in (_costs(store), _requests(store)))
    for one in costs:
        rows.add("costs", CostRow=one.model_copy(update={"repo": str(parse_repo(one.repo))}))
    spending: SpentBy = defaultdict(Spent)
    for one in requests:
        rows.add("requests", Request=one._replace(repo=str(parse_repo(one.repo))))
        key = one.agent, one.key_model, one.holder
        spending[key] = spending[key].plus(one)
    for note in _notes(costs, requests):
        rows.note(note)
    return spending


def _of(rows: Rows) -> Callable[[CostRow | Request], bool]:
    """Whether money was spent on repairing these repositories: other tracks have tables of their own."""
    return lambda one: one.track == REPAIR and parse_repo(one.repo) in rows.repos


def _costs(store: Store) -> list[CostRow]:
    if not store.costs.exists():
        return []
    with store.costs.open(encoding="utf-8", newline="") as lines:
        found = [checks.valid(CostRow, row, store.costs, line) for line, row in enumerate(csv.DictReader(lines), 2)]
    return list(unique(found, store.costs, ("track", "repo", "model", "agent", "embed")))


def _requests(store: Store) -> list[Request]:
    if not store.ledger.exists():
        return []
    try:
        ledger = Ledger(store.ledger)
        try:
            return ledger.rows()
        finally:
            ledger.close()
    except sqlite3.DatabaseError as error:
        raise UserError(f"no ledger: {error}", path=store.ledger, hint="mend it, or move it away") from None


def _notes(costs: Sequence[CostRow], requests: Sequence[Request]) -> Iterator[str]:
    """Nothing spent, or two sums that differ."""
    booked = total(row.cost_llm_usd + row.cost_emb_usd for row in costs)
    ledger = total(request.cost_usd for request in requests)
    if not costs:
        yield "Costs: none recorded yet."
    elif requests and booked != ledger:
        yield f"Costs: costs.csv has {booked:f} USD and the ledger {ledger:f}; the next prediction makes it anew."
    elif not requests:
        yield "Costs: no ledger, so nothing is known by instance."
