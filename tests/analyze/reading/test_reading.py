"""What is read of the stages, what is reported missing, and what is refused."""

from __future__ import annotations

import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas
import pytest
from analyze.conftest import FORMS, UI, add_metadata, add_run, add_verdicts, collect, fill_ledger
from factories import make_instance, make_prediction, make_rejection, make_review, make_verdict

from pipeline import analyze
from pipeline.analyze.report.summary import facts
from pipeline.core.assessment import Assessment
from pipeline.core.errors import UserError
from pipeline.core.records import Instance, Outcome, Verdict
from pipeline.core.store import Store, of_attempt, read_records, write_bytes, write_json, write_records
from pipeline.llm.costs import write_costs
from pipeline.llm.ledger import Booking, Key, Ledger
from pipeline.llm.prices import Usage


def refusal(store: Store) -> UserError:
    with pytest.raises(UserError) as caught:
        analyze.load(store)
    return caught.value


@pytest.mark.rule("missing-is-said")
def test_missing_stages_are_noted_and_left_out(tmp_path):
    """RULES, Analysis: a missing value is not zero."""
    store = Store(tmp_path)
    collect(store)
    frames = analyze.load(store)
    assert "02 build: nothing yet for acme/ui." in frames.notes
    assert "03 predict: nothing yet for acme/ui." in frames.notes
    assert "Costs: none recorded yet." in frames.notes
    assert list(analyze.tables(frames)) == ["funnel", "rejections"]
    assert frames.predictions.empty and frames.costs.empty
    assert [plot.name for plot in analyze.figures(frames)] == ["funnel"]


@pytest.mark.trap("dataset-shrinks")
def test_a_stale_instance_is_noted(store):
    path = store.dataset(UI)
    first, *others = read_records(path, Instance)
    write_records(path, [first.model_copy(update={"stale": "the law of running tests changed"}), *others])
    notes = "\n".join(analyze.load(store, "acme/ui").notes)
    assert "02 build: 1 instance of acme/ui must be qualified again: the law of running tests changed" in notes


@pytest.mark.rule("law")
@pytest.mark.rule("identity")
@pytest.mark.rule("lower-assurance")
def test_reasons_that_verdicts_are_not_comparable_are_noted(store):
    predictions = [make_prediction(number, model_name_or_path="model-c") for number in (1, 2)]
    add_run(store, UI, predictions)
    more = {"law": "another", "differs": ("node: 20 in place of 18",), "lacks": ("negative_control",)}
    more |= {"test_aware": ("src/Menu.test.tsx > Menu > opens",)}
    add_verdicts(store, UI, [make_verdict(prediction, **more) for prediction in predictions])
    notes = analyze.load(store, "acme/ui").notes
    assert any(note.startswith("04 evaluate: models are judged by different laws on 2 instances") for note in notes)
    assert any("2 verdicts on acme/ui ran differently than at qualification" in note for note in notes)
    assert any("2 patches on acme/ui behave differently outside of tests" in note for note in notes)
    assert "04 evaluate: verdicts on acme/ui have lower assurance, since these are missing: negative_control." in notes


def test_a_prediction_without_evaluation_is_noted_and_left_out(store):
    add_run(store, UI, [make_prediction(1, agent="other")])
    frames = analyze.load(store)
    assert "04 evaluate: nothing yet for other, model-a on acme/ui." in frames.notes
    assert "other" not in set(analyze.tables(frames)["resolution"]["agent"])


def test_the_newest_run_counts_and_verdicts_on_older_runs_do_not(store):
    add_run(store, UI, [make_prediction(1, run="n" * 32)], time="20250101T000000Z")
    frames = analyze.load(store, "acme/ui")
    newest = frames.predictions[frames.predictions["model"] == "model-a"]
    assert newest.loc[newest["predicted"], "run"].tolist() == ["n" * 32]
    assert not newest["judged"].any()
    note = "04 evaluate: 3 verdicts of magentless, model-a on acme/ui belong to older patches or images."
    assert note in frames.notes


@pytest.mark.trap("verdict-of-another-patch")
def test_a_changed_patch_counts_as_not_evaluated(store):
    """TRAPS: results cached by instance would give a changed patch the old one's verdict."""
    anew = [make_prediction(1, model_patch="another"), make_prediction(2, model_patch="")]
    add_run(store, UI, anew)
    outcomes = analyze.tables(analyze.load(store, "acme/ui"))["outcomes"].set_index("model")
    assert outcomes.loc["model-a", ["resolved", "empty_patch", "not_evaluated"]].tolist() == [0, 1, 2]


def test_a_single_repository_can_be_selected(store):
    frames = analyze.load(store, "acme__forms")
    assert frames.instances["instance_id"].tolist() == ["acme__forms-1"]
    assert frames.costs["repo"].tolist() == ["acme/forms"]


