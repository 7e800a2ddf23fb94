"""The ledger: one row per request, exact sums, no keys."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from decimal import Decimal
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from reserving import reserved

from pipeline.core.errors import InfrastructureError, UserError
from pipeline.llm import ledger_file
from pipeline.llm.costs import committed, requests, served, spent_by
from pipeline.llm.embedded import EmbeddedGateway
from pipeline.llm.experiment import Experiment
from pipeline.llm.ledger import (
    BUDGET_EXCEEDED,
    CACHED,
    CAP_LOST,
    CAP_REACHED,
    CUT_OFF,
    LOST,
    OK,
    UNCOUNTED,
    Booking,
    Key,
    Ledger,
    Sent,
    Unaffordable,
    key_hash,
)
from pipeline.llm.models import DEMO, load_models
from pipeline.llm.prices import Price, Usage, is_too_long, usage_of

PRICE = Price(Decimal("0.00000027"), Decimal("0.0000011"), Decimal("0.000000216"), Decimal("0.0000003375"))


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite")


def issue(ledger: Ledger, holder: str, budget: Decimal | None = None, experiment: str = "exp") -> str:
    hashed = key_hash(f"sk-{holder}")
    ledger.issue(hashed, Key(f"alias/{holder}", experiment, "o/r", "m", "agent", "settings", holder, budget))
    return hashed


def spend(ledger: Ledger, hashed: str, usage: Usage) -> None:
    ledger.book(ledger.open(hashed, "m", "llm"), Booking(OK, usage, PRICE.cost(usage), 12))


def test_a_key_is_known_by_its_hash(ledger: Ledger, tmp_path: Path) -> None:
    hashed = issue(ledger, "i-1", Decimal("0.1"))
    assert ledger.key(hashed) == Key("alias/i-1", "exp", "o/r", "m", "agent", "settings", "i-1", Decimal("0.1"))
    assert ledger.key(key_hash("sk-other")) is None


@pytest.mark.invariant(6)
def test_no_key_is_in_the_file(ledger: Ledger, tmp_path: Path) -> None:
    """Data are shared, and a key in them would be published."""
    issue(ledger, "i-1")
    ledger.close()
    assert all(b"sk-i-1" not in path.read_bytes() for path in tmp_path.iterdir())


def test_a_request_is_recorded_before_it_is_booked(ledger: Ledger) -> None:
    hashed = issue(ledger, "i-1")
    ledger.admit(hashed, "gateway")
    request = ledger.open(hashed, "m", "llm")
    assert ledger.open_count("gateway") == 1 and ledger.open_count("other") == 0
    ledger.book(request, Booking(OK, Usage(10, 20), Decimal("0.5"), 7))
    assert ledger.open_count("gateway") == 0
    (row,) = ledger.rows()
    assert (row.holder, row.model, row.kind, row.tokens_in, row.tokens_out) == ("i-1", "m", "llm", 10, 20)
    assert (row.cost_usd, row.latency_ms, row.status) == (Decimal("0.5"), 7, OK)


def test_a_request_is_booked_once(ledger: Ledger) -> None:
    request = ledger.open(issue(ledger, "i-1"), "m", "llm")
    ledger.book(request, Booking(OK, cost_usd=Decimal(2)))
    ledger.book(request, Booking("500", cost_usd=Decimal(3)))
    assert [(row.status, row.cost_usd) for row in ledger.rows()] == [(OK, 2)]


def test_requests_of_another_log_are_recorded_once(ledger: Ledger) -> None:
    """A log is read back many times, and may contain other experiments' requests."""
    sent = Sent("id-1", "2026-01-01T00:00:00+00:00", issue(ledger, "i-1"), "m", "embedding")
    for _ in range(2):
        ledger.record(sent, Booking(OK, Usage(5), Decimal(2), 7))
    ledger.record(sent._replace(id="id-2", key_hash=key_hash("sk-of-somebody")), Booking(OK, cost_usd=Decimal(9)))
    (row,) = ledger.rows()
    assert (row.id, row.time, row.kind, row.tokens_in, row.latency_ms) == ("id-1", sent.time, "embedding", 5, 7)
    assert ledger.spend() == 2


