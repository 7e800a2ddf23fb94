"""Tables on costs, counted by hand, to the last digit."""

from __future__ import annotations

from contextlib import closing
from decimal import Decimal

import pytest
from analyze.conftest import fill_ledger, set_times
from analyze.measures.conftest import rows

from pipeline import analyze
from pipeline.analyze.measures.cost import instance_costs
from pipeline.core.store import Store, write_bytes
from pipeline.llm.ledger import Ledger


@pytest.mark.rule("money-exact")
def test_costs_add_up_exactly(tables):
    """RULES, Money: amounts are decimals; as binary floats 0.10 + 0.20 is not 0.30."""
    columns = ("repository", "model", "cost USD", "cost LLM USD", "cost embedding USD", "LLM %")
    assert rows(tables, "costs", *columns) == [
        "acme/ui model-a 0.11 0.10 0.01 90.9",
        "acme/ui lab/model-b 0.22 0.20 0.02 90.9",
        "acme/forms lab/model-b 0.00 0.00 0 –",
        "all – 0.33 0.30 0.03 90.9",
    ]
    assert all(isinstance(cost, Decimal) for cost in tables["costs"]["cost_usd"])


def test_cost_per_patch_and_per_resolved_instance(tables):
    columns = ("predicted", "cost per instance USD", "non empty", "non empty %", "resolved", "cost per resolved USD")
    assert rows(tables, "costs", *columns) == [
        "3 0.037 2 66.7 1 0.110",
        "2 0.110 2 100.0 1 0.220",
        "1 0.000 1 100.0 1 0.000",
        "6 0.055 5 83.3 3 0.110",
    ]


def test_what_a_judge_cost_is_no_cost_of_answers(store: Store) -> None:
    """An answer seemed to cost what judges and raters did, too."""
    write_bytes(store.costs, store.costs.read_bytes() + b"repair,acme/ui,model-c,judge,,5,500,1.00,0,0,0\n")
    columns = ("model", "cost USD", "predicted", "cost per instance USD", "resolved", "cost per resolved USD")
    assert rows(analyze.tables(analyze.load(store)), "costs", *columns)[3:] == [
        "model-c 1.00 0 – 0 –",
        "– 1.33 6 0.055 3 0.110",
    ]


def test_rows_of_several_embedding_models_add_up(store: Store) -> None:
    """Of an agent and model on a repository, only the last row of `costs.csv` counted."""
    write_bytes(
        store.costs, store.costs.read_bytes() + b"repair,acme__ui,model-a,magentless,embed-8b,1,100,0.05,1,9,0.02\n"
    )
    tables = analyze.tables(analyze.load(store))
    columns = ("model", "embed", "LLM requests", "LLM tokens", "cost LLM USD", "embedding requests", "embedding tokens")
    assert rows(tables, "usage", *columns)[0] == "model-a embed-4b+embed-8b 11 1,100 0.15 3 209"
    assert rows(tables, "costs", "model", "cost USD", "cost embedding USD")[0] == "model-a 0.18 0.03"


def test_costs_by_model(tables):
    columns = ("model", "cost USD", "predicted", "resolved", "cost per resolved USD", "seconds mean")
    assert rows(tables, "model_costs", *columns) == ["lab/model-b 0.22 3 2 0.110 –", "model-a 0.11 3 1 0.110 1.0"]


def test_requests_and_tokens_with_totals(tables):
    assert rows(
        tables, "usage", "repository", "model", "LLM requests", "LLM tokens", "embedding requests", "embedding tokens"
    ) == [
        "acme/ui model-a 10 1,000 2 200",
        "acme/ui lab/model-b 20 3,000 4 400",
        "acme/forms lab/model-b 5 500 0 0",
        "all – 35 4,500 6 600",
    ]


@pytest.mark.rule("money-exact")
def test_instance_costs_and_shared_add_up_to_the_ledger(tables):
    """RULES, Money: the costs per instance and `shared` add up to the ledger's sum."""
    assert rows(tables, "instance_costs", "repository", "holder", "requests", "tokens", "cost USD", "seconds") == [
        "acme/ui acme__ui-1 2 220 0.10 1.0",
        "acme/ui shared 1 110 0.01 0.5",
        "all – 3 330 0.11 1.5",
    ]


def test_an_instance_waits_once_for_requests_at_the_same_time(store: Store) -> None:
    """The samples of an answer are requested in parallel. Their times were added, so an agent that asks for ten at once
    seemed as slow as one that asks ten times."""
    fill_ledger(store)
    with closing(Ledger(store.ledger)) as ledger:
        set_times(ledger, "09:00:00", "09:00:01.000", "09:00:01.200")
    frames = analyze.load(store)
    assert frames.predictions["seconds"].dropna().tolist() == [0.7]
    assert instance_costs(frames)["seconds"].tolist() == [0.7, 0.5, 1.2]
