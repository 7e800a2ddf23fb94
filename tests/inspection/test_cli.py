"""Runs listed, shown, compared and removed; one instance with gold and answers; the report."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from click.testing import CliRunner
from factories import REPO, make_instance, make_prediction, make_verdict

from pipeline.core.assessment import Assessment, SnapshotVerdict, Spoken
from pipeline.core.errors import UserError
from pipeline.core.records import Outcome
from pipeline.core.store import Store, write_bytes, write_json, write_records
from pipeline.inspection import cli, instance, report
from pipeline.llm.ledger import Booking, Key, Ledger
from pipeline.llm.prices import Usage

TIME = "20240506T070809Z"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two settings of one agent: the named one resolves what the other does not."""
    store = Store(tmp_path)
    write_records(store.dataset(REPO), [make_instance(1), make_instance(2)])
    for agent, outcome, top in (("magentless", Outcome.UNRESOLVED, 5), ("magentless@greedy", Outcome.RESOLVED, 1)):
        prediction = make_prediction(1, agent=agent, run=TIME, answer=f"answer-{agent}")
        folder = store.predictions(REPO, agent, "model-a") / TIME
        write_records(folder / "predictions.jsonl", [prediction])
        shaped = {"settings_text": f"samples = 2\ntop = {top}\n", "version": "1"}
        about = {"agent": agent, "model": "model-a", "experiment": agent, "shaped_by": shaped}
        write_json(folder / "run.json", about)
        verdicts = store.evaluation(REPO, agent, "model-a") / "verdicts.jsonl"
        write_records(verdicts, [make_verdict(prediction, outcome)])
    return store


def said(command: object, store: Store, *words: str) -> str:
    return CliRunner().invoke(command, [*words, "--data", str(store.root)], catch_exceptions=False).output


def test_runs_are_listed_with_what_they_cost(store: Store) -> None:
    ledger = Ledger(store.ledger)
    key = Key("a", "magentless", str(REPO), "model-a", "magentless", "s", "x", None, "repair", "answer-magentless")
    ledger.issue("k", key)
    ledger.book(ledger.open("k", "model-a", "llm"), Booking("ok", Usage(1, 1), Decimal("0.25"), 1))
    ledger.close()
    rows = json.loads(said(cli.command, store, "list", "--json"))
    assert [(row["agent"], row["resolved"], row["USD"]) for row in rows] == [
        ("magentless", "0 of 1", "0.2500"),
        ("magentless@greedy", "1 of 1", "0.0000"),
    ]


def test_a_run_says_what_shaped_it(store: Store) -> None:
    shown = said(cli.command, store, "show", "magentless@greedy")
    assert "top = 1" in shown and "resolved" in shown


def test_two_runs_are_compared(store: Store) -> None:
    text = said(cli.command, store, "compare", "magentless", "magentless@greedy")
    assert "1 instances ended differently, 0 the same" in text
    assert "top = 5" in text and "top = 1" in text


@pytest.mark.rule("nothing-overwritten")
def test_what_is_removed_is_archived_with_its_verdicts(store: Store) -> None:
    said(cli.command, store, "remove", "magentless@greedy")
    assert len(json.loads(said(cli.command, store, "list", "--json"))) == 1
    archived = [path.name for path in store.archive_root.rglob("*.jsonl")]
    assert sorted(archived) == ["predictions.jsonl", "verdicts.jsonl"]


@pytest.mark.rule("bad-input")
def test_a_run_that_is_not_there_or_not_alone_is_said(store: Store) -> None:
    with pytest.raises(UserError, match="unknown run 'nobody'"):
        said(cli.command, store, "show", "nobody")
    with pytest.raises(UserError, match="names several runs"):
        said(cli.command, store, "show", TIME)


def test_gold_and_answers_side_by_side(store: Store) -> None:
    place = store.answers(REPO, REPO.instance_id(1), "answer-magentless") / "trajectory.jsonl"
    write_bytes(place, json.dumps({"messages": [{"role": "user", "content": "where is it"}]}).encode())
    shown = said(instance.command, store, "acme/ui#1", "--agent", "magentless", "--trajectory")
    assert "gold" in shown and "magentless with model-a" in shown and "where is it" in shown
    assert "greedy" not in shown
    with pytest.raises(UserError, match="unknown instance"):
        said(instance.command, store, "acme/ui#9")


def test_the_report_is_opened_where_there_is_one(store: Store) -> None:
    with pytest.raises(UserError, match="there is no report"):
        said(report.command, store, "--print")
    write_bytes(store.analysis / "report.html", b"<html>")
    assert said(report.command, store, "--print").strip() == str(store.analysis / "report.html")


def test_what_a_screen_reader_says_is_shown(store: Store) -> None:
    """Of base, gold and answer, where the run was assessed."""
    spoken = Spoken(base=("button, Lamp",), gold=("switch, Lamp",), patch=("[checkbox], Lamp", "off"))
    seen = SnapshotVerdict(likeness="a11y-different", tests={}, spoken={"shows [x]": spoken})
    whose = {"agent": "magentless", "model": "model-a", "run": TIME, "patch_digest": "", "image": ""}
    about = {"instance_id": make_instance(1).instance_id, "resolved": False, "resolved_equivalent": False, **whose}
    path = store.evaluation(REPO, "magentless", "model-a") / "assessments.jsonl"
    write_records(path, [Assessment(**about, snapshot=seen)])
    shown = said(instance.command, store, str(make_instance(1).instance_id), "--agent", "magentless")
    assert "shows [x]" in shown and all(phrase in shown for phrase in (*spoken.base, *spoken.gold, *spoken.patch))