def test_an_unknown_request_is_not_booked(ledger: Ledger) -> None:
    ledger.book("invented", Booking(OK, cost_usd=Decimal(1)))
    assert ledger.rows() == []


def test_requests_that_stay_open_are_lost(ledger: Ledger) -> None:
    """Unless its gateway recorded the answer after all."""
    mine, other = issue(ledger, "i-1"), issue(ledger, "i-2", experiment="other")
    late, _, _ = ledger.open(mine, "m", "llm"), ledger.open(mine, "m", "llm"), ledger.open(other, "m", "llm")
    ledger.lose("exp")
    assert [row.status for row in ledger.rows()] == [LOST, LOST, "open"]
    ledger.book(late, Booking(OK, cost_usd=Decimal(1)))
    assert [row.status for row in ledger.rows()] == [OK, LOST, "open"]


@pytest.mark.rule("money-exact")
def test_sums_are_exact(ledger: Ledger) -> None:
    """Amounts are decimals, never binary floats, and no sum is rounded: 0.1 + 0.2 is 0.3."""
    for holder, count in (("i-1", 37), ("i-2", 11), ("shared", 5)):
        hashed = issue(ledger, holder)
        for number in range(count):
            spend(ledger, hashed, Usage(1000 * number + 1, number, number // 2, number // 3))
    holders = ledger.per_holder("exp")
    assert list(holders) == ["i-1", "i-2", "shared"]
    assert ledger.spend("exp") == ledger.spend() == sum(holders.values())
    assert holders["shared"] == Decimal("0.002712269")
    assert ledger.spend("none") == 0


def test_the_price_of_cached_and_stored_tokens() -> None:
    assert PRICE.cost(Usage(100, 10, 60, 20)) == Decimal("0.00003611")


@pytest.mark.trap("usage-missing-is-free")
@pytest.mark.parametrize(
    "nonsense",
    [
        {"prompt_tokens": -9},
        {"completion_tokens": "many"},
        {"prompt_tokens": True},
        {"prompt_tokens_details": {"cached_tokens": 10}},
        {"completion_tokens_details": {"reasoning_tokens": 5}},
        {"prompt_tokens": 1 << 63},
    ],
)
def test_contradictory_usage_is_ignored(nonsense: dict[str, Any]) -> None:
    """With more cached tokens than the prompt has, the rest of it would have a negative cost."""
    assert usage_of({"prompt_tokens": 9, "completion_tokens": 4, **nonsense}) == Usage()


def test_usage_is_read_from_an_answer() -> None:
    reported = {"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}}
    assert usage_of(reported) == Usage(9, 4, 3, 0)
    assert usage_of({"prompt_tokens": 5, "prompt_tokens_details": None}) == Usage(5)
    assert usage_of(None) == Usage()


def test_threads_and_processes_share_a_ledger(ledger: Ledger, tmp_path: Path) -> None:
    hashed, second = issue(ledger, "i-1"), Ledger(tmp_path / "ledger.sqlite")
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: spend((ledger, second)[number % 2], hashed, Usage(1)), range(200)))
    assert len(ledger.rows()) == 200


def test_a_ledger_without_tracks_counts_as_repair(tmp_path: Path) -> None:
    """Its keys work, its rows are read, and new rows are added, whoever opens it first."""
    path = tmp_path / "ledger.sqlite"
    hashed = issue(Ledger(path), "i-1")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("ALTER TABLE keys DROP COLUMN track")
    with ThreadPoolExecutor(4) as pool:
        ledger = list(pool.map(Ledger, [path] * 8))[-1]
    spend(ledger, hashed, Usage(1, 2))
    pages = Key("alias/p", "exp-p", "forms", "m", "agent", "settings", "p-1", track="pages")
    ledger.issue(key_hash("sk-p"), pages)
    spend(ledger, key_hash("sk-p"), Usage(1, 2))
    assert ledger.key(hashed).track == "repair" and ledger.key(key_hash("sk-p")) == pages
    assert [(row.track, row.repo) for row in ledger.rows()] == [("repair", "o/r"), ("pages", "forms")]


@pytest.mark.rule("keys-end")
def test_a_key_belongs_to_one_gateway_until_it_ends(ledger: Ledger) -> None:
    hashed, other = issue(ledger, "i-1"), issue(ledger, "i-2")
    ledger.admit(hashed, "one")
    ledger.admit(other, "two")
    assert (ledger.is_admitted(hashed, "one"), ledger.is_admitted(hashed, "two")) == (True, False)
    assert ledger.admitted() == {"one": [hashed], "two": [other]}
    ledger.dismiss("one")
    assert not ledger.is_admitted(hashed, "one") and ledger.is_admitted(other, "two")


@pytest.mark.rule("budget")
@pytest.mark.trap("usage-missing-is-free")
def test_unknown_costs_count_at_their_worst(ledger: Ledger) -> None:
    """After a killed gateway, or an answer without usage; recorded costs count as they are."""
    hashed = issue(ledger, "i-1", Decimal(1))
    booked, lost, uncounted = (reserved(ledger, hashed, Decimal(worst)) for worst in ("0.5", "0.25", "0.125"))
    assert ledger.committed("exp") == 0, "under way: it is booked in a moment"
    ledger.book(booked, Booking(OK, Usage(1, 1), Decimal("0.001"), 1))
    ledger.book(uncounted, Booking(UNCOUNTED))
    assert ledger.committed("exp") == Decimal("0.126")
    ledger.lose("exp")
    assert ledger.committed("exp") == Decimal("0.376") and ledger.spend("exp") == Decimal("0.001")
    ledger.book(lost, Booking(OK, Usage(1, 1), Decimal("0.001"), 1))
    assert ledger.committed("exp") == Decimal("0.127")


@pytest.mark.rule("budget")
def test_a_request_is_opened_if_its_worst_fits(ledger: Ledger) -> None:
    """It waits for requests under way, and is refused because of what is spent; both keys share one budget."""
    first, second = issue(ledger, "i-1", Decimal(1)), issue(ledger, "i-2", Decimal(1))
    under_way = reserved(ledger, first, Decimal("0.75"))
    assert reserved(ledger, second, Decimal("0.5"), waits=True) == ""
    with pytest.raises(Unaffordable):
        reserved(ledger, second, Decimal("0.5"))
    ledger.book(under_way, Booking(OK, cost_usd=Decimal("0.5")))
    assert reserved(ledger, second, Decimal("0.5"))
    message = "0.5 of 1 USD are left, and this request may cost 0.75 USD .less if it sets a lower max_tokens"
    with pytest.raises(Unaffordable, match=message) as error:
        reserved(ledger, first, Decimal("0.75"), waits=True)
    assert error.value.limit.cause == BUDGET_EXCEEDED and len(ledger.rows()) == 2


@pytest.mark.rule("budget")
def test_a_cap_applies_to_all_keys_of_one_answer(ledger: Ledger) -> None:
    """Over all keys of the answer; the last refusal of a key tells why it got no answer."""
    described = Key("alias", "exp", "o/r", "m", "agent", "settings", "i-1", Decimal(2), "repair", "answer", Decimal(1))
    for key in ("first", "second", "other"):
        ledger.issue(key, described._replace(answer="another" if key == "other" else "answer"))
    ledger.book(reserved(ledger, "first", Decimal(1)), Booking(OK, cost_usd=Decimal("0.5")))
    with pytest.raises(Unaffordable, match="the cap of alias is reached") as error:
        reserved(ledger, "second", Decimal("0.75"))
    ledger.refuse("second")
    ledger.refuse("second", error.value.limit.cause)
    assert (ledger.refusal("second"), ledger.refusal("first")) == (CAP_REACHED, "")
    assert reserved(ledger, "other", Decimal("0.75"))


@pytest.mark.invariant(4)
def test_a_cap_filled_by_lost_requests_is_not_the_agents_fault(ledger: Ledger) -> None:
    """A killed run left requests at their worst case; an agent that is refused because of them has not failed."""
    described = Key("alias", "exp", "o/r", "m", "agent", "settings", "i-1", None, "repair", "answer", Decimal(1))
    ledger.issue("killed", described)
    ledger.book(reserved(ledger, "killed", Decimal("0.5")), Booking(OK, cost_usd=Decimal("0.25")))
    reserved(ledger, "killed", Decimal("0.5"))
    ledger.lose("exp")
    for worst, cause in (("0.75", CAP_LOST), ("0.76", CAP_REACHED)):
        with pytest.raises(Unaffordable, match="the cap of alias is reached") as error:
            reserved(ledger, "killed", Decimal(worst))
        assert error.value.cause == cause


@pytest.mark.trap("bought-fault")
def test_two_gateways_of_one_experiment_lose_only_their_own_requests(ledger: Ledger) -> None:
    """Two evaluations with one judge, whose experiment is the same: the second lost the first one's open requests."""
    models, asked = load_models(DEMO), Experiment("o/r", "scripted", "judge", "settings")
    given = dict.fromkeys(models.get("scripted").environment, "none")
    first, second = (EmbeddedGateway(models, ledger, given) for _ in range(2))
    request = ledger.open(key_hash(first.issue_key(asked, "i-1")), "scripted", "llm")
    second.issue_key(asked, "i-2")
    second.close()
    assert [row.status for row in ledger.rows()] == ["open"]
    first.close()
    assert [(row.id, row.status) for row in ledger.rows()] == [(request, "lost")]


@pytest.mark.rule("keys-end")
def test_a_killed_gateway_does_not_live(ledger: Ledger) -> None:
    """A proxy with a database ends only the keys of gateways that do not live."""
    first, second = (EmbeddedGateway(load_models(DEMO), ledger, {}) for _ in range(2))
    assert first._lives(second.id) and second._lives(first.id)
    second.close()
    assert not first._lives(second.id)
    first.close()


@pytest.mark.rule("budget")
def test_a_budget_is_exhausted_when_it_refuses_a_request(ledger: Ledger) -> None:
    """Only refusals of this gateway count: a higher budget, or the next gateway, tries again."""
    hashed = issue(ledger, "i-1", Decimal("1.50"))
    ledger.admit(hashed, "gateway")
    ledger.refuse(hashed, CAP_REACHED)
    assert not ledger.is_refused("exp", Decimal("1.50"), "gateway")
    ledger.refuse(hashed)
    assert ledger.is_refused("exp", Decimal("1.50"), "gateway")
    for experiment, budget, gateway in (("exp", "2", "gateway"), ("exp", "1.50", "next"), ("other", "1.50", "gateway")):
        assert not ledger.is_refused(experiment, Decimal(budget), gateway)


def test_the_worst_of_a_request(ledger: Ledger) -> None:
    """No tokenizer makes more tokens than a text has bytes; an answer may be as long as its limit."""
    price = Price(Decimal(1), Decimal(1000), Decimal("0.5"), Decimal("1.25"))
    short = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 3}
    assert Decimal(3000) < price.worst(short, 0, 50) < Decimal(3000) + 200
    del short["max_tokens"]
    assert Decimal(50_000) < price.worst(short, 0, 50) < Decimal(50_200)
    assert price.worst(short, 0, 0) > Decimal(100_000_000)
    assert price.worst({**short, "n": 4}, 0, 50) > 4 * Decimal(50_000)
    assert price.worst({"model": "m", "input": "hello"}, 0, 50) < 100
    assert price.worst({"model": "m", "input": ["hello"] * 100}, 50, 0) > 500, "each text has a context of its own"
    for given in ("hello" * 100, ["hello" * 100], list(range(1000)), [list(range(1000))]):
        assert price.worst({"model": "m", "input": given}, 50, 0) == 50 * Decimal("1.25")