def test_an_unknown_repository_lists_the_available_ones(store):
    with pytest.raises(UserError, match="available: acme/forms, acme/ui"):
        analyze.load(store, "acme/nothing")


def test_an_empty_folder_is_refused(tmp_path):
    assert "nothing to analyze" in str(refusal(Store(tmp_path)))


@pytest.mark.rule("statement-source")
def test_instances_without_an_issue_can_be_left_out(store):
    """RULES, Mining: a pull request's own text can give the solution away, so every table can leave it out."""
    frames = analyze.load(store, issues_only=True)
    assert "acme__ui-3" not in set(frames.instances["instance_id"]) | set(frames.predictions["instance_id"])
    assert "Left out: 2 without a linked issue. The funnel and what was spent include them." in frames.notes


@pytest.mark.rule("contradictions-are-refused")
def test_an_instance_twice_in_a_dataset_is_refused(store):
    """RULES, Analysis: the message names the file, so that somebody can correct it."""
    write_records(store.dataset(UI), [make_instance(1), make_instance(1)])
    error = refusal(store)
    assert error.path == store.dataset(UI) and error.message == "acme__ui-1 is in this file twice, as record 1 and 2"


def test_an_instance_in_another_repositorys_dataset_is_refused(store):
    write_records(store.dataset(FORMS), [make_instance(1)])
    assert refusal(store).path == store.dataset(FORMS)


def test_an_instance_that_is_also_rejected_is_refused(store):
    path = store.qualification(UI) / "rejections.jsonl"
    write_records(path, [make_rejection(1)])
    error = refusal(store)
    assert error.path == path and error.message == f"acme__ui-1 is rejected here and kept in {store.dataset(UI)}"


def test_a_verdict_on_an_unknown_instance_is_refused(store):
    path = add_verdicts(store, UI, [make_verdict(make_prediction(99))])
    error = refusal(store)
    assert error.path == path and "acme__ui-99 is not in the dataset" in error.message


def test_a_prediction_for_an_unknown_instance_is_refused(store):
    path = add_run(store, UI, [make_prediction(99)], time="20250101T000000Z")
    assert refusal(store).path == path


@pytest.mark.trap("verdict-of-another-model")
def test_a_verdict_in_another_models_folder_is_refused(store):
    """TRAPS: model B is reported with model A's verdict."""
    path = store.evaluation(UI, "magentless", "model-a") / "verdicts.jsonl"
    write_records(path, [make_verdict(make_prediction(1, model_name_or_path="lab/model-b"))])
    error = refusal(store)
    assert error.path == path and "lab/model-b" in error.message


def test_a_resolved_verdict_with_broken_tests_is_refused(store):
    path = add_verdicts(store, UI, [make_verdict(make_prediction(1), Outcome.RESOLVED, broken={"opens": "FAILED"})])
    error = refusal(store)
    assert (error.path, error.field) == (path, "outcome")


@pytest.mark.parametrize(
    ("patch", "outcome", "said"), [("", Outcome.RESOLVED, "resolved"), ("diff", Outcome.EMPTY, "empty")]
)
def test_an_outcome_that_contradicts_the_patch_is_refused_with_both_files(store, patch, outcome, said):
    prediction = make_prediction(1, agent="other", model_patch=patch)
    answers = add_run(store, UI, [prediction])
    path = add_verdicts(store, UI, [make_verdict(prediction, outcome, fixed=())])
    error = refusal(store)
    assert (error.path, error.field) == (path, "outcome")
    assert f"acme__ui-1 is {said}, and its patch in {answers} is" in error.message


def test_a_candidate_that_is_kept_and_rejected_is_refused_with_both_files(store):
    folder = store.raw(UI)
    write_records(folder / "rejections.jsonl", [make_rejection(1, stage="collect", reason="no_test_changes")])
    error = refusal(store)
    assert error.path == folder / "rejections.jsonl" and str(folder / "candidates.jsonl") in error.message


@pytest.mark.rule("reviews-append-only")
def test_the_newest_rating_of_a_rater_counts(store):
    write_records(store.reviews(UI), [make_review(1, rater="zoe"), make_review(1, rater="zoe", status="rejected")])
    reviews = analyze.load(store).reviews
    assert list(reviews[reviews.rater == "zoe"].status) == ["rejected"]


def test_a_funnel_that_is_no_object_is_refused(store):
    write_json(store.raw(UI) / "funnel.json", [])
    assert (refusal(store).path, refusal(store).message) == (store.raw(UI) / "funnel.json", "not a JSON object")


