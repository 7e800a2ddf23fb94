"""Tables on models; conftest's small data directory, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd
import pytest
from analyze.conftest import UI, about, add_metadata, add_run, add_verdicts, check_by_hand
from analyze.measures.conftest import rows
from factories import make_instance, make_prediction, make_verdict

from pipeline import analyze
from pipeline.analyze.measures import model
from pipeline.core.errors import UserError
from pipeline.core.records import Outcome
from pipeline.core.store import Store, of_attempt, write_records


@pytest.mark.trap("denominator")
def test_every_instance_is_in_the_denominator(tables):
    """TRAPS: instances without a prediction vanish from the denominator."""
    columns = ("model", "instances", "evaluated", "resolved", "resolved %", "resolved interval")
    assert rows(tables, "resolution", *columns) == [
        "lab/model-b 4 2 2 50.0 15.0–85.0",
        "model-a 4 3 1 25.0 4.6–69.9",
    ]


@pytest.mark.rule("micro-and-macro")
def test_micro_and_macro_averages_side_by_side(tables):
    """RULES, Analysis. model-a: 1 of 3 and 0 of 1, so 25% and a mean of 33.3 and 0; model-b: 1 of 3 and 1 of 1."""
    assert rows(tables, "resolution", "model", "resolved %", "macro %") == [
        "lab/model-b 50.0 66.7",
        "model-a 25.0 16.7",
    ]


def test_a_subset_of_the_instances_is_marked_and_last(store):
    """One of one is no better than two of four; and an instance that one model was not given is not "resolved by
    all"."""
    prediction = make_prediction(1, model_name_or_path="model-c")
    about(add_run(store, UI, [prediction]), prediction.instance_id)
    add_verdicts(store, UI, [make_verdict(prediction)])
    tables = analyze.tables(analyze.load(store, "acme/ui"))
    ranked = ["lab/model-b 1 3 no", "model-a 1 3 no", "model-c 1 1 yes"]
    for name in ("leaderboard", "resolution"):
        assert rows(tables, name, "model", "resolved", "instances", "subset") == ranked
    assert rows(tables, "together", "by any", "by all") == ["1 1"]


@pytest.mark.invariant(4)
@pytest.mark.rule("incomplete-is-marked")
def test_unevaluated_instances_are_no_failures_and_mark_the_run_incomplete(tables):
    """Invariant 4: an infrastructure fault is recorded as "not evaluated", and is no model's failure."""
    assert rows(tables, "resolution", "model", "resolved of evaluated %", "incomplete") == [
        "lab/model-b 100.0 yes",
        "model-a 33.3 yes",
    ]


def test_a_run_without_evaluations_has_an_unknown_rate_instead_of_zero(store):
    prediction = make_prediction(1, agent="other")
    add_run(store, UI, [prediction])
    add_verdicts(store, UI, [make_verdict(prediction, Outcome.NOT_EVALUATED, cause="engine")])
    tables = analyze.tables(analyze.load(store, "acme/ui"))
    found = rows(tables, "resolution", "agent", "evaluated", "resolved %", "resolved of evaluated %")
    assert "other 0 0.0 –" in found


@pytest.mark.rule("references")
def test_references_are_marked_and_left_out_of_comparisons(store):
    """RULES, Running: oracle and nop need no model; they check the dataset."""
    prediction = make_prediction(1, agent="oracle", model_name_or_path="oracle")
    add_run(store, UI, [prediction])
    add_verdicts(store, UI, [make_verdict(prediction)])
    tables = analyze.tables(analyze.load(store))
    assert rows(tables, "resolution", "model", "kind")[-1] == "oracle reference"
    others = {name for name, table in tables.items() if "model" in table and "kind" not in table}
    assert not any((tables[name]["model"] == "oracle").any() for name in others)
    assert rows(tables, "together", "repository", "models")[-1] == "all 2"


def test_outcomes_add_up_to_the_dataset(tables):
    assert rows(tables, "outcomes", "model", "resolved", "unresolved", "empty patch", "not evaluated") == [
        "lab/model-b 2 0 0 2",
        "model-a 1 1 1 1",
    ]
    counts = [outcome.value for outcome in Outcome if outcome is not Outcome.EMPTY]
    assert tables["outcomes"][[*counts, "empty_patch"]].sum(axis="columns").tolist() == [4, 4]


def test_pairs_are_compared_on_instances_that_both_were_evaluated_on(tables):
    """Only the first instance of acme/ui was evaluated for both, and both resolved it."""
    assert rows(tables, "comparison") == ["lab/model-b model-a 1 1 0 0 0 1.000 1.000"]