@pytest.mark.trap("bought-fault")
def test_a_request_costs_no_more_than_its_model_can(ledger: Ledger) -> None:
    """Otherwise an agent that asks for a billion tokens would exceed every budget, and end the run for all."""
    price = Price(Decimal(1), Decimal(1000), Decimal("0.5"), Decimal("1.25"))
    odd = {"model": "m", "messages": [{"role": "user", "content": "x" * 10**6}], "max_tokens": 10**9}
    assert price.worst(odd, 1000, 50) == 1000 * Decimal("1.25") + 50_000


@pytest.mark.parametrize(
    ("kind", "status", "has"),
    [("llm", OK, True), ("llm", CUT_OFF, True), ("llm", "400", False), ("embedding", OK, False)],
)
def test_whether_a_model_ever_answered_an_experiment(ledger: Ledger, kind: str, status: str, has: bool) -> None:
    issue(ledger, "i-2", experiment="other")
    hashed = issue(ledger, "i-1")
    ledger.book(ledger.open(hashed, "m", kind), Booking(status))
    assert (ledger.has_answers("exp"), ledger.has_answers("other")) == (has, False)


@pytest.mark.rule("budget")
def test_a_timed_out_request_counts_at_its_worst_for_each_try(ledger: Ledger) -> None:
    """A slow provider is paid for each try: once this was recorded as free, and a budget never ended."""
    hashed = issue(ledger, "i-1", Decimal(10))
    late, failed = (reserved(ledger, hashed, Decimal("0.75")) for _ in range(2))
    ledger.book(late, Booking("408", sends=2), unknown_usd=Decimal("1.5"))
    ledger.book(failed, Booking("500", sends=6))
    assert (ledger.committed("exp"), ledger.spend("exp")) == (Decimal("1.5"), 0)