def test_a_broken_funnel_names_the_field(store):
    write_json(store.raw(UI) / "funnel.json", {"repo": "acme/ui", "total": "many"})
    assert refusal(store).field == "total"


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("repair,acme/ui,m,a,,1,1,free,0,0,0", "cost_llm_usd"),
        ("repair,acme/ui,m,a,,1,1,NaN,0,0,0", "cost_llm_usd"),
        ("repair,acme/ui,m,a,,1,1,0,0,0", "cost_emb_usd"),
        ("repair,acme/ui,m,a,,one,1,0,0,0,0", "req_llm"),
        ("mend,acme/ui,m,a,,1,1,0,0,0,0", "track"),
        ("repair,forms,m,a,,1,1,0,0,0,0", "repo"),
        ("repair,,m,a,,1,1,0,0,0,0", "repo"),
        ("repair,acme/ui,,a,,1,1,0,0,0,0", "model"),
        ("repair,acme/ui,m,a,,-1,1,0,0,0,0", "req_llm"),
        (f"repair,acme/ui,m,a,,1,1,0,1,{10**20},0", "tok_emb"),
    ],
)
def test_a_broken_cost_row_names_line_and_field(store, row, field):
    with store.costs.open("a") as lines:
        lines.write(f"{row}\n")
    error = refusal(store)
    assert (error.path, error.line, error.field) == (store.costs, 5, field)


def test_an_experiment_twice_in_the_costs_is_refused(store):
    lines = store.costs.read_text().splitlines()
    write_bytes(store.costs, "\n".join([*lines, lines[1], ""]).encode())
    assert refusal(store).path == store.costs


def test_a_broken_ledger_is_refused(store):
    write_bytes(store.ledger, b"no database, but long enough to look like one" * 100)
    assert refusal(store).path == store.ledger


def test_costs_that_disagree_with_the_ledger_are_noted(store):
    fill_ledger(store)
    notes = analyze.load(store).notes
    assert "Costs: costs.csv has 0.33 USD and the ledger 0.11; the next prediction rewrites it." in notes


@pytest.mark.rule("tracks")
def test_costs_of_another_track_are_not_counted(store):
    """For pages, `repo` is the case set, which may have a repository's name by chance."""
    before = analyze.load(store)
    lines = store.costs.read_text().splitlines()
    pages = [line.replace("repair,", "pages,", 1) for line in lines[1:]]
    write_bytes(store.costs, "\n".join([*lines, *pages, "pages,forms,m,a,,1,1,9,0,0,0", ""]).encode())
    ledger = Ledger(store.ledger)
    for name in ("forms", "acme/ui"):
        ledger.issue(name, Key("alias", name, name, "m", "a", "s", "acme__ui-1", track="pages"))
        ledger.book(ledger.open(name, "m", "llm"), Booking("ok", Usage(1, 1), Decimal(9)))
    ledger.close()
    after = analyze.load(store)
    assert after.costs.equals(before.costs) and len(after.requests) == len(before.requests)
    assert after.predictions.equals(before.predictions)


@pytest.mark.rule("tracks")
def test_costs_without_a_track_count_as_repair(store):
    before = analyze.load(store).costs
    text = store.costs.read_text().replace("track,", "").replace("repair,", "")
    write_bytes(store.costs, text.encode())
    assert analyze.load(store).costs.equals(before)


def test_a_verdict_from_another_image_is_left_out(store):
    write_records(store.dataset(FORMS), [make_instance(1, FORMS, image="j" * 32)])
    frames = analyze.load(store)
    assert not frames.predictions.query("instance_id == 'acme__forms-1'")["judged"].any()
    assert (
        "04 evaluate: 1 verdicts of magentless, lab/model-b on acme/forms belong to older patches or images."
        in frames.notes
    )


@pytest.mark.rule("swe-bench-predictions")
def test_predictions_without_an_agent_get_it_from_their_folder(store):
    """RULES, Names and records: predictions in SWE-bench's format are read, too."""
    path = add_run(store, UI, [make_prediction(1, agent="other")])
    write_records(path, [make_prediction(1, agent="")])
    assert "other" in set(analyze.load(store).predictions["agent"])


def test_the_cause_of_a_missing_answer(store):
    path = add_run(store, UI, [make_prediction(1)])
    write_json(path.with_name("metadata.json"), {"unanswered": {"acme__ui-2": "rate_limited"}})
    rows = analyze.load(store).predictions.query("model == 'model-a'").set_index("instance_id")
    assert rows.loc["acme__ui-2", ["predicted", "ended"]].tolist() == [False, "rate_limited"]


def test_a_run_without_answers_is_known_from_its_description(store):
    path = add_run(store, UI, [make_prediction(1, agent="silent")])
    write_records(path, [])
    rows = analyze.load(store).predictions.query("agent == 'silent'")
    assert len(rows) == 4 and not rows["predicted"].any()


@pytest.mark.rule("money-adds-up")
def test_each_instance_has_its_requests_tokens_and_cost(store):
    """RULES, Money: per instance, for any agent; shared costs belong to no instance."""
    fill_ledger(store)
    rows = analyze.load(store).predictions.dropna(subset="cost_usd")
    spent = rows[["model", "instance_id", "requests", "tokens", "cost_usd", "seconds"]]
    assert spent.to_numpy().tolist() == [["model-a", "acme__ui-1", 2, 220, Decimal("0.10"), 1.0]]