def test_mcnemar_counts_instances_that_only_one_of_two_models_resolved():
    """The last instance was evaluated for only one of them."""
    names = [f"acme__ui-{number}" for number in range(9)]
    first = pd.array([True, True, True, True, True, True, False, False, True], "boolean")
    second = pd.array([False, False, False, False, False, True, True, False, None], "boolean")
    (pair,) = model._pairs(pd.DataFrame({"one": first, "two": second}, index=names))
    counted = ("instances", "both", "only_first", "only_second", "neither")
    assert [pair[name] for name in counted] == [8, 1, 5, 1, 1]
    assert pair["p_value"] == pytest.approx(0.21875)


def test_one_attempt_gives_the_leaderboards_rates(tables):
    """Instances that were never evaluated count as on the leaderboard: model-b resolves two of four, model-a one."""
    assert rows(tables, "pass_at_k") == ["lab/model-b magentless 1 4 1 50.0 yes", "model-a magentless 1 4 1 25.0 yes"]
    leaders = tables["leaderboard"].set_index("model")["resolved_pct"]
    assert (leaders["lab/model-b"], leaders["model-a"]) == (50, 25)


def test_pass_at_k_of_two_attempts(store, tmp_path):
    """model-a: instance 1 is resolved in one of two attempts, 2 in none, 3 was never evaluated: pass@1 is 1/2 of 3,
    pass@2 is 1 of 3."""
    again = Store(tmp_path / "again")
    add_verdicts(again, UI, [make_verdict(make_prediction(n, run="again"), Outcome.EMPTY) for n in (1, 2, 3)])
    frames = analyze.load(store, "acme/ui", samples=[again.root])
    kept = frames.samples.query("model == 'model-a' and instance_id != 'acme__ui-3'")
    frames = replace(frames, samples=kept)
    found = model.pass_at_k(frames)[["k", "pass_at_k_pct"]].round(1).to_numpy().tolist()
    assert found == [[1, 16.7], [2, 33.3]]
    with pytest.raises(UserError, match="pass@3 needs at least 3 attempts"):
        model.pass_at_k(frames, up_to=3)


@pytest.mark.invariant(4)
@pytest.mark.rule("incomplete-is-marked")
@pytest.mark.parametrize(("second", "incomplete"), [(Outcome.NOT_EVALUATED, "yes"), (Outcome.UNRESOLVED, "no")])
def test_an_unevaluated_second_attempt_marks_the_row_incomplete(tmp_path, second, incomplete):
    """A fault of the machine counted as a failure of the model, and nothing said so."""
    store, prediction = Store(tmp_path / "data"), make_prediction(1)
    write_records(store.dataset(UI), [make_instance(1)])
    add_run(store, UI, [prediction])
    path = add_verdicts(store, UI, [make_verdict(prediction)])
    write_records(of_attempt(path.parent, 2) / "verdicts.jsonl", [make_verdict(prediction, second)])
    made = analyze.tables(analyze.load(store))
    for name in ("leaderboard", "resolution"):
        assert rows(made, name, "attempts", "incomplete") == [f"2 {incomplete}"]
    assert rows(made, "pass_at_k", "k", "pass@k %", "incomplete") == [f"1 50.0 {incomplete}", f"2 100.0 {incomplete}"]


def test_only_instances_that_the_model_was_given_count(tmp_path):
    """The other directory has an attempt at a second instance: pass@1 was 2 of 3, and attempt 1 of it 2 of 1."""
    store, other = Store(tmp_path / "data"), Store(tmp_path / "other")
    write_records(store.dataset(UI), [make_instance(1), make_instance(2)])
    about(add_run(store, UI, [make_prediction(1)]), UI.instance_id(1))
    add_verdicts(store, UI, [make_verdict(make_prediction(1), Outcome.UNRESOLVED)])
    add_verdicts(other, UI, [make_verdict(make_prediction(number, run="other")) for number in (1, 2)])
    frames = analyze.load(store, samples=[other.root])
    made = analyze.tables(frames)
    assert rows(made, "pass_at_k", "k", "instances", "pass@k %") == ["1 1 50.0", "2 1 100.0"]
    assert rows(made, "attempts", "data", "instances", "resolved") == ["data 1 0", "other 1 1"]
    assert not any("pass@k" in note for note in frames.notes)


def test_data_directories_of_one_name_are_kept_apart(tmp_path):
    """Their first attempts were one group: two of one instance were resolved, and the interval an error."""
    store, other = Store(tmp_path / "data"), Store(tmp_path / "two" / "data")
    write_records(store.dataset(UI), [make_instance(1)])
    add_run(store, UI, [make_prediction(1)])
    add_verdicts(store, UI, [make_verdict(make_prediction(1))])
    add_verdicts(other, UI, [make_verdict(make_prediction(1, run="other"))])
    made = analyze.tables(analyze.load(store, samples=[other.root]))
    assert rows(made, "attempts", "data", "instances", "resolved") == ["data 1 1", "two/data 1 1"]


