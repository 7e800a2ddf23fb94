"""Likely costs, estimated from earlier answers."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

from factories import REPO

from pipeline.campaign.plan import OF_BUILD, RUNS, TYPICAL_SIZE, History, Step, disk, sums
from pipeline.core.store import Store, write_json
from pipeline.llm.experiment import Experiment
from pipeline.llm.ledger import OK, Booking, Key, Ledger
from pipeline.llm.models import DEMO, load_models
from pipeline.llm.prices import Usage

RUN = {"inputs": {}, "finished": "", "result": {"seconds": {"tests": 8.0, "falsified": 4.0}}}
MODEL = """\
model_list:
  - model_name: thinker
    litellm_params: {model: openai/thinker}
    model_info:
      mode: chat
      input_cost_per_token: "1"
      output_cost_per_token: "10"
      cache_read_input_token_cost: "0.5"
      output_cost_per_reasoning_token: "100"
"""


def finish(store: Store, answer: str) -> None:
    write_json(store.answers(REPO, "acme__ui-1", answer) / "manifest.json", {"inputs": {}, "finished": ""})


def test_only_finished_answers_count(tmp_path: Path) -> None:
    """A provider that failed after the first requests made answers look cheap."""
    store, asked = Store(tmp_path), Experiment(str(REPO), "other", "magentless")
    ledger = Ledger(store.ledger)
    for key, answer, cost in (("one", "first", 4), ("two", "first", 2), ("three", "failed", 1)):
        ledger.issue(key, Key(key, asked.id, asked.repo, "other", "magentless", "", "acme__ui-1", answer=answer))
        ledger.book(ledger.open(key, "other", "llm"), Booking(OK, cost_usd=Decimal(cost)))
    ledger.close()
    model = load_models(DEMO).get("scripted")
    assert History(store).likely(asked, model) == (None, None)
    finish(store, "first")
    assert History(store).likely(asked, model)[0] == 6


def test_answers_of_another_model_are_priced_with_all_their_tokens(tmp_path: Path) -> None:
    """Reasoning tokens can have a price of their own."""
    (tmp_path / "models.yaml").write_text(MODEL)
    store, earlier = Store(tmp_path / "data"), Experiment(str(REPO), "other", "magentless")
    ledger = Ledger(store.ledger)
    ledger.issue("key", Key("alias", earlier.id, earlier.repo, "other", "magentless", "", "acme__ui-1", answer="first"))
    usage = Usage(tokens_in=20, tokens_out=5, tokens_cached=10, tokens_reasoning=3)
    ledger.book(ledger.open("key", "other", "llm"), Booking(OK, usage, Decimal(7), latency_ms=2000))
    ledger.close()
    finish(store, "first")
    model = load_models(tmp_path / "models.yaml").get("thinker")
    asked = Experiment(str(REPO), "thinker", "magentless")
    assert History(store).likely(asked, model) == (10 * 1 + 10 * Decimal("0.5") + 2 * 10 + 3 * 100, 2.0)
    assert History(store).likely(earlier, model) == (7, 2.0)


def test_requests_that_are_sent_at_once_take_the_time_of_the_longest(tmp_path: Path) -> None:
    """The estimate for an answer with ten samples was ten times too long."""
    store, asked = Store(tmp_path), Experiment(str(REPO), "other", "magentless")
    ledger = Ledger(store.ledger)
    ledger.issue("key", Key("alias", asked.id, asked.repo, "other", "magentless", "", "acme__ui-1", answer="first"))
    for row in [ledger.open("key", "other", "llm") for _ in range(10)]:
        ledger.book(row, Booking(OK, latency_ms=600_000))
    ledger.close()
    finish(store, "first")
    _, seconds = History(store).likely(asked, load_models(DEMO).get("scripted"))
    assert seconds and 600 <= seconds < 700


def test_the_time_of_tests_is_estimated_from_earlier_runs(tmp_path: Path) -> None:
    """Including counter-runs. For a patch that did not apply, no tests were run."""
    store = Store(tmp_path)
    assert History(store).testing(REPO) is None
    write_json(tmp_path / RUNS / REPO.slug / "a" / "manifest.json", RUN)
    write_json(tmp_path / RUNS / REPO.slug / "b" / "manifest.json", RUN | {"result": {"seconds": {"tests": 2.0}}})
    write_json(tmp_path / RUNS / REPO.slug / "c" / "manifest.json", RUN | {"result": {"unapplied": ["patch"]}})
    assert History(store).testing(REPO) == 7.0


def test_before_any_run_the_time_of_tests_is_a_part_of_the_builds(tmp_path: Path) -> None:
    """A first plan did not say how long the tests of its patches would take. Candidates that were rejected do not
    count."""
    store = Store(tmp_path)
    built = store.qualification(REPO)
    write_json(built / "summary.json", {"instances": {"qualified": ["ui-1", "ui-2", "ui-3"], "no_report": ["ui-4"]}})
    for name, seconds in (("ui-1", 30), ("ui-2", 90.0), ("ui-4", 600.0)):
        write_json(built / "units" / name / "timings.json", {"tests": seconds, "install": 5.0})
    assert History(store).testing(REPO) == 60 * OF_BUILD
    write_json(tmp_path / RUNS / REPO.slug / "a" / "manifest.json", RUN)
    assert History(store).testing(REPO) == 12.0


def test_the_disk_space_of_answers_is_estimated_from_those_of_models(tmp_path: Path) -> None:
    """The small answers of oracle and nop, which come first, made the estimate too low."""
    store = Store(tmp_path)
    step = Step(str(REPO), "magentless", "one", 4, 0, Decimal(0), None, None, None)
    write_json(store.answers(REPO, "acme__ui-1", "oracle") / "manifest.json", {"inputs": {}})
    write_json(tmp_path / RUNS / REPO.slug / "a" / "manifest.json", RUN)
    (tmp_path / RUNS / REPO.slug / "a" / "log.gz").write_bytes(bytes(100))
    assert disk(store).needed([step]) == 4 * TYPICAL_SIZE["repair"]
    answer = store.answers(REPO, "acme__ui-1", "thinker")
    write_json(answer / "manifest.json", {"inputs": {}})
    (answer / "trajectory.jsonl").write_bytes(bytes(5000))
    size = sum(path.stat().st_size for path in [*answer.iterdir(), *(tmp_path / RUNS / REPO.slug / "a").iterdir()])
    assert disk(store).needed([step]) == 4 * size


def test_the_total_time_of_tests_is_unknown_if_one_is_unknown() -> None:
    known = Step(str(REPO), "magentless", "one", 4, 0, Decimal(0), None, None, None, testing=60.0)
    pages = known._replace(track="pages", testing=None)
    answered = known._replace(existing=4, testing=None)
    assert sums([known, known, pages, answered]).testing == 120.0
    assert sums([known, known._replace(testing=None)]).testing is None
