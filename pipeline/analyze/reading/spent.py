"""What was spent: `costs.csv`, and the ledger from which it is derived, if that exists.

Only the ledger distinguishes requests and instances. A `costs.csv` without a ledger is enough for totals.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from pipeline.analyze.reading import checks
from pipeline.analyze.reading.answered import Run
from pipeline.analyze.reading.rows import Rows, Who
from pipeline.core.errors import UserError
from pipeline.core.names import Repo, parse_repo
from pipeline.core.records import REPAIR, CostRow, Prediction
from pipeline.core.store import Store, unique
from pipeline.core.texts import is_there, read_table
from pipeline.llm.costs import requests as ledgered
from pipeline.llm.experiment import SHARED
from pipeline.llm.ledger import Request
from pipeline.llm.prices import total
from pipeline.llm.spending import AMOUNTS
from pipeline.llm.waiting import under_way

#: requests name the same few repositories thousands of times
_repo = cache(parse_repo)


class Spent(NamedTuple):
    """The spending of one holder of an experiment; `seconds` is the time in which any of its requests was under way."""

    requests: int
    tokens: int
    cost_usd: Decimal
    seconds: float

    @classmethod
    def on(cls, requests: Sequence[Request]) -> Spent:
        """The spending on these requests."""
        tokens = sum(request.tokens_in + request.tokens_out for request in requests)
        return cls(len(requests), tokens, total(request.cost_usd for request in requests), under_way(requests))


class Shown(NamedTuple):
    """The cost of the answers that are shown, with costs that serve several of them."""

    llm_usd: Decimal
    emb_usd: Decimal


class Sent:
    """The requests by answer and by experiment."""

    def __init__(self, requests: Iterable[Request]) -> None:
        self.answers: dict[str, list[Request]] = defaultdict(list)
        self.experiments: dict[str, list[Request]] = defaultdict(list)
        for request in requests:
            self.answers[request.answer].append(request)
            self.experiments[request.experiment].append(request)


class Spending:
    """What was spent by answer. Requests of older versions name no answer; those are summed by agent, model and
    holder."""

    def __init__(self, requests: Iterable[Request]) -> None:
        answers: dict[str, list[Request]] = defaultdict(list)
        holders: dict[tuple[str, str, str], list[Request]] = defaultdict(list)
        for request in requests:
            if request.answer:
                answers[request.answer].append(request)
            else:
                holders[request.agent, request.key_model, request.holder].append(request)
        self.answers = {name: Spent.on(sent) for name, sent in answers.items()}
        self.holders = {names: Spent.on(sent) for names, sent in holders.items()}

    def on(self, answer: str) -> Decimal | None:
        """The cost of an answer in USD, with all tries; None if it is unknown."""
        return self.answers[answer].cost_usd if answer in self.answers else None

    def of(self, who: Who, instance: str, prediction: Prediction | None) -> Spent | None:
        """The cost of an answer with all tries; None if it is unknown."""
        name = prediction.answer if prediction else ""
        return self.answers.get(name) or self.holders.get((*who, instance))


def read(rows: Rows, store: Store, runs: Mapping[tuple[Who, Repo], Run], left_out: Set[str]) -> Spending:
    """Add `costs` and `requests` of the repair track; returns what was spent by answer. Answers to the instances
    `left_out` are not shown.

    Raises UserError for a broken row (with line and field), a duplicate experiment, and a broken ledger.
    """
    is_ours = _is_repair_of(rows)
    costs, requests = list(filter(is_ours, _costs(store))), list(filter(is_ours, ledgered(store.ledger)))
    hidden = {name: rows.known[name].repo for name in left_out & rows.known.keys()}
    booked: dict[tuple[Who, Repo], CostRow] = {}
    for cost in costs:
        key = (cost.agent, cost.model), _repo(cost.repo)
        booked[key] = _together(booked[key], cost) if key in booked else cost
    sent, counted = Sent(requests), set[str]()
    for key in dict.fromkeys([*booked, *(key for key, run in runs.items() if run.experiment and requests)]):
        if parts := _row(key, booked.get(key), runs.get(key), sent, hidden, counted):
            rows.add("costs", **parts)
    attempts = {answer: attempt for run in runs.values() for (_, attempt), answer in run.answers.items() if answer}
    for request in requests:
        context = {"attempt": attempts.get(request.answer)}
        rows.add("requests", Request=request._replace(repo=str(_repo(request.repo))), Context=context)
    for note in _notes(costs, requests):
        rows.note(note)
    return Spending(requests)


def _row(
    key: tuple[Who, Repo],
    booked_row: CostRow | None,
    run: Run | None,
    sent: Sent,
    left_out: Mapping[str, Repo],
    counted: set[str],
) -> dict[str, Any] | None:
    """Everything spent on an agent and model, and the part for answers that are shown; None if nothing was spent.

    The two are equal if a run does not record which answers it shows, or if there is no ledger; then the part is
    unknown if some of its instances are left out. The part is new as far as its requests are not yet `counted`; then
    they are.
    """
    (agent, model), repo = key
    row = (booked_row or CostRow(repo=str(repo), model=model, agent=agent)).model_copy(update={"repo": str(repo)})
    if not run or not run.experiment or not sent.answers:
        is_whole = not any(of == repo and (run is None or run.is_about(name)) for name, of in left_out.items())
        part = Shown(row.cost_llm_usd, row.cost_emb_usd) if is_whole else None
        return {"CostRow": row, "Shown": part, "New": part, "Spent": {"usd": _booked(row)}}
    names = {prediction.answer for prediction in run.predictions.values()} | run.failed
    of_answers = (request for name in names for request in sent.answers.get(name, ()) if request.holder not in left_out)
    of_experiment = sent.experiments.get(run.experiment, [])
    shared = (request for request in of_experiment if request.holder == SHARED)
    shown = {request.id: request for request in (*of_answers, *shared)}
    if not (booked_row or shown):
        return None
    new = [request for name, request in shown.items() if name not in counted]
    counted.update(shown)
    elsewhere = (one.cost_usd for one in of_experiment if (one.agent, one.key_model) != (agent, model))
    spent = total((_booked(row), *elsewhere))
    return {"CostRow": row, "Shown": _cost_of(shown.values()), "New": _cost_of(new), "Spent": {"usd": spent}}


def _together(one: CostRow, other: CostRow) -> CostRow:
    """The sum of two rows of an agent and model on a repository, which differ in the models that embedded."""
    counts = {name: getattr(one, name) + getattr(other, name) for name in ("req_llm", "tok_llm", "req_emb", "tok_emb")}
    amounts = {name: total((getattr(one, name), getattr(other, name))) for name in AMOUNTS}
    embed = "+".join(filter(None, (one.embed, other.embed)))
    return one.model_copy(update={"embed": embed, **counts, **amounts})


def _booked(row: CostRow) -> Decimal:
    return total((row.cost_llm_usd, row.cost_emb_usd))


def _cost_of(requests: Collection[Request]) -> Shown:
    llm, embeddings = ([one.cost_usd for one in requests if one.kind == kind] for kind in ("llm", "embedding"))
    return Shown(total(llm), total(embeddings))


def _is_repair_of(rows: Rows) -> Callable[[CostRow | Request], bool]:
    """A filter for money spent on repairing these repositories: other tracks have tables of their own."""
    return lambda row: row.track == REPAIR and _repo(row.repo) in rows.repos


def _costs(store: Store) -> list[CostRow]:
    if not is_there(store.costs):
        return []
    rows = [_cost(store, line, row) for line, row in read_table(store.costs)]
    return list(unique(rows, store.costs, ("track", "repo", "model", "agent", "embed")))


def _cost(store: Store, line: int, values: Mapping[str, str | None]) -> CostRow:
    """A row of costs.csv, with its repository as `org/repo`. Raises UserError with line and field."""
    row = checks.valid(CostRow, values, store.costs, line)
    if row.track != REPAIR:
        return row
    try:
        return row.model_copy(update={"repo": str(parse_repo(row.repo))})
    except UserError as error:
        raise UserError(error.message, path=store.costs, line=line, field="repo", hint=error.hint) from None


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
    if unknown := sum(request.unknown for request in requests):
        yield f"Costs: {unknown} requests have an unknown cost (a11y-bench costs), so the amounts are lower bounds."
