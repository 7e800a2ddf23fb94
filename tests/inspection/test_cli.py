"""Runs listed, shown, compared and removed; one instance with gold and answers; the report."""

from __future__ import annotations

import json
import re
from decimal import Decimal

import pytest
from click.testing import CliRunner
from factories import REPO, make_instance, make_prediction, make_verdict
from inspection.conftest import SPOKEN, TIME

from pipeline.core.errors import UserError
from pipeline.core.records import Outcome
from pipeline.core.store import Store, of_attempt, write_bytes, write_json, write_records
from pipeline.inspection import cli, instance, report
from pipeline.llm.ledger import Booking, Key, Ledger
from pipeline.llm.prices import Usage


def said(command: object, store: Store, *words: str) -> str:
    return CliRunner().invoke(command, [*words, "--data", str(store.root)], catch_exceptions=False).output


def test_runs_are_listed_with_their_cost(store: Store) -> None:
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


def test_an_older_run_has_a_name_that_the_other_commands_take(store: Store) -> None:
    """In JSON, the name was followed by "(older)", which `runs show` refused."""
    older = "20230101T000000Z"
    path = store.predictions(REPO, "magentless", "model-a") / older / "predictions.jsonl"
    write_records(path, [make_prediction(1, run=older)])
    rows = json.loads(said(cli.command, store, "list", "--json"))
    found = {row["run"]: row["newest"] for row in rows if row["agent"] == "magentless"}
    assert found == {older: False, TIME: True}
    assert said(cli.command, store, "show", older).startswith(f"magentless/{REPO.slug}/model-a/{older}")
    assert f"{older} (older)" in said(cli.command, store, "list").replace("\n", "")


def test_an_unreadable_run_does_not_hide_others(store: Store) -> None:
    path = store.predictions(REPO, "magentless", "model-a") / TIME / "run.json"
    path.write_text("{")
    done = CliRunner().invoke(cli.command, ["list", "--json", "--data", str(store.root)], catch_exceptions=False)
    assert [row["agent"] for row in json.loads(done.stdout)] == ["magentless@greedy"]
    assert f"left out, since it cannot be read: {path}:1: invalid JSON" in done.stderr


def test_predictions_made_elsewhere_have_no_cost(store: Store) -> None:
    """Without ledger entries, the cost was shown as "0.0000", like that of a free answer."""
    prediction = make_prediction(1, agent="theirs", run=TIME)
    write_records(store.predictions(REPO, "theirs", "model-a") / TIME / "predictions.jsonl", [prediction])
    rows = json.loads(said(cli.command, store, "list", "--json"))
    assert [row["USD"] for row in rows if row["agent"] == "theirs"] == ["-"]


def test_predictions_made_elsewhere_have_no_outcome_of_their_own(store: Store) -> None:
    """The table said "answered ()"."""
    prediction = make_prediction(1, agent="theirs", run=TIME).model_copy(update={"outcome": ""})
    write_records(store.predictions(REPO, "theirs", "model-a") / TIME / "predictions.jsonl", [prediction])
    shown = said(cli.command, store, "show", "theirs")
    assert "answered" in shown and "()" not in shown


def test_a_run_is_shown_with_its_settings(store: Store) -> None:
    shown = said(cli.command, store, "show", "magentless@greedy")
    assert "top = 1" in shown and "resolved" in shown


def test_two_runs_are_compared(store: Store) -> None:
    text = said(cli.command, store, "compare", "magentless", "magentless@greedy")
    assert "1 instance with different outcomes, 0 with the same" in text
    assert "top = 5" in text and "top = 1" in text


def test_every_attempt_that_both_runs_have_is_compared(store: Store) -> None:
    """Only the first attempts used to be compared, without a message."""
    for agent, numbers in (("magentless", (2, 3)), ("magentless@greedy", (2,))):
        folder = store.predictions(REPO, agent, "model-a") / TIME
        for number in numbers:
            prediction = make_prediction(1, agent=agent, run=TIME, attempt=number)
            write_records(of_attempt(folder, number) / "predictions.jsonl", [prediction])
            verdict = make_verdict(prediction, Outcome.RESOLVED)
            write_records(of_attempt(store.evaluation(REPO, agent, "model-a"), number) / "verdicts.jsonl", [verdict])
    text = said(cli.command, store, "compare", "magentless", "magentless@greedy")
    assert "1 attempt with different outcomes, 1 with the same" in text and "attempt 2" not in text
    write_records(of_attempt(store.evaluation(REPO, "magentless", "model-a"), 2) / "verdicts.jsonl", [])
    text = said(cli.command, store, "compare", "magentless", "magentless@greedy")
    assert "2 attempts with different outcomes, 0 with the same" in text and "attempt 2" in text


def test_two_runs_of_one_agent_and_model_are_compared_on_common_verdicts(store: Store) -> None:
    """The older run has no verdicts any more, so every instance seemed to differ."""
    later = make_prediction(1, agent="magentless", run="20250506T070809Z")
    folder = store.predictions(REPO, "magentless", "model-a") / later.run
    write_records(folder / "predictions.jsonl", [later])
    write_records(store.evaluation(REPO, "magentless", "model-a") / "verdicts.jsonl", [make_verdict(later)])
    older = f"magentless/{REPO.slug}/model-a/{TIME}"
    text = said(cli.command, store, "compare", older, "magentless")
    assert f"{older} has no verdicts" in text
    assert "0 instances with different outcomes, 1 with the same" in text


@pytest.mark.parametrize("lock", [("predict", "magentless"), ("evaluate", "magentless@greedy")])
def test_a_locked_run_is_not_removed(store: Store, lock: tuple[str, str]) -> None:
    """All named settings of an agent and model share one lock for predicting, since they share answers."""
    stage, agent = lock
    with store.lock(stage, REPO, agent, "model-a"), pytest.raises(UserError):
        said(cli.command, store, "remove", "magentless@greedy")