def test_counts_of_gold_files_that_the_agent_located_saw_and_edited(store):
    add_metadata(store, "acme__ui-1", sets=[{"located": ["src/Menu.tsx", "a.css"], "shown": []}])
    rows = analyze.load(store).predictions.dropna(subset="gold_located")
    assert rows[["gold_files", "gold_located", "gold_shown", "gold_edited"]].to_numpy().tolist() == [[1, 1, 0, 1]]


def test_attempts_in_other_data_directories_are_samples(store, tmp_path):
    other = Store(tmp_path / "second")
    add_verdicts(other, UI, [make_verdict(make_prediction(n, run="second"), Outcome.EMPTY) for n in (1, 2)])
    rows = analyze.load(store, samples=[other.root]).samples.query("model == 'model-a'")
    assert rows.groupby("instance_id")["resolved"].agg(list).to_dict() == {
        "acme__ui-1": [True, False],
        "acme__ui-2": [False, False],
        "acme__ui-3": [False],
    }


@pytest.mark.rule("missing-is-said")
def test_another_data_directory_without_verdicts_is_noted(store, tmp_path):
    """A folder that is none, such as the one above it, was ignored without a word."""
    notes = analyze.load(store, samples=[tmp_path]).notes
    assert f"Samples: {tmp_path.name} has no verdict on these instances that counts (just eval-run there)." in notes


def test_further_attempts_in_other_data_directories_are_samples(store, tmp_path):
    """Only the first attempt of each counted. One that is left from an older run of that directory does not."""
    other, prediction = Store(tmp_path / "second"), make_prediction(1, run="second")
    path = add_verdicts(other, UI, [make_verdict(prediction, Outcome.UNRESOLVED)])
    older = make_verdict(make_prediction(1, run="older"))
    for attempt, verdict in ((2, make_verdict(prediction)), (3, older)):
        write_records(of_attempt(path.parent, attempt) / "verdicts.jsonl", [verdict])
    rows = analyze.load(store, samples=[other.root]).samples.query("data == 'second'")
    assert rows[["attempt", "resolved"]].values.tolist() == [[1, False], [2, True]]


@pytest.mark.trap("verdict-of-another-patch")
@pytest.mark.parametrize("elsewhere", [False, True])
def test_verdicts_of_further_attempts_on_older_patches_are_left_out(tmp_path, elsewhere):
    """Only those of first attempts were compared with their answers."""
    store, other = Store(tmp_path / "data"), Store(tmp_path / "other")
    write_records(store.dataset(UI), [make_instance(1)])
    first = make_prediction(1, run="a run")
    for data in (store, other) if elsewhere else (store,):
        run = add_run(data, UI, [first], "a run").parent
        path = add_verdicts(data, UI, [make_verdict(first)])
    second = first.model_copy(update={"model_patch": first.model_patch + "+more\n"})
    write_records(of_attempt(run, 2) / "predictions.jsonl", [second])
    for verdict, ends in (
        (make_verdict(second), ["resolved"] * 2),
        (make_verdict(first), ["resolved", "not_evaluated"]),
    ):
        write_records(of_attempt(path.parent, 2) / "verdicts.jsonl", [verdict])
        frames = analyze.load(store, samples=[other.root] if elsewhere else [])
        assert frames.samples["outcome"].tolist() == ends
    whose = "Samples: 1 verdicts in other" if elsewhere else "1 verdicts on further attempts of magentless, model-a"
    assert any(whose in note and "belong to older patches" in note for note in frames.notes)


def test_samples_of_another_dataset_are_refused(store, tmp_path):
    other = Store(tmp_path / "second")
    add_verdicts(other, UI, [make_verdict(make_prediction(1), image="j" * 32)])
    with pytest.raises(UserError, match="another image"):
        analyze.load(store, samples=[other.root])


# -- the assessment, beside the verdicts -------------------------------------------------------------------------------
def assess(store: Store, verdict: Verdict, **said: Any) -> Path:
    """The assessment of an unresolved prediction."""
    who = verdict.model_dump(include={"instance_id", "agent", "model", "run", "patch_digest", "image"})
    fields = {"resolved": False, "resolved_equivalent": True, "snapshot": {"likeness": "cosmetic", "tests": {}}}
    path = store.evaluation(UI, verdict.agent, verdict.model) / "assessments.jsonl"
    write_records(path, [Assessment(**who | fields | said)])
    return path


@pytest.fixture
def unresolved(store) -> Verdict:
    prediction = make_prediction(1, agent="other")
    add_run(store, UI, [prediction])
    verdict = make_verdict(prediction, Outcome.UNRESOLVED)
    add_verdicts(store, UI, [verdict])
    return verdict


