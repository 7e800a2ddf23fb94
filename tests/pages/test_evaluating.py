"""Verdicts and report of a run; scripted observations replace the engine, so no browser is needed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import pytest
from bs4 import BeautifulSoup
from click.testing import CliRunner
from pages_bench import HELD, IMAGE, PROMPT, REGION, SEEN, keep, make_alike, make_case, make_run, page

from pipeline.cli import program
from pipeline.core.errors import UserError
from pipeline.core.law import registered
from pipeline.core.store import Store, read_records, write_records
from pipeline.pages.engine import Job, Limits, Looked
from pipeline.pages.evaluating import Evaluation, evaluated, page_law, with_k
from pipeline.pages.measures import assertions, by_criterion, compared, model_row, pass_at, rules
from pipeline.pages.records import Assertion, Kind, Observed, PageVerdict, Result, Usage
from pipeline.pages.report import Baseline, write
from pipeline.pages.report.plots import plots
from pipeline.pages.report.tables import tables
from pipeline.pages.runs import load_run, with_cases
from pipeline.report.statistics import mcnemar, wilson


@pytest.fixture
def evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluation:
    """A run with a machine failure at the fifth page."""
    monkeypatch.setattr("pipeline.pages.running.look", lambda _: Looked(SEEN[4]))
    return keep(Evaluation(make_run(Store(tmp_path / "data"), tmp_path / "cases", ("one", "<b>other</b>"))))


def test_every_answer_gets_a_verdict(evaluation: Evaluation) -> None:
    verdicts = evaluation.evaluate()
    ends = [(verdict.result, verdict.cause) for verdict in verdicts if verdict.model == "one"]
    assert ends == [("passed", ""), ("passed", ""), ("failed", ""), ("failed", "time"), ("error", "machine")]
    assert read_records(evaluation.run.evaluated / "verdicts.jsonl", PageVerdict) == verdicts
    assert verdicts[2].incidents == ("network",) and verdicts[1].advice == (REGION,)
    assert {verdict.law for verdict in verdicts} == {page_law()}


def test_the_modules_that_interpret_ends_are_in_the_law() -> None:
    """`Observed.is_doubtful` also decides whether a correct page is run."""
    assert {("pipeline.pages", "verdict.py"), ("pipeline.pages", "records.py")} <= registered("pages")


@pytest.mark.rule("pages-regrade")
def test_other_tags_that_count_regrade_without_running_pages(evaluation: Evaluation) -> None:
    evaluation.evaluate()
    strict = Evaluation(evaluation.run, apart=())
    assert [verdict.result for verdict in strict.evaluate()][:2] == ["passed", "failed"]
    archived = list((evaluation.run.store.root / "archive").rglob("verdicts.jsonl"))
    assert len(archived) == 1, "what is replaced is archived first"
    assert evaluated(load_run(evaluation.run.store))[0].apart == ()


@pytest.mark.rule("not-evaluated-is-retried")
def test_pages_that_the_machine_failed_at_are_run_again(evaluation: Evaluation, monkeypatch) -> None:
    evaluation.evaluate()
    monkeypatch.setattr("pipeline.pages.running.look", lambda _: Looked(SEEN[0]))
    again = Evaluation(evaluation.run).evaluate()
    assert [verdict.result for verdict in again if verdict.sample == 4] == ["passed", "passed"]


def test_pages_of_another_chromium_run_again_only_on_request(evaluation: Evaluation, monkeypatch) -> None:
    run, newer = evaluation.run, Observed(ran={"chromium": "2.0", "axe": "axe-core@4"})
    older = newer.model_copy(update={"ran": {"chromium": "1.0", "axe": "axe-core@4"}})
    monkeypatch.setattr("pipeline.pages.evaluating.version", lambda program: "2.0")
    monkeypatch.setattr("pipeline.pages.evaluating.executable", lambda: "chromium")
    monkeypatch.setattr("pipeline.pages.running.look", lambda job: Looked(older))
    write_records(run.folder / "answers.jsonl", [answer for answer in run.answers() if answer.sample == 4])
    Evaluation(run).evaluate()
    monkeypatch.setattr("pipeline.pages.running.look", lambda job: Looked(newer))
    called = CliRunner().invoke(program, ["pages", "eval", "--data", str(run.store.root)])
    assert "2 of 2 pages ran in another version of Chromium; --renew runs them again" in called.output
    assert "Pages ran in Chromium 1.0 with axe-core@4." in write(*evaluated(run)).read_text()
    called = CliRunner().invoke(program, ["pages", "eval", "--renew", "--data", str(run.store.root)])
    assert called.exit_code == 1, "most answers are missing"
    assert "another version" not in called.output, called.output
    assert {verdict.ran["chromium"] for verdict in evaluated(run)[1]} == {"2.0"}
    assert len(list((run.store.root / "archive").rglob("seen.json"))) == 2, "what is replaced is archived first"


@pytest.mark.rule("not-evaluated-is-retried")
def test_a_doubt_left_open_by_the_machine_is_not_kept(evaluation: Evaluation, monkeypatch) -> None:
    evaluation.evaluate()

    def look(job: Job) -> Looked:
        """The pages throw, and the machine fails at the good example."""
        return Looked(Observed(threw="no") if "<!-- </pre>" in job.html else Observed(machine="browser: gone"))

    monkeypatch.setattr("pipeline.pages.running.look", look)
    first = [verdict for verdict in Evaluation(evaluation.run).evaluate() if verdict.sample == 4]
    assert [(verdict.result, verdict.cause) for verdict in first] == [("error", "machine")] * 2
    monkeypatch.setattr("pipeline.pages.running.look", lambda _: Looked(SEEN[0]))
    again = [verdict for verdict in Evaluation(evaluation.run).evaluate() if verdict.sample == 4]
    assert [verdict.result for verdict in again] == ["passed", "passed"]


@pytest.mark.rule("busy-machine")
def test_a_page_that_other_programs_hindered_to_the_end_is_an_error_and_not_kept(evaluation, monkeypatch) -> None:
    monkeypatch.setattr("pipeline.pages.running.PATIENCE", 0)
    busy = "other programs used 1.9 of 2 processors while the page was tested"
    monkeypatch.setattr("pipeline.pages.running.look", lambda _: Looked(Observed(ended="load", busy=busy)))
    first = [verdict for verdict in evaluation.evaluate() if verdict.sample == 4]
    assert [(verdict.result, verdict.cause, verdict.detail) for verdict in first] == [("error", "machine", busy)] * 2
    monkeypatch.setattr("pipeline.pages.running.look", lambda _: Looked(Observed(ended="load")))
    again = [verdict for verdict in Evaluation(evaluation.run).evaluate() if verdict.sample == 4]
    assert [(verdict.result, verdict.cause) for verdict in again] == [("failed", "time")] * 2


def test_a_doubt_that_another_good_example_settled_is_settled_again(tmp_path: Path, monkeypatch) -> None:
    """Without a good example, a case is blamed for errors until it has one."""
    run = make_run(Store(tmp_path / "data"), tmp_path / "cases")
    example = run.cases[0].examples[0].path
    good = example.read_text()
    looked: list[str] = []

    def look(job: Job) -> Looked:
        looked.append(job.html)
        return Looked(Observed(threw="no") if "<!-- </pre>" in job.html else Observed())

    monkeypatch.setattr("pipeline.pages.running.look", look)
    causes = []
    for html in (page(), good, good):
        example.write_text(html)
        verdicts = Evaluation(with_cases(run, tmp_path / "cases")).evaluate()
        causes.append({verdict.cause for verdict in verdicts})
    assert causes == [{"case"}, {"unfinished"}, {"unfinished"}]
    assert len(looked) == 5 + 5 + 1, "the good example is run once, and nothing the third time"


def test_results_have_the_fields_of_the_public_harness(evaluation: Evaluation) -> None:
    evaluation.evaluate()
    found = json.loads((evaluation.run.evaluated / "results.json").read_text())
    record = found["results"][2]
    assert {"run_id", "models", "tests", "prompts", "results", "aggregates", "meta"} <= set(found)
    assert (record["result"], record["sample_index"], record["axe"]["violation_count"]) == ("FAIL", 2, 2)
    assert record["axe"]["violations"][0]["criteria"] == ["1.1.1"] and record["cause"] is None
    assert (record["generation"]["cost"], record["generation"]["total_tokens"]) == ("0.00000001", 110)
    assert found["results"][0]["generation"]["cost_usd"] is None
    assert record["generation"]["prompt_hash"] == hashlib.sha256(PROMPT.encode()).hexdigest()[:16]
    assert record["screenshot_path"] == "screenshots/harbour__one__s2.png"
    aggregate = found["aggregates"][0]
    assert (aggregate["n_samples"], aggregate["n_pass"], aggregate["n_error"]) == (4, 2, 1)
    assert aggregate["pass_at_k"] == {"1": 0.5, "3": 1.0}
    times = [result["timestamp"] for result in found["results"]] + [row["computed_at"] for row in found["aggregates"]]
    assert all(map(datetime.fromisoformat, times)), "also of pages that the machine failed at"


@pytest.mark.rule("names")
def test_no_two_pages_share_a_screenshot(evaluation: Evaluation) -> None:
    run = evaluation.run
    assert run.screenshot("harbour", "one", 2).name == "harbour__one__s2.png", "the public harness's name"
    assert run.screenshot("a__b", "c", 0) != run.screenshot("a", "b__c", 0)


@pytest.mark.rule("names")
def test_pages_with_similar_names_keep_their_own_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_alike(tmp_path)
    monkeypatch.setattr("pipeline.pages.running.look", lambda job: Looked(Observed(off_task=job.html)))
    verdicts = Evaluation(run).evaluate()
    assert [verdict.detail for verdict in verdicts] == [f"{verdict.case} by {verdict.model}" for verdict in verdicts]
    report = write(*evaluated(run))
    assert len(list((report.parent / "samples").iterdir())) == 4


def test_a_k_above_n_is_refused_and_errors_leave_n(evaluation: Evaluation) -> None:
    with pytest.raises(UserError, match="pass@6 needs at least 6 samples\n.*the run has 5 samples"):
        with_k(evaluation.run, (6,))
    with pytest.raises(UserError, match="k must be at least 1"):
        with_k(evaluation.run, (0,))
    one, five = pass_at("one", (1, 5), evaluation.evaluate(), evaluation.run.keys)
    assert (one.value, one.cases, one.of) == (0.5, 1, 1)
    assert one.interval == pytest.approx(wilson(2, 4)), "of the samples of the only case"
    assert (five.value, five.cases) == (None, 0)


def test_rates_of_requirements_and_best_practices(evaluation: Evaluation) -> None:
    verdicts = evaluation.evaluate()
    row = model_row("one", evaluation.run.answers(), verdicts, evaluation.run.keys)
    assert (row.samples, row.errors, row.missing, row.passed) == (5, 1, 0, (2, 4))
    assert row.requirements == (2, 4), "a page that was cut short holds none"
    assert row.best_practices == (0, 3), "a page that was cut short holds none, if its case has some"
    assert (row.money.usd, row.money.unknown) == (Decimal("0.00000004"), 1)


def test_a_page_that_was_cut_short_meets_no_requirement(evaluation: Evaluation) -> None:
    verdicts = evaluation.evaluate()
    record = json.loads((evaluation.run.evaluated / "results.json").read_text())["results"][3]
    assert (record["cause"], record["result"], record["test_function"]["status"]) == ("time", "FAIL", "fail")
    reached = (Assertion(name="tidy", status="pass", type="BP"),)
    cut = [
        verdict.model_copy(update={"assertions": reached})
        for verdict in verdicts
        if verdict.model == "one" and verdict.cause == "time"
    ]
    row = model_row("one", [], cut, evaluation.run.keys)
    assert (row.requirements, row.best_practices) == ((0, 1), (0, 1))


@pytest.mark.trap("denominator")
def test_a_page_that_was_cut_short_counts_in_every_rate_of_its_case() -> None:
    """A model whose pages crash before the first best practice used to have a better rate of best practices."""
    held = {kind: Assertion(name=kind, status="pass", type=kind) for kind in get_args(Kind)}
    found = []
    for kinds in (("R", "BP"), ("R",), ("BP",), ()):
        reached = tuple(held[kind] for kind in kinds)
        other = PageVerdict(case="a", model="other", sample=0, result="passed", assertions=reached)
        cut = PageVerdict(case="a", model="one", sample=0, result="failed", cause="crashed")
        row = model_row("one", [], [other, cut], [])
        found.append((row.requirements, row.best_practices))
    assert found == [((0, 1), (0, 1)), ((0, 1), (0, 0)), ((0, 0), (0, 1)), ((0, 0), (0, 0))]


@pytest.mark.trap("denominator")
def test_a_model_with_few_answers_is_not_first(tmp_path: Path) -> None:
    """A budget ended after three pages, which all pass: 3 of 3 ranked above a model that answered everything."""
    run = make_run(Store(tmp_path / "data"), tmp_path / "cases", ("few", "broken", "all"), cases=3)
    ends: dict[str, Callable[[int], Result]] = {
        "all": lambda sample: "passed" if sample < 2 else "failed",
        "broken": lambda sample: "passed" if sample else "error",
        "few": lambda sample: "passed",
    }
    verdicts = [
        PageVerdict(case=case, model=model, sample=sample, result=ends[model](sample))
        for case, model, sample in run.keys
        if model != "few" or case == "harbour"
    ]
    models, rates = tables(run, [], verdicts)["glance"]
    assert [row.cells[0] for row in models.rows] == ["all", "few", "broken"]
    assert [row.cells[-3:] for row in models.rows] == [("0", "0", "–"), ("0", "10", "yes"), ("3", "0", "yes")]
    assert [row.soft for row in models.rows] == [False, True, True]
    assert [row.cells[-1] for row in rates.rows if row.cells[0] == "few"] == ["1 of 3", "1 of 3"]


def test_rules_and_criteria_count_pages(evaluation: Evaluation) -> None:
    verdicts = evaluation.evaluate()
    first, second = rules(verdicts)
    assert (first.rule, first.counts, first.pages, first.elements) == (
        *("image-alt", True),
        {"one": 1, "<b>other</b>": 1},
        4,
    )
    assert (second.rule, second.counts) == ("region", False)
    assert by_criterion(verdicts) == {"1.1.1": {"one": 1, "<b>other</b>": 1}}


def test_two_runs_are_compared_page_by_page(evaluation: Evaluation) -> None:
    verdicts = evaluation.evaluate()
    turned = [verdict.model_copy(update={"result": "passed"}) for verdict in verdicts if verdict.model == "one"]
    (found,) = compared(verdicts, turned)
    assert (found.pages, found.only_first, found.only_second, found.both) == (4, 0, 2, 2)
    assert found.p == 1, "one case can show nothing"


def verdicts_of(cases: int, samples: int, passing: Callable[[int], bool]) -> list[PageVerdict]:
    """Verdicts on cases whose samples are all alike."""
    return [
        PageVerdict(case=f"case {case}", model="one", sample=sample, result="passed" if passing(case) else "failed")
        for case in range(cases)
        for sample in range(samples)
    ]


@pytest.mark.trap("denominator")
@pytest.mark.parametrize("passing", [0, 3, 12])
def test_equal_samples_count_as_one_of_each_case(passing: int) -> None:
    once, often = (verdicts_of(12, samples, lambda case: case < passing) for samples in (1, 20))
    rows = [model_row("one", [], verdicts, []) for verdicts in (once, often)]
    assert rows[0].interval == pytest.approx(wilson(passing, 12))
    assert rows[1].interval == pytest.approx(rows[0].interval)
    before = [verdicts_of(12, samples, lambda case: case < 2) for samples in (1, 20)]
    (few,), (many,) = compared(before[0], once), compared(before[1], often)
    assert few.p == many.p == pytest.approx(mcnemar(few.only_first, few.only_second))


def test_samples_of_cases_that_do_not_differ_count_all() -> None:
    found = [verdict.model_copy(update={"result": "passed"}) if verdict.sample % 2 else verdict for verdict in HALF]
    assert model_row("one", [], found, []).interval == pytest.approx(wilson(120, 240))
    assert model_row("one", [], found[:20], []).interval == wilson(10, 20), "of the samples of the only case"


HALF = verdicts_of(12, 20, lambda case: False)


def test_errors_are_in_no_table() -> None:
    """A case threw after its audit had found something."""
    error = PageVerdict(
        case="a", model="one", sample=0, result="error", cause="case", assertions=(HELD,), violations=(IMAGE,)
    )
    assert (rules([error]), by_criterion([error]), assertions([error])) == ([], {}, [])


def test_comparing_runs_with_different_rules_is_refused(
    evaluation: Evaluation,
) -> None:
    verdicts = evaluation.evaluate()
    with pytest.raises(UserError, match="other rules of axe-core count") as refused:
        write(evaluation, verdicts, Baseline("strict", replace(evaluation, apart=()), verdicts))
    assert refused.value.hint == "run: just pages-eval --run strict --apart best-practice"
    before = Baseline("before", evaluation, verdicts)
    assert before.compared(verdicts) == verdicts and before.notes(evaluation, verdicts) == []
    older = [verdict.model_copy(update={"law": "older"}) for verdict in verdicts]
    slower = Baseline("slow", replace(evaluation, limits=Limits(page=9)), older)
    assert [" ".join(note.split()[:2]) for note in slower.notes(evaluation, verdicts)] == ["slow was"] * 2
    stricter = [verdict.model_copy(update={"case_digest": "other"}) for verdict in verdicts]
    other = Baseline("other", evaluation, stricter)
    text = BeautifulSoup(write(evaluation, verdicts, other).read_text(encoding="utf-8"), "html.parser").get_text(" ")
    assert other.compared(verdicts) == []
    assert "Not compared with other, which has other tests: harbour." in text


def test_what_only_one_of_two_runs_has_is_named(tmp_path: Path) -> None:
    """Without a common model, the report said nothing at all about the comparison."""
    store = Store(tmp_path / "data")
    ours = keep(Evaluation(make_run(store, tmp_path / "ours", ("one", "two"), "ours")))
    theirs = keep(Evaluation(make_run(store, tmp_path / "theirs", ("three",), "theirs", cases=2)))
    texts = Baseline("theirs", theirs, theirs.evaluate()).notes(ours, ours.evaluate())
    assert texts == [
        "Not compared with theirs: no page was judged in both runs.",
        "Not compared, since only this run has these models: one, two.",
        "Not compared, since only theirs has these models: three.",
        "Not compared, since only theirs has these cases: harbour-1.",
    ]


# -- the report --------------------------------------------------------------------------------------------------------
@pytest.fixture
def report(evaluation: Evaluation) -> Path:
    verdicts = evaluation.evaluate()
    return write(evaluation, verdicts, Baseline("<i>before</i>", evaluation, verdicts))


def test_the_report_names_rules_that_count_and_missing_results(report: Path) -> None:
    text = BeautifulSoup(report.read_text(encoding="utf-8"), "html.parser").get_text(" ")
    assert "with the tag best-practice are counted separately" in text
    assert "Not evaluated, and in no rate: 2 pages" in text and "The provider reported no usage for 2 answers" in text


def test_the_report_has_its_tables_figures_and_samples(report: Path) -> None:
    soup = BeautifulSoup(report.read_text(encoding="utf-8"), "html.parser")
    titles = [element.get_text() for element in soup.select("h3")]
    assert titles[:2] == ["Models", "pass@k"] and "Rules" in titles and "Cost of the answers" in titles
    assert all(element["alt"] for element in soup.select("figure img"))
    assert len(soup.select("figure img")) == 2, "what is not known of the cost is not drawn"
    links = [element["href"] for element in soup.select("tbody a")]
    assert len(links) == 10 and all((report.parent / link).exists() for link in links)
    assert (report.parent / "figures" / "pass-at-k.svg").exists()


def test_cost_is_of_all_answers_also_of_those_without_a_verdict(evaluation: Evaluation) -> None:
    """A run that got more answers after its evaluation."""
    verdicts, answers = evaluation.evaluate(), evaluation.run.answers()
    usage = Usage(tokens_in=10, tokens_out=100, cost_usd=Decimal(1))
    paid = [answer.model_copy(update={"usage": usage}) for answer in answers]
    write_records(evaluation.run.folder / "answers.jsonl", paid)
    soup = BeautifulSoup(write(evaluation, verdicts[:1]).read_text(encoding="utf-8"), "html.parser")
    (row,) = (row for row in soup.select("[aria-labelledby=table-cost] tbody tr") if row.th.get_text() == "one")
    assert [cell.get_text() for cell in row.select("td")][:3] == ["50", "500", "5"]
    assert "10.0000 USD" in soup.get_text()
    (figure,) = (figure for figure in plots(evaluation.run, paid, verdicts[:1]) if figure.name == "cost")
    assert "1.000000 USD" in figure.alternative


@pytest.mark.rule("bad-input")
def test_a_page_that_changed_after_its_verdict_is_not_shown_with_it(evaluation: Evaluation) -> None:
    """A later version may extract the page from the answer in another way."""
    evaluation.evaluate()
    answers = evaluation.run.answers()
    changed = [answers[0].model_copy(update={"digest": "another"}), *answers[1:]]
    write_records(evaluation.run.folder / "answers.jsonl", changed)
    with pytest.raises(UserError, match="1 page changed since the evaluation"):
        write(*evaluated(load_run(evaluation.run.store)))


def test_foreign_text_is_escaped_and_only_our_script_may_run(report: Path) -> None:
    sample = next((report.parent / "samples").glob("harbour__one__s2.html"))
    for path in (report, sample, *(report.parent / "samples").glob("*other*s0.html")):
        html = path.read_text(encoding="utf-8")
        soup = BeautifulSoup(html, "html.parser")
        assert len(soup.select("script")) == 1 and not soup.select("main b, main i, header b")
        policy = soup.select_one("meta[http-equiv]")["content"]
        assert policy.startswith("default-src 'none'; img-src data:")
    shown = BeautifulSoup(sample.read_text(encoding="utf-8"), "html.parser")
    assert shown.select_one("pre").get_text("\n").startswith("<!doctype html>")
    assert shown.select_one("figure img")["src"].startswith("data:image/png;base64,")
    assert "network: 3" in shown.get_text() and "paid by" in shown.get_text()
    assert "0.00000001" in [element.get_text() for element in shown.select(".facts dd")], (
        "money is never in powers of ten"
    )


def test_other_cases_can_grade_the_same_answers(evaluation: Evaluation, tmp_path: Path) -> None:
    make_case(tmp_path / "stricter" / "harbour", test="module.exports.run = async () => {};")
    other = keep(Evaluation(with_cases(evaluation.run, tmp_path / "stricter")), SEEN[:1] * 5)
    assert {verdict.result for verdict in other.evaluate()} == {"passed"}
    again, verdicts = evaluated(load_run(evaluation.run.store))
    assert write(again, verdicts).exists() and again.run.cases[0].code != evaluation.run.cases[0].code


def test_a_screenshot_of_an_earlier_evaluation_is_not_shown(evaluation: Evaluation, tmp_path: Path) -> None:
    evaluation.evaluate()
    make_case(tmp_path / "stricter" / "harbour", test="module.exports.run = async () => {};")
    other = Evaluation(with_cases(evaluation.run, tmp_path / "stricter"))
    assert {verdict.cause for verdict in other.evaluate()} == {"machine"}
    results = json.loads((evaluation.run.evaluated / "results.json").read_text())["results"]
    assert {result["screenshot_path"] for result in results} == {None}
    assert not list(evaluation.run.evaluated.rglob("*.png"))


def test_a_run_gets_its_own_cases_back(evaluation: Evaluation, tmp_path: Path) -> None:
    """The report used the cases of an earlier `--cases`, which have no observations for these verdicts."""
    make_case(tmp_path / "stricter" / "harbour", test="module.exports.run = async () => {};")
    for run in (with_cases(evaluation.run, tmp_path / "stricter"), load_run(evaluation.run.store)):
        keep(Evaluation(run), SEEN[:1] * 5).evaluate()
    again, _ = evaluated(load_run(evaluation.run.store))
    assert again.run.cases[0].digest == evaluation.run.cases[0].digest
    assert all(again.seen(answer) for answer in again.run.answers())


def test_a_run_without_judged_pages_has_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run(Store(tmp_path / "data"), tmp_path / "cases")
    monkeypatch.setattr("pipeline.pages.running.look", lambda _: Looked(SEEN[4]))
    Evaluation(run).evaluate()
    found = json.loads((run.evaluated / "results.json").read_text())
    assert datetime.fromisoformat(found["aggregates"][0]["computed_at"])


@pytest.mark.rule("bad-input")
def test_a_report_without_verdicts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no page run"):
        load_run(Store(tmp_path / "none"))
    run = make_run(Store(tmp_path / "data"), tmp_path / "cases")
    with pytest.raises(UserError, match="this run has no verdicts"):
        evaluated(run)


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize("settings", [{"limits": {"patience": 1}}, {"axe": []}, {"axe": {}}])
def test_settings_that_are_none_are_refused(settings: dict[str, Any], evaluation: Evaluation) -> None:
    evaluation.evaluate()
    path = evaluation.run.evaluated / "settings.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | settings))
    with pytest.raises(UserError, match="no settings of an evaluation") as refused:
        evaluated(evaluation.run)
    assert refused.value.path == path


@pytest.mark.rule("bad-input")
def test_a_verdict_counts_once(evaluation: Evaluation) -> None:
    evaluation.evaluate()
    path = evaluation.run.evaluated / "verdicts.jsonl"
    path.write_bytes(2 * path.read_bytes())
    with pytest.raises(UserError, match="harbour one 0 is in this file twice"):
        evaluated(evaluation.run)


@pytest.mark.rule("bad-input")
def test_a_broken_observation_is_named(evaluation: Evaluation) -> None:
    path = evaluation.unit(evaluation.run.answers()[0]).folder / "seen.json"
    path.write_text("{")
    with pytest.raises(UserError, match="invalid JSON") as refused:
        evaluation.evaluate()
    assert refused.value.path == path


@pytest.mark.rule("bad-input")
def test_a_report_on_answers_that_are_gone_is_refused(evaluation: Evaluation) -> None:
    evaluation.evaluate()
    write_records(evaluation.run.folder / "answers.jsonl", evaluation.run.answers()[1:])
    with pytest.raises(UserError, match="1 page changed since the evaluation"):
        write(*evaluated(evaluation.run))