@pytest.mark.rule("nothing-overwritten")
def test_a_removed_run_is_archived_with_its_verdicts(store: Store) -> None:
    said(cli.command, store, "remove", "magentless@greedy")
    assert len(json.loads(said(cli.command, store, "list", "--json"))) == 1
    archived = [path.name for path in store.archive_root.rglob("*.jsonl")]
    assert sorted(archived) == ["predictions.jsonl", "verdicts.jsonl"]


@pytest.mark.rule("bad-input")
def test_an_unknown_or_ambiguous_run_is_refused(store: Store) -> None:
    with pytest.raises(UserError, match="unknown run 'nobody'"):
        said(cli.command, store, "show", "nobody")
    with pytest.raises(UserError, match="names several runs"):
        said(cli.command, store, "show", TIME)


def test_gold_and_answers_side_by_side(store: Store) -> None:
    place = store.answers(REPO, REPO.instance_id(1), "answer-magentless") / "trajectory.jsonl"
    write_bytes(
        place, json.dumps({"messages": [{"role": "user", "content": "where\u2028is it"}]}, ensure_ascii=False).encode()
    )
    shown = said(instance.command, store, "acme/ui#1", "--agent", "magentless", "--trajectory")
    assert "gold" in shown and "magentless with model-a" in shown and "where\u2028is it" in shown
    assert "greedy" not in shown
    with pytest.raises(UserError, match="unknown instance"):
        said(instance.command, store, "acme/ui#9")
    assert "no answer yet" in said(instance.command, store, "acme/ui#2")


@pytest.mark.invariant(5)
def test_control_sequences_of_models_and_issues_are_escaped(assessed: Store) -> None:
    """Such sequences can write to the clipboard, or change earlier output."""
    evil = "\x1b]52;c;AA\x07\x9b2J"
    (issue,) = make_instance(1).resolved_issues
    titled = make_instance(1, resolved_issues=(issue.model_copy(update={"body": evil}),), fix_patch=f"+{evil}\n")
    write_records(assessed.dataset(REPO), [titled])
    prediction = make_prediction(1, run=TIME, answer="answer-magentless", model_patch=f"+{evil}\n", outcome=evil)
    write_records(assessed.predictions(REPO, "magentless", "model-a") / TIME / "predictions.jsonl", [prediction])
    talk = json.dumps({"messages": [{"role": "assistant", "content": evil}]}).encode()
    write_bytes(assessed.answers(REPO, REPO.instance_id(1), "answer-magentless") / "trajectory.jsonl", talk)
    words = ["acme/ui#1", "--agent", "magentless", "--trajectory", "--data", str(assessed.root)]
    for command, others in ((instance.command, words), (cli.command, ["show", "magentless", *words[-2:]])):
        shown = CliRunner().invoke(command, others, catch_exceptions=False, color=True).output
        assert not re.search("[\x07\x9b]|\x1b(?!\\[[0-9;]*m)", shown)
    assert "\\x1b]52;c;AA\\x07\\x9b2J" in said(instance.command, assessed, *words[:4])


def test_brackets_in_a_name_are_no_markup(store: Store) -> None:
    """The name of such a model ended the command in a traceback, or was shown without them."""
    prediction = make_prediction(1, agent="theirs", model_name_or_path="m[q4][/q4]", run=TIME)
    write_records(store.predictions(REPO, "theirs", "m[q4][/q4]") / TIME / "predictions.jsonl", [prediction])
    write_json(
        store.predictions(REPO, "theirs", "m[q4][/q4]") / TIME / "run.json", {"agent": "theirs", "model": "m[q4][/q4]"}
    )
    assert "theirs with m[q4][/q4]" in said(instance.command, store, "acme/ui#1", "--agent", "theirs")


def test_a_missing_answer_is_refused_with_the_available_ones(store: Store) -> None:
    """A second attempt that does not exist was shown as "no answer yet"."""
    available = "available: magentless with model-a (attempt 1), magentless@greedy with model-a (attempt 1)"
    for words in (("--agent", "nobody"), ("--model", "model-0"), ("--attempt", "2")):
        shown = CliRunner().invoke(instance.command, ["acme/ui#1", *words, "--data", str(store.root)])
        assert (shown.exit_code, f"no such answer; {available}" in shown.output) == (1, True)


def test_references_are_shown_if_they_are_named(store: Store) -> None:
    """Next to gold, the gold patch and an empty one say nothing new."""
    prediction = make_prediction(1, agent="oracle", model_name_or_path="oracle", run=TIME)
    write_records(store.predictions(REPO, "oracle", "oracle") / TIME / "predictions.jsonl", [prediction])
    assert "oracle" not in said(instance.command, store, "acme/ui#1")
    assert "oracle/acme__ui/oracle" in said(instance.command, store, "acme/ui#1", "--agent", "oracle")


def test_a_missing_report_is_refused_and_an_existing_one_is_named(store: Store) -> None:
    with pytest.raises(UserError, match="there is no report"):
        said(report.command, store, "--print")
    write_bytes(store.analysis / "report.html", b"<html>")
    assert said(report.command, store, "--print").strip() == str(store.analysis / "report.html")


def test_screen_reader_output_is_shown(assessed: Store) -> None:
    """For base, gold and answer, if the run was assessed."""
    shown = said(instance.command, assessed, str(make_instance(1).instance_id), "--agent", "magentless")
    assert "shows [x]" in shown and all(phrase in shown for phrase in (*SPOKEN.base, *SPOKEN.gold, *SPOKEN.patch))
