"""`costs.csv` contains the ledger's data in another form."""

from __future__ import annotations

import csv
import threading
from concurrent.futures import ThreadPoolExecutor, wait
from decimal import Decimal
from pathlib import Path

import pytest
from reserving import reserved

from pipeline.core.store import Store
from pipeline.llm import costs
from pipeline.llm.costs import committed, write_costs
from pipeline.llm.ledger import OK, Booking, Key, Ledger, key_hash
from pipeline.llm.prices import Usage

HEADER = "track,repo,model,agent,embed,req_llm,tok_llm,cost_llm_usd,req_emb,tok_emb,cost_emb_usd"


def book(ledger: Ledger, repo: str, settings: str, holder: str, kind: str, cost: str, status: str = OK) -> None:
    whose = (f"{repo}{settings}", repo, "m", "agent", settings, holder)
    hashed = key_hash("".join(whose) + kind + cost)
    ledger.issue(hashed, Key("alias", *whose))
    request = ledger.open(hashed, "e" if kind == "embedding" else "m", kind)
    ledger.book(request, Booking(status, Usage(100, 7), Decimal(cost)))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path)
    ledger = Ledger(store.ledger)
    book(ledger, "o/b", "s1", "i-1", "llm", "0.0000001")
    book(ledger, "o/b", "s1", "i-2", "llm", "0.1")
    book(ledger, "o/b", "s1", "i-2", "llm", "0", status="429")
    book(ledger, "o/b", "s2", "i-1", "llm", "0.2")
    book(ledger, "o/b", "s1", "shared", "embedding", "0.00000000002")
    book(ledger, "o/a", "s1", "i-9", "llm", "3")
    ledger.close()
    return store


def read(store: Store) -> list[dict[str, str]]:
    with store.costs.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def test_one_row_per_repository_model_and_agent(store: Store) -> None:
    write_costs(store)
    rows = [list(row.values()) for row in read(store)]
    assert ",".join(read(store)[0]) == HEADER
    assert rows == [
        ["repair", "o/a", "m", "agent", "", "1", "107", "3", "0", "0", "0"],
        ["repair", "o/b", "m", "agent", "e", "4", "428", "0.3000001", "1", "107", "0.00000000002"],
    ]


@pytest.mark.timeout(60)
def test_costs_are_written_while_all_stages_are_locked(store: Store) -> None:
    """A merge locks them and then writes the costs. It waited for its own lock."""
    write_costs(store)
    with store.still():
        write_costs(store)


@pytest.mark.timeout(60)
def test_of_commands_that_end_together_the_last_one_writes_all_costs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one had read the ledger before the other booked, and overwrote the other's table."""
    write, writes, go_on = costs.write_bytes, threading.Event(), threading.Event()

    def held(path: Path, content: bytes) -> None:
        if not writes.is_set():
            writes.set()
            go_on.wait()
        write(path, content)

    monkeypatch.setattr(costs, "write_bytes", held)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(write_costs, store)
        writes.wait()
        ledger = Ledger(store.ledger)
        book(ledger, "o/c", "s1", "i-1", "llm", "5")
        ledger.close()
        second = pool.submit(write_costs, store)
        wait([second], 1)
        go_on.set()
        first.result(), second.result()
    assert [row["repo"] for row in read(store)] == ["o/a", "o/b", "o/c"]


@pytest.mark.rule("costs-columns")
def test_a_track_has_its_own_rows(store: Store) -> None:
    """A case set of pages may have the name of a repository."""
    ledger = Ledger(store.ledger)
    ledger.issue("p", Key("alias", "x", "o/a", "m", "agent", "s1", "p-1", track="pages"))
    ledger.book(ledger.open("p", "m", "llm"), Booking(OK, Usage(1, 2), Decimal(5)))
    ledger.close()
    write_costs(store)
    assert [(row["track"], row["repo"], row["cost_llm_usd"]) for row in read(store)][:2] == [
        ("pages", "o/a", "5"),
        ("repair", "o/a", "3"),
    ]


@pytest.mark.rule("money-adds-up")
def test_ledger_holders_and_costs_file_have_the_same_sum(store: Store) -> None:
    """Ledger, holders and costs.csv must agree to the last digit, or no cost can be trusted."""
    write_costs(store)
    ledger = Ledger(store.ledger)
    experiments = {row.experiment for row in ledger.rows()}
    by_holder = sum(sum(ledger.per_holder(experiment).values()) for experiment in experiments)
    in_file = sum(Decimal(row["cost_llm_usd"]) + Decimal(row["cost_emb_usd"]) for row in read(store))
    assert ledger.spend() == by_holder == in_file == Decimal("3.30000010002")


def test_without_a_ledger_there_are_no_costs(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert write_costs(store) == []
    assert store.costs.read_text().strip() == HEADER
    assert not store.ledger.exists()


def test_requests_of_unknown_cost_count_towards_a_budget_at_their_worst(store: Store, tmp_path: Path) -> None:
    ledger = Ledger(store.ledger)
    ledger.issue("lost", Key("alias", "o/as1", "o/a", "m", "agent", "s1", "i-9"))
    reserved(ledger, "lost", Decimal(2))
    ledger.lose("o/as1")
    ledger.close()
    assert committed(store.ledger, ["o/as1"]) == 5
    assert committed(store.ledger, ["o/as1", "o/bs2"]) == Decimal("5.2")
    assert committed(tmp_path / "none.sqlite", ["o/as1"]) == 0 and not (tmp_path / "none.sqlite").exists()