def of_other(store: Store) -> Any:
    return analyze.load(store).predictions.query("agent == 'other' and instance_id == 'acme__ui-1'").iloc[0]


@pytest.mark.rule("assessment-beside-the-verdict")
def test_an_assessment_is_shown_beside_the_verdict(store, unresolved):
    assess(store, unresolved)
    row = of_other(store)
    assert (row.resolved, row.equivalent, row.snapshot) == (False, True, "cosmetic")


def test_an_assessment_of_another_patch_is_left_out(store, unresolved):
    assess(store, unresolved, patch_digest="0" * 32)
    assert pandas.isna(of_other(store).equivalent)


def test_violations_are_counted(store, unresolved):
    """The frames contain their numbers; the violations themselves are in the assessment."""
    image = {"rule": "image-alt", "criteria": ("1.1.1",), "element": "img", "tests": ("a",)}
    fixed, label = image | {"element": "link > img"}, image | {"rule": "label"}
    axe = {"base": 2, "gold": 0, "candidate": 3, "fixed": (fixed,), "remaining": (image,), "introduced": (label, image)}
    assess(store, unresolved, axe=axe | {"tests": 4})
    columns = ["axe_fixed", "axe_remaining", "axe_introduced", "axe_tests"]
    assert of_other(store)[columns].tolist() == [1, 1, 2, 4]


@pytest.mark.rule("bad-input")
def test_an_assessment_that_contradicts_its_verdict_is_refused(store, unresolved):
    path = assess(store, unresolved, resolved=True)
    error = refusal(store)
    assert (error.path, error.field) == (path, "resolved")
    assert "verdicts.jsonl" in error.message


def ask_for(store: Store, number: int, answer: str, cost: str, **more: Any) -> None:
    """One request for an answer, or for several of them if no instance is named."""
    ledger = Ledger(store.ledger)
    whose = {"alias": "alias", "repo": str(UI), "model": "model-a", "agent": "magentless", "settings": "s"}
    holder = UI.instance_id(number) if answer else "shared"
    ledger.issue(f"{answer}{cost}", Key(**whose, holder=holder, answer=answer, **{"experiment": "now", **more}))
    ledger.book(ledger.open(f"{answer}{cost}", "model-a", "llm"), Booking("ok", Usage(1, 1), Decimal(cost), 1))
    ledger.close()


@pytest.mark.trap("money-of-all-runs")
def test_only_costs_of_the_shown_answers_count(tmp_path: Path) -> None:
    """Our first version divided the costs of all runs by the newest answers."""
    store = Store(tmp_path)
    write_records(store.dataset(UI), [make_instance(1), make_instance(2)])
    shown = [make_prediction(number, answer=f"answer-{number}") for number in (1, 2)]
    path = add_run(store, UI, shown)
    write_json(path.with_name("run.json"), {"agent": "magentless", "model": "model-a", "experiment": "now"})
    ask_for(store, 1, "answer-1", "0.10")
    ask_for(store, 1, "answer-1", "0.02")  # a try that was stopped
    ask_for(store, 2, "answer-2", "0.20")
    ask_for(store, 1, "", "0.04")
    ask_for(store, 1, "an-older-answer", "5")
    ask_for(store, 1, "", "3", experiment="before")
    write_costs(store)
    frames = analyze.load(store)
    (row,) = analyze.tables(frames)["costs"].to_dict("records")
    assert (row["cost_usd"], row["spent_usd"], row["predicted"]) == (Decimal("0.36"), Decimal("8.36"), 2)
    assert frames.predictions["cost_usd"].tolist() == [Decimal("0.12"), Decimal("0.20")]


@pytest.mark.trap("money-of-all-runs")
@pytest.mark.parametrize("has_ledger", [True, False])
def test_only_costs_of_the_answers_that_are_left_count(tmp_path: Path, has_ledger: bool) -> None:
    """With --issues-only, the whole cost was divided by the remaining answers. It is unknown without a ledger."""
    store = Store(tmp_path)
    write_records(store.dataset(UI), [make_instance(1), make_instance(2, statement_source="pull_request")])
    path = add_run(store, UI, [make_prediction(number, answer=f"answer-{number}") for number in (1, 2)])
    write_json(path.with_name("run.json"), {"agent": "magentless", "model": "model-a", "experiment": "now"})
    for number, answer, cost in ((1, "answer-1", "0.10"), (2, "answer-2", "0.20"), (1, "", "0.04")):
        ask_for(store, number, answer, cost)
    write_costs(store)
    if not has_ledger:
        store.ledger.unlink()
    frames = analyze.load(store, issues_only=True)
    (row,) = analyze.tables(frames)["costs"].to_dict("records")
    shown = Decimal("0.14") if has_ledger else None
    assert (row["cost_usd"], row["spent_usd"], row["predicted"]) == (shown, Decimal("0.34"), 1)
    assert pandas.isna(row["cost_per_instance_usd"]) is not has_ledger
    assert (analyze.figure(frames, "costs") is not None) is has_ledger
    (whole,) = analyze.tables(analyze.load(store))["costs"].to_dict("records")
    assert whole["cost_usd"] == Decimal("0.34")


