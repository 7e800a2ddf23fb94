"""results.json: the public harness's format, written from verdicts without running a browser again."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from pages_bench import IMAGE, SEEN, keep, make_case, make_run

from pipeline.core.store import Store, read_records
from pipeline.pages.cases import load_case
from pipeline.pages.evaluating import Evaluation
from pipeline.pages.records import PageAnswer, PageVerdict, Violation
from pipeline.pages.results import RESULTS, Timing, results
from pipeline.pages.runs import Asked, open_run


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = tmp_path_factory.mktemp("results")
    return keep(Evaluation(make_run(Store(folder / "data"), folder / "cases", cases=2)), [*SEEN[:4], SEEN[2]])


@pytest.fixture(scope="module")
def document(evaluation: Evaluation) -> dict[str, Any]:
    run = evaluation.run
    answers = read_records(run.folder / "answers.jsonl", PageAnswer)
    timings = {answer.key: Timing(f"2026-01-0{answer.sample + 1}T00:00:00Z", 10 * answer.sample) for answer in answers}
    verdicts = evaluation.evaluate()
    (run.evaluated / run.screenshot(*answers[0].key)).unlink()
    return results(run, answers, verdicts, timings, {"axe": "4.14"})


def test_results_list_models_cases_and_settings(document: dict[str, Any]) -> None:
    assert (document["run_id"], document["models"]) == ("run", ["one"])
    assert document["tests"] == list(document["prompts"]) and len(document["tests"]) == 2
    assert document["meta"]["sampling"]["samples_per_case"] == len(SEEN)
    assert document["meta"]["axe"] == "4.14" and document["meta"]["system_prompt"]


def test_results_are_plain_data(document: dict[str, Any]) -> None:
    assert json.loads(json.dumps(document))["run_id"] == "run"


def test_every_page_has_its_result(document: dict[str, Any]) -> None:
    assert [row["result"] for row in document["results"][:5]] == ["PASS", "PASS", "FAIL", "FAIL", "FAIL"]
    assert {row["result"] for row in document["results"]} <= set(RESULTS.values())


@pytest.mark.parametrize(
    ("sample", "status", "violations", "advice", "cause"),
    [(0, "pass", 0, 0, None), (1, "pass", 0, 1, None), (2, "fail", 2, 0, None)],
)
def test_each_result_has_what_decided_it(
    document: dict[str, Any], sample: int, status: str, violations: int, advice: int, cause: str | None
) -> None:
    """A requirement decides `test_function`, axe-core its own part; a page that was cut short meets no requirement."""
    row = document["results"][sample]
    assert row["test_function"]["status"] == status
    assert row["axe"]["violation_count"] == violations
    assert row["axe"]["best_practice_count"] == advice
    assert (row["cause"] is None) is (cause is None)


def test_violations_name_their_criteria(document: dict[str, Any]) -> None:
    (violation,) = document["results"][2]["axe"]["violations"]
    assert (violation["id"], violation["criteria"]) == ("image-alt", ("1.1.1",))


def test_unknown_usage_is_null_and_money_is_exact(document: dict[str, Any]) -> None:
    unknown, known = (document["results"][sample]["generation"] for sample in (0, 1))
    assert [unknown[name] for name in ("cost", "cost_usd", "tokens_in", "total_tokens")] == [None] * 4
    assert (known["cost"], known["cost_usd"], known["total_tokens"]) == ("0.00000001", 1e-08, 110)


def test_screenshots_are_named_if_they_exist(document: dict[str, Any]) -> None:
    first, second, *_ = document["results"]
    assert first["screenshot_path"] is None and second["screenshot_path"].endswith(".png")


def test_a_page_has_the_time_of_its_run(document: dict[str, Any]) -> None:
    assert [row["timestamp"][:10] for row in document["results"][:2]] == ["2026-01-01", "2026-01-02"]
    assert document["results"][2]["test_function"]["duration_ms"] == 20
    assert {row["computed_at"] for row in document["aggregates"]} == {"2026-01-05T00:00:00Z"}


@pytest.mark.parametrize(
    ("cause", "violations", "count"),
    [("time", (), None), ("machine", (), None), ("time", (IMAGE,), 2), ("off_task", (), 0), ("", (), 0)],
)
def test_a_page_that_was_cut_short_has_no_audit(
    evaluation: Evaluation, cause: str, violations: tuple[Violation, ...], count: int | None
) -> None:
    """A count of 0 would say that axe-core found no violations."""
    answer = evaluation.run.answers()[0]
    about = {"case": answer.case, "model": answer.model, "sample": 0, "result": "failed"}
    verdict = PageVerdict(**about, cause=cause, violations=violations)
    found = results(evaluation.run, [answer], [verdict], {answer.key: Timing("2026-01-01T00:00:00Z")}, {})
    audit = found["results"][0]["axe"]
    assert (audit and audit["violation_count"]) == count


def test_the_document_has_the_public_harness_types(document: dict[str, Any]) -> None:
    assert {type(rate) for row in document["aggregates"] for rate in row["pass_at_k"].values()} <= {float}


def test_a_prompt_is_hashed_as_its_file_has_it(tmp_path: Path) -> None:
    """The public harness does so, too; here, prompts were hashed and sent without blanks at their ends."""
    case = make_case(tmp_path / "cases" / "a", prompt="\n Make a page: a harbour.\n")
    (case.folder / "prompt.md").write_bytes(case.prompt.replace("\n", "\r\n").encode())
    case = load_case(case.folder)
    run = open_run(Store(tmp_path / "data"), "a", [case], Asked(("one",)), {}, "run")
    answer = PageAnswer(case="a", model="one", sample=0, html="raw/a/one.html", digest="d")
    verdict = PageVerdict(case="a", model="one", sample=0, result="passed")
    found = results(run, [answer], [verdict], {answer.key: Timing("2026-01-01T00:00:00Z")}, {})
    prompt = b"\n Make a page: a harbour.\n"
    assert found["results"][0]["generation"]["prompt_hash"] == sha256(prompt).hexdigest()[:16]


def test_pass_at_k_lacks_a_k_above_the_number_of_samples(evaluation: Evaluation) -> None:
    run = evaluation.run
    answers = read_records(run.folder / "answers.jsonl", PageAnswer)
    verdicts = [verdict for verdict in evaluation.evaluate() if verdict.sample < 2]
    few = [answer for answer in answers if answer.sample < 2]
    found = results(run, few, verdicts, {answer.key: Timing("2026-01-01T00:00:00Z") for answer in few}, {})
    assert [row["pass_at_k"] for row in found["aggregates"]] == [{"1": 1.0}] * 2
    assert [row["n_samples"] for row in found["aggregates"]] == [2, 2]


def test_names_that_read_alike_do_not_share_a_page(evaluation: Evaluation, tmp_path: Path) -> None:
    run = evaluation.run
    paths = [run.html(*key) for key in run.keys]
    assert len(set(paths)) == len(paths) == 2 * len(SEEN)
