"""What was spent: `costs.csv`, and the ledger from which it is derived, if that exists.

Only the ledger distinguishes requests and instances. A `costs.csv` without a ledger is enough for totals.
"""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from typing import Any, NamedTuple

from pipeline.analyze.reading import checks
from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.rows import Rows, Who
from pipeline.core.names import Repo, parse_repo
from pipeline.core.records import REPAIR, CostRow, Prediction
from pipeline.core.store import Store, unique
from pipeline.core.texts import read_text
from pipeline.llm.experiment import SHARED
from pipeline.llm.ledger import Ledger, Request
from pipeline.llm.prices import EXACT, total


class Spent(NamedTuple):
    """What one holder of an experiment spent; `latency_ms` is the total time until its answers were complete."""

    requests: int = 0
    tokens: int = 0
    cost_usd: Decimal = Decimal(0)
    latency_ms: int = 0

    @property
    def seconds(self) -> float:
        return self.latency_ms / 1000

    def plus(self, request: Request) -> Spent:
        """The sum with one more request."""
        return Spent(
            self.requests + 1,
            self.tokens + request.tokens_in + request.tokens_out,
            EXACT.add(self.cost_usd, request.cost_usd),
            self.latency_ms + request.latency_ms,
        )


class Shown(NamedTuple):
    """The cost of the answers that are shown, with costs that serve several of them."""

    llm_usd: Decimal
    emb_usd: Decimal


class Spending:
    """What was spent by answer. Requests of older versions name no answer; those are summed by agent, model and
    holder."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self.answers: dict[str, Spent] = defaultdict(Spent)
        self.holders: dict[tuple[str, str, str], Spent] = defaultdict(Spent)
        for request in requests:
            if request.answer:
                self.answers[request.answer] = self.answers[request.answer].plus(request)
            else:
                key = request.agent, request.key_model, request.holder
                self.holders[key] = self.holders[key].plus(request)

    def on(self, answer: str) -> Decimal | None:
        """USD that an answer cost, every try at it; None where nothing is known."""
        return self.answers[answer].cost_usd if answer in self.answers else None

    def of(self, who: Who, instance: str, prediction: Prediction | None) -> Spent | None:
        """The cost of an answer with all tries; None if it is unknown."""
        name = prediction.answer if prediction else ""
        return self.answers.get(name) or self.holders.get((*who, instance))


def read(rows: Rows, store: Store, runs: Mapping[tuple[Who, Repo], Run]) -> Spending:
    """Add `costs` and `requests` of the repair track; returns what was spent by answer.

    Raises UserError for a broken row (with line and field), a duplicate experiment, and a broken ledger.
    """
    is_ours = _of(rows)
    costs, requests = list(filter(is_ours, _costs(store))), list(filter(is_ours, _requests(store)))
    paid = {((one.agent, one.model), parse_repo(one.repo)): one for one in costs}
    for whose in dict.fromkeys([*paid, *(key for key, run in runs.items() if run.experiment and requests)]):
        if row := _row(whose, paid.get(whose), runs.get(whose), requests):
            rows.add("costs", **row)
    attempts = {answer: attempt for run in runs.values() for (_, attempt), answer in run.answers.items() if answer}
    for one in requests:
        context = {"attempt": attempts.get(one.answer)}
        rows.add("requests", Request=one._replace(repo=str(parse_repo(one.repo))), Context=context)
    for note in _notes(costs, requests):
        rows.note(note)
    return Spending(requests)


def _row(
    key: tuple[Who, Repo], paid: CostRow | None, run: Run | None, requests: Sequence[Request]
) -> dict[str, Any] | None:
    """All that was spent on an agent and model, and the share of the answers that are shown; None if nothing was spent.

    The two are equal if a run does not record which answers it shows, or if there is no ledger.
    """
    (agent, model), repo = key
    row = (paid or CostRow(repo=str(repo), model=model, agent=agent)).model_copy(update={"repo": str(repo)})
    if not run or not run.experiment or not requests:
        return {"CostRow": row, "Shown": Shown(row.cost_llm_usd, row.cost_emb_usd)}
    names = {one.answer for one in run.predictions.values()}
    ours = [one for one in requests if one.answer in names or (one.holder, one.experiment) == (SHARED, run.experiment)]
    cost = {kind: total(one.cost_usd for one in ours if one.kind == kind) for kind in ("llm", "embedding")}
    return {"CostRow": row, "Shown": Shown(cost["llm"], cost["embedding"])} if paid or ours else None


def _of(rows: Rows) -> Callable[[CostRow | Request], bool]:
    """A filter for money spent on repairing these repositories: other tracks have tables of their own."""
    return lambda one: one.track == REPAIR and parse_repo(one.repo) in rows.repos


def _costs(store: Store) -> list[CostRow]:
    if not store.costs.exists():
        return []
    lines = io.StringIO(read_text(store.costs), newline="")
    found = [checks.valid(CostRow, row, store.costs, line) for line, row in enumerate(csv.DictReader(lines), 2)]
    return list(unique(found, store.costs, ("track", "repo", "model", "agent", "embed")))


def _requests(store: Store) -> list[Request]:
    if not store.ledger.exists():
        return []
    with closing(Ledger(store.ledger)) as ledger:
        return ledger.rows()


def _notes(costs: Sequence[CostRow], requests: Sequence[Request]) -> Iterator[str]:
    """Notes on missing costs and on sums that differ."""
    booked = total(row.cost_llm_usd + row.cost_emb_usd for row in costs)
    ledger = total(request.cost_usd for request in requests)
    if not costs:
        yield "Costs: none recorded yet."
    elif requests and booked != ledger:
        yield f"Costs: costs.csv has {booked:f} USD and the ledger {ledger:f}; the next prediction rewrites it."
    elif not requests:
        yield "Costs: no ledger, so costs by instance are unknown."