@pytest.mark.parametrize(("cause", "cost"), [("cap_reached", "1.10"), ("agent_error", "1.10"), ("provider", "0.10")])
def test_what_an_agent_spent_on_an_answer_that_it_failed_to_give_counts(tmp_path: Path, cause: str, cost: str) -> None:
    """It counts as unresolved. The lower its cap, the cheaper an agent seemed to be."""
    store = Store(tmp_path)
    write_records(store.dataset(UI), [make_instance(1), make_instance(2)])
    path = add_run(store, UI, [make_prediction(1, answer="given")])
    write_json(path.with_name("run.json"), {"agent": "magentless", "model": "model-a", "experiment": "now"})
    missing = {"unanswered": {UI.instance_id(2): cause}, "answers": {UI.instance_id(2): "missing"}}
    write_json(path.with_name("metadata.json"), missing)
    ask_for(store, 1, "given", "0.10")
    ask_for(store, 2, "missing", "1.00")
    write_costs(store)
    (row,) = analyze.tables(analyze.load(store))["costs"].to_dict("records")
    assert (row["cost_usd"], row["spent_usd"]) == (Decimal(cost), Decimal("1.10"))


@pytest.mark.trap("money-of-all-runs")
def test_answers_that_two_names_share_count_once_in_sums(tmp_path: Path) -> None:
    """Two settings of the same content have one experiment, booked under its first name: the sum of all rows counted
    the answers twice, and nothing was spent under the other name."""
    store = Store(tmp_path)
    write_records(store.dataset(UI), [make_instance(1), make_instance(2)])
    for agent, numbers in (("magentless", (1, 2)), ("magentless@same", (1,))):
        shown = [make_prediction(number, agent=agent, answer=f"answer-{number}") for number in numbers]
        path = add_run(store, UI, shown)
        write_json(path.with_name("run.json"), {"agent": agent, "model": "model-a", "experiment": "now"})
        add_verdicts(store, UI, list(map(make_verdict, shown)))
    for number, answer, cost in ((1, "answer-1", "0.10"), (2, "answer-2", "0.20"), (1, "", "0.04"), (1, "old", "5")):
        ask_for(store, number, answer, cost)
    write_costs(store)
    made = analyze.tables(analyze.load(store))
    columns = ["cost_usd", "spent_usd", "predicted", "non_empty", "resolved"]
    everything = Decimal("5.34")
    assert made["costs"][columns].values.tolist() == [
        [Decimal("0.34"), everything, 2, 2, 2],
        [Decimal("0.14"), everything, 1, 1, 1],
        [Decimal("0.34"), everything, 2, 2, 2],
    ]
    assert made["model_costs"]["spent_usd"].tolist() == [everything, everything]
    assert made["usage"]["cost_llm_usd"].tolist() == [everything]


def test_a_run_covers_only_its_own_instances(tmp_path: Path) -> None:
    store = Store(tmp_path)
    write_records(store.dataset(UI), [make_instance(1), make_instance(2)])
    path = add_run(store, UI, [make_prediction(2)])
    about = {"agent": "magentless", "model": "model-a", "instances": [UI.instance_id(2)]}
    write_json(path.with_name("run.json"), about)
    assert analyze.load(store).predictions["instance_id"].tolist() == [UI.instance_id(2)]


def test_named_settings_are_separate_rows_of_one_table(tmp_path: Path) -> None:
    store = Store(tmp_path)
    write_records(store.dataset(UI), [make_instance(1)])
    for agent, outcome in (("magentless", Outcome.UNRESOLVED), ("magentless@greedy", Outcome.RESOLVED)):
        prediction = make_prediction(1, agent=agent)
        add_run(store, UI, [prediction])
        add_verdicts(store, UI, [make_verdict(prediction, outcome)])
    table = analyze.tables(analyze.load(store))["resolution"]
    assert dict(zip(table["agent"], table["resolved"], strict=True)) == {"magentless@greedy": 1, "magentless": 0}


def test_further_attempts_give_pass_at_k(tmp_path: Path) -> None:
    """Without further data directories; the tables of resolved instances show the first attempt."""
    store = Store(tmp_path)
    write_records(store.dataset(UI), [make_instance(1)])
    prediction = make_prediction(1)
    add_run(store, UI, [prediction])
    path = add_verdicts(store, UI, [make_verdict(prediction, Outcome.UNRESOLVED)])
    second = make_verdict(prediction, Outcome.RESOLVED)
    stale = second.model_copy(update={"run": "an older one"})
    write_records(of_attempt(path.parent, 2) / "verdicts.jsonl", [second])
    write_records(of_attempt(path.parent, 3) / "verdicts.jsonl", [stale])
    made = analyze.tables(analyze.load(store))
    assert made["pass_at_k"][["k", "attempts", "pass_at_k_pct"]].values.tolist() == [[1, 2, 50], [2, 2, 100]]
    assert made["resolution"]["resolved"].tolist() == [0]


