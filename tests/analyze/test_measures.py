"""Every table against the small data directory of conftest, counted by hand."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import pytest

from pipeline import analyze
from pipeline.analyze.columns import COLUMNS
from pipeline.analyze.measures import TABLES, shown
from pipeline.core.records import Outcome
from tests.analyze.conftest import UI, add_run, add_verdicts, fill_ledger
from tests.factories import make_prediction, make_verdict


@pytest.fixture
def tables(store):
    fill_ledger(store)
    return analyze.tables(analyze.load(store))


def rows(table: pd.DataFrame, *columns: str) -> list[tuple]:
    """The table as people see it."""
    return list(shown(table[list(columns)]).itertuples(index=False, name=None))


def test_every_table_is_made_with_the_columns_of_the_dictionary(tables):
    assert list(tables) == [table.name for table in TABLES]
    for name, table in tables.items():
        assert list(table.columns) == [column.name for column in COLUMNS[f"tables/{name}"]]


def test_funnel_counts_and_totals(tables):
    columns = ("repo", "total", "tests", "a11y", "issues", "sample", "without_issue")
    assert rows(tables["funnel"], *columns) == [
        ("acme/forms", 1, 1, 1, 1, 1, 0),
        ("acme/ui", 7, 5, 4, 4, 4, 1),
        ("all", 8, 6, 5, 5, 5, 1),
    ]


def test_qualification_says_what_is_pending(tables):
    columns = ("repo", "candidates", "qualified", "rejected", "pending", "qualified_pct")
    assert rows(tables["qualification"], *columns) == [
        ("acme/forms", 1, 1, 0, 0, 100.0),
        ("acme/ui", 5, 3, 1, 1, 75.0),
        ("all", 6, 4, 1, 1, 80.0),
    ]


def test_rejections_by_reason(tables):
    assert rows(tables["rejections"], "stage", "reason", "repo", "pull_requests") == [
        ("collect", "no_test_changes", "acme/ui", 2),
        ("build", "regression", "acme/ui", 1),
    ]


@pytest.mark.trap("denominator")
def test_every_instance_is_in_the_denominator(tables):
    """TRAPS: instances without a prediction vanish from the denominator."""
    columns = ("model", "repo", "instances", "evaluated", "resolved", "resolved_pct")
    assert rows(tables["resolution"], *columns) == [
        ("lab/model-b", "acme/forms", 1, 1, 1, 100.0),
        ("lab/model-b", "acme/ui", 3, 1, 1, 33.3),
        ("lab/model-b", "all", 4, 2, 2, 50.0),
        ("model-a", "acme/ui", 3, 3, 1, 33.3),
        ("model-a", "all", 4, 3, 1, 25.0),
    ]


@pytest.mark.invariant(4)
def test_what_is_not_evaluated_is_no_failure_and_marks_the_run_incomplete(tables):
    """Invariant 4: an infrastructure fault stays in the accounting as not evaluated, and is no model's failure."""
    assert rows(tables["resolution"], "model", "repo", "resolved_of_evaluated_pct", "incomplete") == [
        ("lab/model-b", "acme/forms", 100.0, "no"),
        ("lab/model-b", "acme/ui", 100.0, "yes"),
        ("lab/model-b", "all", 100.0, "yes"),
        ("model-a", "acme/ui", 33.3, "no"),
        ("model-a", "all", 33.3, "yes"),
    ]


def test_nothing_evaluated_is_an_unknown_rate_and_not_zero(store):
    prediction = make_prediction(1, agent="other")
    add_run(store, UI, [prediction])
    add_verdicts(store, UI, [make_verdict(prediction, Outcome.NOT_EVALUATED, cause="engine")])
    table = analyze.tables(analyze.load(store, "acme/ui"))["resolution"]
    other = table[table["agent"] == "other"]
    assert rows(other, "evaluated", "resolved_pct", "resolved_of_evaluated_pct") == [(0, 0.0, "–")]


def test_outcomes_add_up_to_the_dataset(tables):
    table = tables["outcomes"]
    assert rows(table, "model", "resolved", "unresolved", "empty", "not_evaluated") == [
        ("lab/model-b", 2, 0, 0, 2),
        ("model-a", 1, 1, 1, 1),
    ]
    assert table[[outcome.value for outcome in Outcome]].sum(axis="columns").tolist() == [4, 4]


def test_principles_over_criteria_and_over_instances(tables):
    assert rows(tables["principles"], "principle", "criteria", "instances", "criteria_pct", "instances_pct") == [
        ("perceivable", 2, 1, 50.0, 25.0),
        ("operable", 1, 1, 25.0, 25.0),
        ("robust", 1, 1, 25.0, 25.0),
        ("unassigned", 0, 2, 0.0, 50.0),
    ]


def test_results_by_principle(tables):
    columns = ("model", "principle", "criteria_resolved", "instances_resolved", "criteria_resolved_pct")
    assert rows(tables["principle_results"], *columns) == [
        ("lab/model-b", "perceivable", 2, 1, 100.0),
        ("lab/model-b", "operable", 0, 0, 0.0),
        ("lab/model-b", "robust", 1, 1, 100.0),
        ("lab/model-b", "unassigned", 0, 1, "–"),
        ("model-a", "perceivable", 2, 1, 100.0),
        ("model-a", "operable", 0, 0, 0.0),
        ("model-a", "robust", 1, 1, 100.0),
        ("model-a", "unassigned", 0, 0, "–"),
    ]


@pytest.mark.rule("money-exact")
def test_costs_add_up_exactly(tables):
    """RULES, Money: amounts are decimals; as binary floats 0.10 + 0.20 is not 0.30."""
    table = tables["costs"]
    assert rows(table, "repo", "cost_llm_usd", "cost_emb_usd", "cost_usd", "llm_pct") == [
        ("acme/ui", "0.10", "0.01", "0.11", 90.9),
        ("acme/ui", "0.20", "0.02", "0.22", 90.9),
        ("acme/forms", "0.00", "0", "0.00", "–"),
        ("all", "0.30", "0.03", "0.33", 90.9),
    ]
    assert all(isinstance(cost, Decimal) for cost in table["cost_usd"])


@pytest.mark.rule("money-exact")
def test_instance_costs_and_shared_add_up_to_the_ledger(tables):
    """RULES, Money: per-instance costs, with `shared`, are the ledger's sum."""
    assert rows(tables["instance_costs"], "repo", "holder", "requests", "tokens", "cost_usd") == [
        ("acme/ui", "shared", 1, 110, "0.01"),
        ("acme/ui", "acme__ui-1", 2, 220, "0.10"),
        ("all", "–", 3, 330, "0.11"),
    ]