@pytest.mark.parametrize(
    ("kind", "status", "budget", "answer", "has"),
    [
        ("llm", OK, "1.50", "other", True),
        ("llm", OK, "1.50", "one", False),
        ("llm", OK, "2", "other", False),
        ("llm", CACHED, "1.50", "other", False),
        ("llm", "500", "1.50", "other", False),
        ("embedding", OK, "1.50", "other", False),
    ],
)
def test_whether_a_budget_paid_for_another_answer(
    ledger: Ledger, kind: str, status: str, budget: str, answer: str, has: bool
) -> None:
    """A budget that did is not too small for the model."""
    ledger.issue("k", Key("alias", "exp", "o/r", "m", "agent", "", "i-1", Decimal("1.50"), answer="one"))
    ledger.book(ledger.open("k", "m", kind), Booking(status))
    assert ledger.has_paid("exp", Decimal(budget), answer) == has
    assert not ledger.has_paid("another", Decimal(budget), answer)


@pytest.mark.rule("budget")
def test_an_answer_after_time_outs_keeps_their_possible_cost(ledger: Ledger) -> None:
    hashed = issue(ledger, "i-1", Decimal(10))
    ok, uncounted = (reserved(ledger, hashed, Decimal("0.75")) for _ in range(2))
    ledger.book(ok, Booking(OK, cost_usd=Decimal("0.5"), sends=2), unknown_usd=Decimal("0.75"))
    ledger.book(uncounted, Booking(UNCOUNTED, sends=2), unknown_usd=Decimal("1.5"))
    assert (ledger.committed("exp"), ledger.spend("exp")) == (Decimal("2.75"), Decimal("0.5"))
    assert [row.unknown for row in ledger.rows()] == [1, 1]


