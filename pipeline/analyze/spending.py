"""Read what was spent: `costs.csv`, and the ledger it is derived from where there is one.

The ledger alone tells requests and instances apart; a `costs.csv` that came without one is enough for the totals.
"""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pipeline.analyze import checks
from pipeline.core.errors import UserError
from pipeline.core.llm.ledger import Ledger, Request
from pipeline.core.llm.prices import total
from pipeline.core.names import Repo
from pipeline.core.records import CostRow
from pipeline.core.store import Store


def read(store: Store, repos: Iterable[Repo]) -> dict[str, list[Any]]:
    """`costs`, `requests` and `notes` on them, of these repositories.

    Raises UserError for a broken row (with line and field), an experiment that stands twice, and a broken ledger.
    """
    names = {name for repo in repos for name in (str(repo), repo.slug)}
    costs = [row for row in _costs(store) if row.repo in names]
    requests = [request for request in _requests(store) if request.repo in names]
    return {"costs": costs, "requests": requests, "notes": _notes(costs, requests)}


def _costs(store: Store) -> list[CostRow]:
    if not store.costs.exists():
        return []
    with store.costs.open(encoding="utf-8", newline="") as lines:
        rows = [checks.valid(CostRow, row, store.costs, line) for line, row in enumerate(csv.DictReader(lines), 2)]
    checks.unique(rows, store.costs, ("repo", "model", "agent", "embed"))
    return rows


def _requests(store: Store) -> list[Request]:
    if not store.ledger.exists():
        return []
    try:
        return _rows(store.ledger)
    except sqlite3.DatabaseError as error:
        raise UserError(f"no ledger: {error}", path=store.ledger, hint="mend it, or move it away") from None


def _notes(costs: Sequence[CostRow], requests: Sequence[Request]) -> list[str]:
    """Nothing spent, or two sums that differ."""
    booked = total(row.cost_llm_usd + row.cost_emb_usd for row in costs)
    ledger = total(request.cost_usd for request in requests)
    if not costs:
        return ["Costs: none recorded yet."]
    if requests and booked != ledger:
        return [f"Costs: costs.csv has {booked:f} USD and the ledger {ledger:f}; the next prediction makes it anew."]
    return []


def _rows(path: Path) -> list[Request]:
    ledger = Ledger(path)
    try:
        return ledger.rows()
    finally:
        ledger.close()