def test_empty_patches_micro_and_macro(tables):
    columns = ("model", "predicted", "non empty", "empty patches", "non empty %", "non empty macro %")
    assert rows(tables, "patches", *columns) == ["lab/model-b 3 3 0 100.0 100.0", "model-a 3 2 1 66.7 66.7"]


@pytest.mark.rule("two-denominators")
def test_localisation_of_patches_and_of_all_answers(tables):
    """RULES, Analysis. model-a: gold's file once, another file once, and one empty answer."""
    columns = ("model", "jaccard mean", "perfect", "partial", "miss", "perfect %", "miss %")
    assert rows(tables, "localisation", *columns) == [
        "lab/model-b 1.00 3 0 0 100.0 0.0",
        "model-a 0.50 1 0 1 50.0 50.0",
    ]
    assert rows(tables, "localisation", "jaccard of all", "perfect of all %", "touched of all %") == [
        "1.00 100.0 100.0",
        "0.33 33.3 33.3",
    ]


def test_the_size_of_patches_against_their_own_gold(store):
    """Two added lines more than gold's two, in one block like gold's."""
    longer = make_prediction(1).model_patch + "+one more;\n+and another;\n"
    add_run(store, UI, [make_prediction(1, model_patch=longer), make_prediction(2, model_patch="")])
    tables = analyze.tables(analyze.load(store, "acme/ui"))
    columns = ("model", "non empty", "files mean", "files change %", "lines mean", "gold lines mean", "lines change %")
    assert rows(tables, "structure", *columns)[1] == "model-a 1 1.0 0.0 4.0 2.0 100.0"


def test_the_funnel_of_an_agent_goes_on_into_the_evaluation(store):
    add_metadata(store, "acme__ui-1", funnel={"located": 3, "matched": 1})
    add_metadata(store, "acme__ui-2", funnel={"located": 2, "matched": 0})
    tables = analyze.tables(analyze.load(store))
    assert rows(tables, "stages", "model", "place", "stage", "reached", "reached %") == [
        "model-a 1 located 2 66.7",
        "model-a 2 matched 1 33.3",
        "model-a 3 tests run 2 66.7",
        "model-a 4 resolved 1 33.3",
    ]


def test_shares_of_gold_files_located_shown_and_edited(store):
    add_metadata(store, "acme__ui-1", sets=[{"located": ["src/Menu.tsx"], "shown": ["src/Menu.tsx"]}])
    add_metadata(store, "acme__ui-2", sets=[{"located": ["src/Menu.tsx"], "shown": ["a.css"]}])
    tables = analyze.tables(analyze.load(store) if add_metadata(store, "acme__ui-3", funnel={"located": 1}) else None)
    assert "model-a 2 100.0 50.0 50.0" in rows(
        tables, "seen", "model", "gold files", "located %", "shown %", "edited %"
    )


def test_counts_of_instances_by_how_they_ended(tables):
    assert rows(tables, "causes", "model", "ended", "outcome", "cause", "instances") == [
        "lab/model-b patch resolved – 2",
        "lab/model-b no answer not_evaluated – 1",
        "lab/model-b patch not_evaluated engine 1",
        "model-a no answer not_evaluated – 1",
        "model-a patch empty – 1",
        "model-a patch resolved – 1",
        "model-a patch unresolved – 1",
    ]


def test_shares_of_ends_are_of_the_instances_that_were_selected(frames):
    """In a campaign with a limit, they were shares of the whole dataset, and did not add up to 100%."""
    few = frames.predictions.query("instance_id in ['acme__ui-1', 'acme__ui-2']")
    made = analyze.tables(replace(frames, predictions=few))["causes"]
    assert made.groupby("model")["instances_pct"].sum().round(6).eq(100).all()