@pytest.mark.rule("budget")
@pytest.mark.trap("bought-fault")
def test_a_cap_is_checked_before_the_budget(ledger: Ledger) -> None:
    """A request that exceeded both ended the experiment, so its answer was not evaluated, nor were all others."""
    key = Key("alias", "exp", "o/r", "m", "agent", "settings", "i-1", Decimal(2), "repair", "answer", Decimal(1))
    ledger.issue("k", key)
    ledger.book(reserved(ledger, "k", Decimal(1)), Booking(OK, cost_usd=Decimal("0.5")))
    for worst in ("1.75", "3"):
        with pytest.raises(Unaffordable) as error:
            reserved(ledger, "k", Decimal(worst))
        assert error.value.cause == CAP_REACHED


@pytest.mark.trap("bought-fault")
def test_what_is_too_long_for_a_context() -> None:
    text, picture = "x" * 100_000, {"image_url": {"url": f"data:image/png;base64,{'x' * 100_000}"}}
    for request in ({"input": text}, {"input": ["x", text]}, {"input": [1] * 60}, {"messages": [{"content": text}]}):
        assert is_too_long(request, 50) and not is_too_long(request, 200) and not is_too_long(request, 0)
    assert not is_too_long({"messages": [{"content": [picture]}]}, 50), "a picture is no text"