def test_instances_with_fewer_attempts_are_noted(tmp_path: Path) -> None:
    """A single instance with only one attempt rules out pass@k."""
    store = Store(tmp_path)
    write_records(store.dataset(UI), [make_instance(1), make_instance(2)])
    predictions = [make_prediction(1), make_prediction(2)]
    add_run(store, UI, predictions)
    path = add_verdicts(store, UI, [make_verdict(prediction) for prediction in predictions])
    for tries, is_noted in ((1, True), (2, False)):
        write_records(
            of_attempt(path.parent, 2) / "verdicts.jsonl",
            [make_verdict(prediction) for prediction in predictions[:tries]],
        )
        notes = " ".join(analyze.load(store).notes)
        assert ("pass@k of model-a (magentless) ends at k = 1: not every instance has 2 attempts" in notes) is is_noted


def twice_answered(store: Store, judged: int) -> None:
    """Two attempts at two instances were answered; all first attempts were evaluated, and some of the second ones."""
    write_records(store.dataset(UI), [make_instance(1), make_instance(2)])
    predictions = [make_prediction(1, run="a run"), make_prediction(2, run="a run")]
    run = add_run(store, UI, predictions, "a run")
    second = [one.model_copy(update={"model_patch": one.model_patch + "+more\n"}) for one in predictions]
    write_records(of_attempt(run.parent, 2) / "predictions.jsonl", second)
    path = add_verdicts(store, UI, [make_verdict(one, Outcome.UNRESOLVED) for one in predictions])
    write_records(of_attempt(path.parent, 2) / "verdicts.jsonl", list(map(make_verdict, second[:judged])))


@pytest.mark.rule("incomplete-is-marked")
@pytest.mark.parametrize(("judged", "share"), [(0, 0), (1, 50), (2, 100)])
def test_attempts_that_were_answered_but_not_evaluated_count(tmp_path: Path, judged: int, share: int) -> None:
    """They vanished: the curve of pass@k ended before them, or the model had a single attempt and was complete."""
    store = Store(tmp_path)
    twice_answered(store, judged)
    frames = analyze.load(store)
    made = analyze.tables(frames)
    assert made["pass_at_k"][["k", "pass_at_k_pct"]].values.tolist() == [[1, share / 2], [2, share]]
    assert made["leaderboard"][["attempts", "pass_at_all_pct"]].values.tolist() == [[2, share]]
    assert {*made["pass_at_k"]["incomplete"], *made["leaderboard"]["incomplete"]} == {judged < 2}
    missing = "further attempts of magentless, model-a on acme/ui have no verdict, and count as not resolved"
    assert [note.split()[2] for note in frames.notes if missing in note] == ([str(2 - judged)] if judged < 2 else [])


def test_attempts_that_were_wanted_but_not_answered_count(tmp_path: Path) -> None:
    """The run's record says how many were wanted; the top of the report has the number of answers that there are."""
    store = Store(tmp_path)
    twice_answered(store, 2)
    path = next(store.root.glob("03_predictions/**/run.json"))
    write_json(path, {"agent": "magentless", "model": "model-a", "attempts": 3})
    frames = analyze.load(store)
    made = analyze.tables(frames)
    assert made["pass_at_k"]["pass_at_k_pct"].round(1).tolist() == [33.3, 66.7, 100]
    assert made["leaderboard"]["incomplete"].tolist() == [True]
    assert dict(facts(frames, made))["answers"] == "4"


@pytest.mark.parametrize("elsewhere", [1, 2])
def test_an_attempt_without_a_verdict_takes_that_of_another_directory(tmp_path: Path, elsewhere: int) -> None:
    """A copy that was evaluated further has the verdict on the same answer; one that was not has none either."""
    store, other = Store(tmp_path / "data"), Store(tmp_path / "other")
    twice_answered(store, 1)
    twice_answered(other, elsewhere)
    frames = analyze.load(store, samples=[other.root])
    assert len(frames.samples) == 4
    assert frames.samples["evaluated"].sum() == 2 + elsewhere


def test_answers_of_other_directories_without_a_verdict_count(tmp_path: Path) -> None:
    store, other = Store(tmp_path / "data"), Store(tmp_path / "other")
    twice_answered(store, 2)
    twice_answered(other, 0)
    for path in (*other.root.glob("0[34]_*/**/*.jsonl"), *other.root.glob("03_*/**/run.json")):
        path.write_text(path.read_text().replace("a run", "other run"))
    folder = next(other.root.glob("03_predictions/**/a run"))
    folder.rename(folder.with_name("other run"))
    frames = analyze.load(store, samples=[other.root])
    assert analyze.tables(frames)["pass_at_k"]["k"].max() == 4
    assert "Samples: 2 attempts in other have no verdict, and count as not resolved." in frames.notes