def test_results_by_principle(tables):
    columns = ("model", "principle", "criteria resolved", "instances resolved", "criteria resolved %")
    assert rows(tables, "by_principle", *columns) == [
        "lab/model-b perceivable 2 1 100.0",
        "lab/model-b operable 0 0 0.0",
        "lab/model-b robust 1 1 100.0",
        "lab/model-b unassigned 0 1 –",
        "model-a perceivable 2 1 100.0",
        "model-a operable 0 0 0.0",
        "model-a robust 1 1 100.0",
        "model-a unassigned 0 0 –",
    ]


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("by_difficulty", ["easy 1 1", "difficult 1 0", "unknown 2 1", "easy 1 1", "difficult 1 0", "unknown 2 0"]),
        ("by_size", ["1 file 4 2", "1 file 4 1"]),
        ("by_year", ["2024 4 2", "2024 4 1"]),
        ("by_statement", ["issue 3 2", "pull_request 1 0", "issue 3 1", "pull_request 1 0"]),
    ],
)
def test_results_by_class(tables, table, expected):
    """model-b first; instance 3, which it was not asked about, still counts."""
    (column,) = set(tables[table].columns) & {"difficulty", "size", "year", "statement_source"}
    assert rows(tables, table, column.replace("_", " "), "instances", "resolved") == expected


def test_the_year_of_an_instance_without_a_date_is_unknown(store):
    """Its results were in no row."""
    write_records(store.dataset(UI), [make_instance(1, merged_at=""), make_instance(2), make_instance(3)])
    made = analyze.tables(analyze.load(store, "acme/ui"))
    assert rows(made, "by_year", "model", "year", "instances")[-2:] == ["model-a 2024 2", "model-a unknown 1"]
    assert "year unknown 1 33.3" in rows(made, "classes", "class", "value", "instances", "instances %")


def test_results_before_and_after_the_cutoff(store):
    tables = analyze.tables(analyze.load(store, cutoffs={"model-a": "2023-01-01"}))
    assert rows(tables, "by_cutoff", "model", "after cutoff", "instances", "resolved") == ["model-a yes 4 1"]


def test_patches_checked_by_hand(store):
    """Two of three people say that both models' patch fixes instance 1. The tests agree."""
    check_by_hand(store, 1, "fixes", "no", "fixes")
    check_by_hand(store, 2, "fixes", "no")
    tables = analyze.tables(analyze.load(store))
    columns = ("model", "hand checked", "hand fixes", "hand fixes %", "hand agree %")
    assert rows(tables, "hands", *columns) == ["lab/model-b 2 1 50.0 100.0", "model-a 1 1 100.0 100.0"]


def test_people_agree_only_with_tests_that_were_run(store):
    """Model-b's patch for instance 2 was not evaluated: people and tests seemed to disagree on it."""
    check_by_hand(store, 1, "fixes")
    check_by_hand(store, 2, "fixes")
    tables = analyze.tables(analyze.load(store))
    found = rows(tables, "hands", "model", "hand checked", "hand fixes", "hand agree %")
    assert found[0] == "lab/model-b 2 2 100.0"


def test_a_patch_that_was_not_assessed_is_equivalent_if_it_is_resolved(frames):
    """Equivalent was below resolved if only some patches were assessed."""
    chosen = frames.predictions.query("model == 'model-a'")
    equivalent = chosen["equivalent"].mask(chosen["instance_id"] == UI.instance_id(3), True)
    made = analyze.tables(replace(frames, predictions=chosen.assign(equivalent=equivalent)))
    assert rows(made, "equivalence", "resolved", "equivalent", "equivalent %") == ["1 2 50.0"]


def test_assessment_columns_have_tables_once_they_are_filled(frames):
    """Their columns are empty until stage 04 fills them; they are counted over the models' predictions."""
    given = {"equivalent": True, "axe_fixed": 2, "axe_remaining": 1, "axe_introduced": 0, "judge": -1, "score": 0.5}
    model_a = frames.predictions["model"] == "model-a"
    columns = {name: frames.predictions[name].mask(model_a, value) for name, value in given.items()}
    tables = analyze.tables(replace(frames, predictions=frames.predictions.assign(**columns)))
    assert rows(tables, "equivalence", "model", "resolved", "equivalent") == ["lab/model-b 2 –", "model-a 1 4"]
    assert rows(tables, "accessibility")[1] == "model-a magentless 4 8 4 0 -8 0.50"
    assert rows(tables, "leaderboard", "model", "equivalent %") == ["lab/model-b –", "model-a 100.0"]


def test_every_table_of_models_counts_the_attempts(store, tmp_path):
    again = Store(tmp_path / "again")
    add_verdicts(again, UI, [make_verdict(make_prediction(n, run="again"), Outcome.EMPTY) for n in (1, 2, 3)])
    made = analyze.tables(analyze.load(store, "acme/ui", samples=[again.root]))
    for name in ("leaderboard", "resolution", "patches", "localisation"):
        table = made[name].set_index("model")["attempts"]
        assert (table["model-a"], table["lab/model-b"]) == (2, 1), name
    assert made["costs"].iloc[-1]["attempts"] == 1, "the sum of all models' attempts means nothing"