@pytest.mark.rule("budget")
def test_unknown_costs_of_another_ledger_are_merged(ledger: Ledger, tmp_path: Path) -> None:
    """After a pull or push, a budget includes the requests that were lost there, except those recorded by now."""
    other = Ledger(tmp_path / "other.sqlite")
    hashed = issue(other, "i-1", Decimal(10))
    _, booked = (reserved(other, hashed, Decimal(3)) for _ in range(2))
    other.lose("exp")
    ledger.absorb(tmp_path / "other.sqlite")
    assert ledger.committed("exp") == 6
    other.book(booked, Booking(OK, cost_usd=Decimal(1)))
    ledger.absorb(tmp_path / "other.sqlite")
    assert ledger.committed("exp") == 4


def told(path: Path) -> tuple[list[tuple], Decimal, list[tuple[str, str]]]:
    """A ledger's requests, what counts towards the budget, and which models answered."""
    with closing(Ledger(path)) as ledger:
        rows = [(row.id, row.status, row.cost_usd, row.sends, row.unknown) for row in ledger.rows()]
        return sorted(rows), ledger.committed("exp"), ledger.served("exp")


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Copies of a ledger, made while its requests were under way, lost, cut short and recorded; the last one knows
    most."""
    folder = tmp_path_factory.mktemp("story")
    ledger, copies = Ledger(folder / "ledger.sqlite"), []
    hashed = issue(ledger, "i-1", Decimal(100))
    worsts = {"booked": 1, "paid": 2, "uncounted": 4, "cut": 8, "lost": 16, "told late": 32}
    ids = {name: reserved(ledger, hashed, Decimal(worst)) for name, worst in worsts.items()}

    def copy() -> None:
        copies.append(folder / f"{len(copies)}.sqlite")
        with closing(sqlite3.connect(copies[-1])) as target:
            ledger._db.backup(target)

    copy()
    ledger.book(ids["cut"], Booking(CUT_OFF, sends=1), unknown_usd=Decimal(8))
    ledger.book(ids["told late"], Booking(CUT_OFF, sends=1), unknown_usd=Decimal(32))
    copy()
    ledger.book(ids["booked"], Booking(OK, Usage(1, 1), Decimal("0.25"), sends=1))
    ledger.book(ids["paid"], Booking("408", sends=3), unknown_usd=Decimal(6))
    ledger.book(ids["uncounted"], Booking(UNCOUNTED, sends=1))
    ledger.serve(hashed, "m-1", "fp")
    copy()
    ledger.lose("exp")
    ledger.book(ids["told late"], Booking(OK, Usage(1, 1), Decimal("0.5"), sends=1))
    ledger.close()
    return [*copies, folder / "ledger.sqlite"]


@pytest.mark.rule("budget")
@pytest.mark.rule("money-exact")
@pytest.mark.parametrize("order", list(permutations(range(4))), ids=lambda order: "".join(map(str, order)))
def test_ledgers_can_be_merged_in_any_order(tmp_path: Path, story: list[Path], order: tuple[int, ...]) -> None:
    """If an old copy was merged after a new one, a recorded request became one of unknown cost again, and one that may
    have been paid for three times counted once."""
    path = tmp_path / "ledger.sqlite"
    for place in order:
        with closing(Ledger(path)) as ledger:
            assert ledger.differing(story[place]) == [], "they tell of the same requests"
            ledger.absorb(story[place])
    assert told(path) == told(story[-1])
    assert told(path)[1] == Decimal("0.75") + 3 * 2 + 4 + 8 + 16


def test_contradictory_ledgers_are_detected(tmp_path: Path, story: list[Path]) -> None:
    """One request with two costs, and one key of two experiments: nothing decides which is right."""
    with closing(sqlite3.connect(story[-1])) as source, closing(sqlite3.connect(tmp_path / "other.sqlite")) as target:
        source.backup(target)
        target.execute("UPDATE requests SET cost_usd = '9' WHERE status = 'ok' AND cost_usd = '0.25'")
        target.execute("UPDATE requests SET cost_usd = '9' WHERE status = 'lost'")
        target.execute("UPDATE keys SET experiment = 'another'")
        target.commit()
    with closing(Ledger(story[-1])) as ledger:
        assert [line.split()[0] for line in ledger.differing(tmp_path / "other.sqlite")] == ["keys", "requests"]


@pytest.mark.rule("money-exact")
def test_the_running_total_is_the_sum(tmp_path: Path) -> None:
    """Every request reads the budget: adding up all rows each time would take quadratic time."""
    ledger, other = Ledger(tmp_path / "ledger.sqlite"), Ledger(tmp_path / "ledger.sqlite")
    ledger.issue("k", Key("a", "e", "o/r", "m", "agent", "s", "o__r-1"))
    asked = []
    ledger._db.set_trace_callback(asked.append)
    for place in range(5):
        booked = (ledger, other)[place % 2]
        request = booked.open("k", "m", "llm")
        booked.book(request, Booking("ok", Usage(1, 1), Decimal("0.1")))
        booked.book(request, Booking("ok", Usage(1, 1), Decimal("7")))  # once is enough
        assert ledger.spend("e") == other.spend("e") == Decimal("0.1") * (place + 1) == ledger.spend()
    reckoned = [statement for statement in asked if statement.startswith("SELECT cost_usd FROM requests JOIN keys")]
    assert len(reckoned) == 1, "it is reckoned once, and kept"
    another = Ledger(tmp_path / "another.sqlite")
    another.issue("l", Key("a", "e", "o/r", "m", "agent", "s", "o__r-2"))
    another.book(another.open("l", "m", "llm"), Booking("ok", Usage(1, 1), Decimal("3")))
    ledger.absorb(tmp_path / "another.sqlite")
    assert ledger.spend("e") == Decimal("3.5")


# -- files that are only read, and files that are no ledger ----------------------------------------------------------
@pytest.fixture
def frozen(tmp_path: Path) -> Iterator[Path]:
    """A ledger with a request, in a folder that is not writable."""
    path = tmp_path / "frozen" / "ledger.sqlite"
    with closing(Ledger(path)) as ledger:
        spend(ledger, issue(ledger, "i-1"), Usage(1000, 10))
    path.parent.chmod(0o555)
    path.chmod(0o444)
    yield path
    path.parent.chmod(0o755)


@pytest.mark.trap("reading-writes")
def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    """Not even a running total, or the columns of an older version's ledger."""
    path = tmp_path / "ledger.sqlite"
    with closing(Ledger(path)) as ledger:
        spend(ledger, issue(ledger, "i-1"), Usage(1000, 10))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("ALTER TABLE requests DROP COLUMN sends")
    before = path.read_bytes()
    assert [row.sends for row in requests(path)] == [0]
    assert spent_by(path, ["exp"]) == committed(path, ["exp"]) == PRICE.cost(Usage(1000, 10))
    assert served(path, "exp") == []
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