def kept_answer(store: Store, finished: str, run: str) -> None:
    """A run that shows the same kept answer for the first instance, and its verdict."""
    prediction = make_prediction(1, run=run, answer="kept")
    write_json(store.answers(UI, "acme__ui-1", "kept") / "manifest.json", {"finished": finished, "inputs": {}})
    add_run(store, UI, [prediction], run)
    add_verdicts(store, UI, [make_verdict(prediction)])


@pytest.mark.trap("attempt-counted-twice")
def test_a_copied_attempt_counts_once(store: Store, tmp_path: Path) -> None:
    copies = [Path(shutil.copytree(store.root, tmp_path / name)) for name in ("copy", "second")]
    again, once = analyze.load(store, samples=[*copies, copies[0]]), analyze.load(store)
    assert len(again.samples) == len(once.samples)
    assert "Samples: 6 attempts in copy were counted before, and count once." in again.notes
    with pytest.raises(UserError, match="field '--samples': this is the data directory itself"):
        analyze.load(store, samples=[store.root.parent / "copy" / ".." / store.root.name])


@pytest.mark.trap("attempt-counted-twice")
@pytest.mark.parametrize(
    ("finished", "run", "attempts"),
    [
        ("2024-05-06T07:08:09Z", "first", 1),
        ("2024-05-06T07:08:09Z", "another view", 1),
        ("2024-05-07T00:00:00Z", "another run", 2),
    ],
)
def test_equal_answers_of_different_times_are_different_attempts(
    tmp_path: Path, finished: str, run: str, attempts: int
) -> None:
    """An answer has the same name in every data directory, since it follows from the question; its time is its own."""
    first, second = Store(tmp_path / "first"), Store(tmp_path / "second")
    write_records(first.dataset(UI), [make_instance(1)])
    kept_answer(first, "2024-05-06T07:08:09Z", "first")
    kept_answer(second, finished, run)
    assert len(analyze.load(first, samples=[second.root]).samples) == attempts


def test_every_attempt_has_a_row_with_outcome_and_cost(tmp_path: Path) -> None:
    """Tables used to count the attempts, but had neither outcome nor cost of the later ones."""
    store = Store(tmp_path)
    write_records(store.dataset(UI), [make_instance(1), make_instance(2)])
    first, second = ([make_prediction(n, answer=f"{name}-{n}") for n in (1, 2)] for name in ("first", "second"))
    run = add_run(store, UI, first)
    write_records(of_attempt(run.parent, 2) / "predictions.jsonl", second)
    write_json(run.with_name("run.json"), {"agent": "magentless", "model": "model-a", "experiment": "now"})
    ends = (Outcome.UNRESOLVED, Outcome.TIMEOUT), (Outcome.RESOLVED, Outcome.NOT_EVALUATED)
    path = add_verdicts(store, UI, list(map(make_verdict, first, ends[0])))
    write_records(of_attempt(path.parent, 2) / "verdicts.jsonl", list(map(make_verdict, second, ends[1])))
    for number, answer, cost in ((1, "first-1", "0.10"), (2, "first-2", "0.20"), (1, "second-1", "0.03"), (1, "", "1")):
        ask_for(store, number, answer, cost)
    write_costs(store)
    made = analyze.tables(analyze.load(store))
    columns = ["attempt", "instances", "evaluated", "resolved", "resolved_pct", "cost_usd"]
    assert made["attempts"][columns].values.tolist() == [
        [1, 2, 2, 0, 0, Decimal("0.30")],
        [2, 2, 1, 1, 50, Decimal("0.03")],
    ]
    found = made["instance_attempts"].set_index("instance_id")
    assert found["ends"].tolist() == ["unresolved, resolved", "timeout, not_evaluated"]
    assert found["cost_usd"].tolist() == [Decimal("0.13"), Decimal("0.20")]
    assert made["leaderboard"][["attempts", "resolved", "pass_at_all_pct"]].values.tolist() == [[2, 0, 50]]
    assert made["costs"]["attempts"].tolist() == [2]
    money = made["instance_costs"][["holder", "attempt", "cost_usd"]].astype(object)
    assert money.where(money.notna(), None).values.tolist() == [
        ["acme__ui-1", 1, Decimal("0.10")],
        ["acme__ui-1", 2, Decimal("0.03")],
        ["acme__ui-2", 1, Decimal("0.20")],
        ["shared", None, Decimal("1")],
        [None, None, Decimal("1.33")],
    ]


def test_a_single_attempt_makes_no_table_of_attempts(store) -> None:
    made = analyze.tables(analyze.load(store))
    assert "attempts" not in made and "instance_attempts" not in made
    assert made["leaderboard"]["pass_at_all_pct"].isna().all()
