"""The tables of the report on a run of pages, cell by cell, without a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pages_bench import SEEN, keep, make_run

from pipeline.core.store import Store, digest, read_records, write_records
from pipeline.pages.evaluating import Evaluation
from pipeline.pages.hybrid.records import SCORES, Feedback, Hybrid, Part
from pipeline.pages.records import PageAnswer, PageVerdict
from pipeline.pages.report import scores_of, write
from pipeline.pages.report.frames import load
from pipeline.pages.report.tables import NONE, between, percent, tables
from pipeline.pages.runs import Run
from pipeline.report.statistics import Interval
from pipeline.report.tables import Table


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    folder = tmp_path_factory.mktemp("tables")
    return keep(Evaluation(make_run(Store(folder / "data"), folder / "cases")), [*SEEN[:4], SEEN[2]])


def made(
    run: Run, verdicts: list[PageVerdict], baseline: tuple[str, list[PageVerdict]] | None = None
) -> dict[str, Table]:
    """The tables, by name."""
    answers = read_records(run.folder / "answers.jsonl", PageAnswer)
    return {table.name: table for listed in tables(run, answers, verdicts, baseline).values() for table in listed}


def cells(table: Table) -> list[tuple[str, ...]]:
    return [tuple(row.cells) for row in table.rows]


@pytest.fixture(scope="module")
def found(evaluation: Evaluation) -> dict[str, Table]:
    verdicts = list(evaluation.evaluate())
    return made(evaluation.run, verdicts, ("before", verdicts))


def test_a_row_of_models(found: dict[str, Table]) -> None:
    ((model, pages, passed, ends, requirements, practices, clean, errors, missing, incomplete),) = cells(
        found["models"]
    )
    assert (model, pages, passed, ends) == ("one", "5", "40.0", "11.8 to 76.9")
    assert (requirements, practices, clean) == ("40.0", "0.0", "40.0")
    assert (errors, missing, incomplete) == ("0", "0", NONE)


def test_samples_of_one_case_have_an_interval_and_a_bar(found: dict[str, Table]) -> None:
    assert found["models"].rows[0].bar == (40.0, 11.8, 76.9)
    assert cells(found["pass-at-k"])[0][3] == "11.8 to 76.9"


def test_pass_at_k_by_model_and_k(found: dict[str, Table]) -> None:
    assert [(row[1], row[2], row[4]) for row in cells(found["pass-at-k"])] == [
        ("1", "40.0", "1 of 1"),
        ("3", "90.0", "1 of 1"),
    ]


def test_only_assertions_that_fail_somewhere_are_listed(found: dict[str, Table]) -> None:
    assert [(row[0], row[2], row[3]) for row in cells(found["assertions"])] == [
        ("There is one", "BP", "3 of 3"),
        ("Has a heading", "R", "2 of 4"),
    ]


def test_rules_that_count_come_first(found: dict[str, Table]) -> None:
    rows = cells(found["rules"])
    assert [(row[0], row[2], row[3], row[4], row[5]) for row in rows] == [
        ("image-alt", "1.1.1", "yes", "2", "4"),
        ("region", NONE, "apart", "1", "1"),
    ]
    assert [row.soft for row in found["rules"].rows] == [False, True]
    assert cells(found["criteria"]) == [("1.1.1", "2")]


def test_the_cost_of_a_page_that_passes(found: dict[str, Table]) -> None:
    assert cells(found["cost"]) == [("one", "40", "400", "0.00000004", "0.000000", "1")]


def test_a_run_compared_with_itself_does_not_differ(found: dict[str, Table]) -> None:
    assert cells(found["compared"]) == [("one", "5", "0", "0", "2", "1.000")]


def test_a_run_without_verdicts_has_few_tables(evaluation: Evaluation) -> None:
    empty = made(evaluation.run, [])
    assert set(empty) == {"models", "pass-at-k", "cases", "cost"}
    ((_, pages, passed, ends, *_, missing, incomplete),) = cells(empty["models"])
    assert (pages, passed, ends, missing, incomplete) == ("0", NONE, NONE, "5", "yes")
    assert empty["models"].rows[0].bar is None and empty["models"].rows[0].soft
    assert cells(empty["cases"]) == [("harbour", NONE)]


@pytest.mark.parametrize(("share", "text"), [(None, NONE), (0.0, "0.0"), (1.0, "100.0"), (1 / 3, "33.3")])
def test_a_share_in_percent(share: float | None, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("interval", "text"), [(None, NONE), (Interval(0.0, 0.2), "0.0 to 20.0"), (Interval(0.5, 1.0), "50.0 to 100.0")]
)
def test_both_ends_of_an_interval(interval: Interval | None, text: str) -> None:
    assert between(interval) == text


def test_the_folder_of_a_run_is_not_read(evaluation: Evaluation, found: dict[str, Table]) -> None:
    """Tables are functions of verdicts and answers: they are the same without the pages."""
    verdicts = list(evaluation.evaluate())
    for path in Path(evaluation.run.folder, "raw").rglob("*.html"):
        path.unlink()
    assert cells(made(evaluation.run, verdicts)["models"]) == cells(found["models"])


# -- the hybrid score -------------------------------------------------------------------------------------------------
def scored(evaluation: Evaluation, sample: int, **fields: Any) -> Hybrid:
    """A score of an answer in the run."""
    (answer,) = (answer for answer in evaluation.run.answers() if answer.sample == sample)
    about = {"name": answer.case, "model": answer.model, "sample": sample}
    return Hybrid(**about | {"digest": digest(evaluation.run.page(answer))} | fields)


def test_the_report_shows_the_hybrid_score_as_a_second_view(tmp_path: Path) -> None:
    """Its parts, weights and feedback. If a page has changed, its old score is not shown."""
    evaluation = keep(Evaluation(make_run(Store(tmp_path / "data"), tmp_path / "cases")), [*SEEN[:4], SEEN[2]])
    verdicts, feedback = list(evaluation.evaluate()), Feedback(level="warning", message="no <title>")
    parts = {"html": Part(score=85, feedback=(feedback,)), "quality": Part(score=90)}
    whole = scored(evaluation, 0, overall_score=88, passed=True, weights={"html": 37.5, "quality": 62.5}, **parts)
    scores = [whole, scored(evaluation, 1, overall_score=10, passed=False, digest="of another page")]
    scores.append(scored(evaluation, 2, digest=""))
    write_records(evaluation.run.evaluated / SCORES, scores)
    report = write(evaluation, verdicts).read_text()
    assert list(scores_of(evaluation.run).values()) == [whole, scores[2]]
    assert "Hybrid scores" in report and "sample 0" in report
    pages = [path.read_text() for path in sorted((evaluation.run.evaluated / "samples").glob("*.html"))]
    assert ["<h2>Hybrid score</h2>" in text for text in pages] == [True, False, True, False, False]
    assert "<strong>88</strong> of 100: passes" in pages[0] and "warning: no &lt;title&gt;" in pages[0]
    assert "No part could be determined." in pages[2]
    (table,) = tables(evaluation.run, [], verdicts, scores=list(scores_of(evaluation.run).values()))["hybrid"]
    assert [row[1:] for row in cells(table)] == [("88", "yes", "85", NONE, NONE, "90"), (NONE,) * 6]
    assert "hybrid" in load(tmp_path / "data").tables