@pytest.mark.trap("reading-writes")
def test_a_reader_sees_what_a_writer_has_booked(ledger: Ledger) -> None:
    """Including rows that are still in the journal, while the file is open."""
    spend(ledger, issue(ledger, "i-1"), Usage(1000, 10))
    assert len(requests(ledger.path)) == 1
    spend(ledger, issue(ledger, "i-2"), Usage(1000, 10))
    assert len(requests(ledger.path)) == 2


@pytest.mark.trap("reading-writes")
def test_a_folder_that_cannot_be_written_is_read(frozen: Path) -> None:
    """A published copy, or somebody else's data. Root could write anyway, so another process reads."""
    program = (
        "import sys, pathlib; from pipeline.llm.costs import requests; print(len(requests(pathlib.Path(sys.argv[1]))))"
    )
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner"] if os.geteuid() == 0 else []
    asked = subprocess.run([*drop, sys.executable, "-c", program, frozen], capture_output=True, text=True)
    assert (asked.stdout, asked.stderr) == ("1\n", "")
    assert list(frozen.parent.iterdir()) == [frozen]


def _foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE songs (title TEXT)")


def _of_other_columns(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        db.executescript("CREATE TABLE keys (title TEXT); CREATE TABLE requests (title TEXT)")


def _of_cost(cost: str) -> Callable[[Path], None]:
    def make(path: Path) -> None:
        with closing(Ledger(path)) as ledger, ledger._db as db:
            spend(ledger, issue(ledger, "i-1"), Usage(1, 1))
            db.execute("UPDATE requests SET cost_usd = ?", (cost,))

    return make


BROKEN: dict[str, Callable[[Path], object]] = {
    "directory": Path.mkdir,
    "empty": Path.touch,
    "other tables": _foreign,
    "other columns": _of_other_columns,
    "link that leads nowhere": lambda path: path.symlink_to("nowhere"),
    "link to itself": lambda path: path.symlink_to(path.name),
    **{f"cost {cost}": _of_cost(cost) for cost in ("abc", "", "-1", "nan", "1E999999")},
}


@pytest.mark.trap("ledger-unreadable")
@pytest.mark.parametrize("ask", [requests, lambda path: spent_by(path, ["exp"]), lambda path: Ledger(path).rows()])
@pytest.mark.parametrize("name", BROKEN)
def test_an_invalid_ledger_is_refused(tmp_path: Path, name: str, ask: Callable[[Path], object]) -> None:
    """Without a traceback, and without the claim that nothing was spent."""
    path = tmp_path / "ledger.sqlite"
    BROKEN[name](path)
    with pytest.raises(UserError, match="the ledger cannot be read") as error:
        ask(path)
    assert error.value.path == path and "earlier spending no longer counts" in str(error.value)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.trap("ledger-unreadable")
def test_a_ledger_with_a_text_that_is_not_utf_8_is_refused(ledger: Ledger) -> None:
    """SQLite has no code for this error. It was a traceback."""
    spend(ledger, issue(ledger, "i-1"), Usage(1, 1))
    with ledger._db as db:
        db.execute("UPDATE keys SET holder = CAST(x'ff' AS TEXT)")
    with pytest.raises(UserError, match="the ledger cannot be read: Could not decode to UTF-8"):
        requests(ledger.path)


def test_a_ledger_that_another_program_holds_is_in_use(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """Database browsers hold a lock. This was a traceback."""
    monkeypatch.setattr(ledger_file, "PATIENCE", 0.1)
    with closing(sqlite3.connect(ledger.path)) as other, closing(Ledger(ledger.path)) as ours:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(InfrastructureError, match="is in use") as error:
            issue(ours, "i-1")
    assert error.value.cause == "ledger"


def test_two_processes_that_make_a_ledger_share_it(tmp_path: Path) -> None:
    """There is never a file without tables."""
    path = tmp_path / "ledger.sqlite"
    with ThreadPoolExecutor(8) as threads:
        for place, ledger in enumerate(threads.map(Ledger, [path] * 8)):
            issue(ledger, f"i-{place}")
            ledger.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM keys").fetchone() == (8,)
    assert [file.name for file in tmp_path.iterdir() if file.name.startswith(".")] == []
