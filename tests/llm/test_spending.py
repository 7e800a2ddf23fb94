"""What each experiment spent, as a table and as data, and the check that all sums agree."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner
from llm.test_costs import book
from reserving import reserved

from pipeline.core.errors import A11yBenchError
from pipeline.core.store import Store
from pipeline.costs import command
from pipeline.llm.costs import write_costs
from pipeline.llm.ledger import CACHED, UNCOUNTED, Booking, Ledger
from pipeline.llm.spending import check, spending


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    ledger = Ledger(store.ledger)
    book(ledger, "o/b", "s1", "i-1", "llm", "0.1")
    book(ledger, "o/b", "s1", "i-2", "llm", "0.2")
    book(ledger, "o/b", "s1", "i-2", "llm", "0", status="429")
    book(ledger, "o/b", "s1", "i-1", "llm", "0.0", status=CACHED)
    book(ledger, "o/b", "s1", "shared", "embedding", "0.00000000002")
    book(ledger, "o/b", "s2", "i-1", "llm", "3")
    ledger.close()
    write_costs(store)
    return store


def test_requests_of_unknown_cost_are_counted(store: Store) -> None:
    """They count as 0 in every sum, but are not free."""
    ledger = Ledger(store.ledger)
    hashed = next(iter(ledger._db.execute("SELECT key_hash FROM keys")))[0]
    ledger.book(reserved(ledger, hashed, Decimal(3)), Booking(UNCOUNTED, sends=2))
    reserved(ledger, hashed, Decimal(3))
    first, _ = spending(store)
    assert (first.unknown, first.sent) == (1, 2)


def test_an_experiment_has_its_holders(store: Store) -> None:
    first, second = spending(store)
    assert (first.repo, first.model, first.agent, first.requests, first.failed) == ("o/b", "m", "agent", 5, 1)
    assert {holder: str(cost) for holder, cost in first.holders.items()} == {
        "i-1": "0.1",
        "i-2": "0.2",
        "shared": "2E-11",
    }
    assert (str(first.cost_usd), str(second.cost_usd)) == ("0.30000000002", "3")


@pytest.mark.rule("money-adds-up")
def test_the_command_fails_if_sums_disagree(store: Store) -> None:
    """Whoever pays must not be the first to find a difference."""
    shown = CliRunner().invoke(command, ["--json", "--data", str(store.root)], catch_exceptions=False)
    assert [row["cost_usd"] for row in json.loads(shown.output)] == ["0.30000000002", "3"]
    check(store, spending(store))
    store.costs.write_text(store.costs.read_text().replace("3.3", "3.4"))
    with pytest.raises(A11yBenchError, match="costs.csv has 3.40000000002"):
        check(store, spending(store))


def test_amounts_are_digits_in_the_table(store: Store) -> None:
    shown = CliRunner().invoke(command, ["--data", str(store.root)], catch_exceptions=False).output
    assert "0.00000000002" in shown and "E-" not in shown


def test_without_a_ledger_nothing_was_spent(tmp_path: Path) -> None:
    shown = CliRunner().invoke(command, ["--json", "--data", str(tmp_path)], catch_exceptions=False)
    assert (shown.exit_code, json.loads(shown.output)) == (0, [])
    assert list(tmp_path.iterdir()) == []
