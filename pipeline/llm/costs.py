"""Costs as `data/costs.csv`, always derived from the ledger.

One row per track, repository, model and agent. Requests include failed ones; tokens are input plus output; amounts are
exact, in USD. The sum of the rows is the ledger's sum to the last digit.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Collection, Iterable
from contextlib import closing
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from pipeline.core.cache import lock
from pipeline.core.records import CostRow, Track
from pipeline.core.store import Store, write_bytes
from pipeline.llm.ledger import Ledger, Request
from pipeline.llm.prices import total

T = TypeVar("T")


def write_costs(store: Store) -> list[CostRow]:
    """Write the whole of `costs.csv`, atomically. Returns its rows. If several commands end together, the last one to
    write has read what all of them booked."""
    with lock(store.root / ".locks" / "ledger" / "costs.lock"):  # not among those that a merge holds
        rows = cost_rows(requests(store.ledger))
        text = io.StringIO()
        table = csv.writer(text, lineterminator="\n")
        table.writerow(CostRow.model_fields)
        table.writerows([_cell(value) for _, value in row] for row in rows)
        write_bytes(store.costs, text.getvalue().encode())
        return rows


def requests(path: Path) -> list[Request]:
    """All requests of a ledger; empty if there is none."""
    return _from_ledger(path, Ledger.rows, [])


def committed(path: Path, experiments: Iterable[str]) -> Decimal:
    """The amount that counts towards the budgets of experiments, in USD: requests of unknown cost count with their
    highest possible cost. 0 without a ledger."""
    return _from_ledger(path, lambda ledger: total(map(ledger.committed, experiments)), Decimal(0))


def spent_by(path: Path, experiments: Iterable[str]) -> Decimal:
    """The spending of experiments, in USD; 0 without a ledger."""
    return _from_ledger(path, lambda ledger: total(map(ledger.spend, experiments)), Decimal(0))


def experiments_by_name(path: Path) -> dict[tuple[str, str, str], list[str]]:
    """The experiments of each repository, agent and model, whatever their settings; empty without a ledger."""
    return _from_ledger(path, Ledger.experiments, {})


def served(path: Path, experiment: str, answers: Collection[str] | None = None) -> list[tuple[str, str]]:
    """The providers' names of the models that gave an experiment's answers, and of those that served several, with
    fingerprints; for all answers by default. Empty without a ledger."""
    return _from_ledger(path, lambda ledger: ledger.served(experiment, answers), [])


def _from_ledger(path: Path, read: Callable[[Ledger], T], default: T) -> T:
    """The answer of a ledger, which is not changed; `default` if there is none. Raises UserError for a broken
    ledger."""
    if not os.path.lexists(path):
        return default
    with closing(Ledger(path, writes=False)) as ledger:
        return read(ledger)


def _cell(value: object) -> str:
    """A decimal in digits, never with an exponent."""
    return format(value, "f") if isinstance(value, Decimal) else str(value)


def cost_rows(sent: Iterable[Request]) -> list[CostRow]:
    """The rows, in the order of track, repository, model, agent.

    `model` is the experiment's; `embed` names the models that embedded for it.
    """

    def experiment_of(request: Request) -> tuple[Track, str, str, str]:
        return request.track, request.repo, request.key_model, request.agent

    grouped = groupby(sorted(sent, key=experiment_of), key=experiment_of)
    return [_row(*names, list(group)) for names, group in grouped]


def _row(track: Track, repo: str, model: str, agent: str, sent: list[Request]) -> CostRow:
    llm = [request for request in sent if request.kind == "llm"]
    embedding = [request for request in sent if request.kind == "embedding"]
    return CostRow(
        track=track,
        repo=repo,
        model=model,
        agent=agent,
        embed="+".join(sorted({request.model for request in embedding})),
        req_llm=len(llm),
        tok_llm=_tokens(llm),
        cost_llm_usd=total(request.cost_usd for request in llm),
        req_emb=len(embedding),
        tok_emb=_tokens(embedding),
        cost_emb_usd=total(request.cost_usd for request in embedding),
    )


def _tokens(sent: list[Request]) -> int:
    return sum(request.tokens_in + request.tokens_out for request in sent)
