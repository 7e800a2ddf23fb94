"""Frames: one row per object, with the types of the dictionary."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from analyze.conftest import UI, add_metadata, add_run, check_by_hand, fill_ledger
from factories import make_instance, make_prediction

from pipeline import analyze
from pipeline.analyze import columns
from pipeline.analyze.columns import cells, look_up
from pipeline.analyze.exports import dictionary
from pipeline.core.errors import UserError
from pipeline.core.store import write_records

FRAMES = columns.frames()


@pytest.fixture
def frames(store):
    fill_ledger(store)
    funnel = dict.fromkeys(("located", "edited", "matched", "applied", "parses"), 1)
    add_metadata(store, "acme__ui-1", funnel=funnel, samples=[{"number": 0, "reached": "parses"}])
    check_by_hand(store, 1, "fixes")
    return analyze.load(store)


@pytest.mark.parametrize("name", FRAMES)
def test_frames_have_the_columns_and_types_of_the_dictionary(frames, name):
    frame = getattr(frames, name)
    declared = {column.name: column.type.replace("decimal", "object") for column in FRAMES[name]}
    assert list(frame.columns) == list(declared)
    assert frame.astype(declared).dtypes.equals(frame.dtypes)
    assert len(frame)


def test_the_dictionary_describes_every_column_once():
    table = dictionary()
    assert not table.duplicated(["frame", "name"]).any()
    assert table[["name", "type", "source", "meaning"]].notna().all(axis=None)
    assert set(table["type"]) == {"string", "Int64", "Float64", "boolean", "decimal"}


def test_a_column_is_read_along_its_path_through_records_and_dictionaries():
    parts = {"Assessment": SimpleNamespace(axe={"fixed": (1, 2)})}
    assert look_up(parts, ("Assessment", "axe", "fixed")) == (1, 2)
    assert look_up(parts, ("Assessment", "axe", "introduced")) is None
    assert look_up(parts, ("Assessment", "judge", "score")) is None


def test_a_new_assessment_field_needs_only_a_row_in_the_dictionary():
    """`Assessment.axe.fixed` in the dictionary is all that is needed; a list counts by its length."""
    axe = {"fixed": ["label"], "remaining": [], "introduced": 2}
    assessment = SimpleNamespace(resolved_equivalent=True, axe=axe, judge={"score": 3}, score=0.8)
    row = dict(
        zip(
            [prediction.name for prediction in FRAMES["predictions"]],
            cells("predictions", {"Assessment": assessment}),
            strict=True,
        )
    )
    wanted = {"equivalent": True, "axe_fixed": 1, "axe_remaining": 0, "axe_introduced": 2, "judge": 3, "score": 0.8}
    assert {name: row[name] for name in wanted} == wanted


def test_unrecorded_values_are_empty_and_noted(frames):
    assert frames.predictions[["equivalent", "axe_fixed", "judge"]].isna().all(axis=None)
    assert "04 evaluate: no accessibility audit (axe)." in frames.notes


def test_one_row_per_test_transition(frames):
    rows = frames.transitions.query("instance_id == 'acme__ui-1'").set_index("name")
    assert rows["kind"].to_dict() == {
        "Menu.test.tsx > has a name": "f2p",
        "Menu.test.tsx > is new": "f2p-new",
        "Menu.test.tsx > opens": "p2p",
    }
    assert rows.loc["Menu.test.tsx > is new", ["run", "test", "fix"]].tolist() == ["NONE", "FAILED", "PASSED"]


def test_one_row_per_agent_model_and_instance(frames):
    """Two models by four instances, whether these were asked or not."""
    rows = frames.predictions
    assert len(rows) == 8 and not rows.duplicated(["agent", "model", "instance_id"]).any()
    asked = rows.query("predicted").groupby("model")["instance_id"].agg(list).to_dict()
    assert asked == {
        "model-a": ["acme__ui-1", "acme__ui-2", "acme__ui-3"],
        "lab/model-b": ["acme__forms-1", "acme__ui-1", "acme__ui-2"],
    }


def test_an_instance_has_its_ratings(frames):
    rows = frames.instances.set_index("instance_id").loc["acme__ui-1"]
    assert (rows["rating"], rows["difficulty"]) == ("super", "easy")
    assert (rows["principles"], rows["criteria"]) == ("perceivable robust", "1.1.1 1.3.1 4.1.2")
    assert (rows["year"], rows["size"], rows["fail_to_pass"], rows["expected"]) == ("2024", "1 file", 2, 3)


def test_a_criterion_counts_once_however_many_raters_name_it(frames):
    assert list(frames.criteria[["instance_id", "principle", "criterion"]].itertuples(index=False, name=None)) == [
        ("acme__ui-1", "perceivable", "1.1.1"),
        ("acme__ui-1", "perceivable", "1.3.1"),
        ("acme__ui-1", "robust", "4.1.2"),
        ("acme__ui-2", "operable", ""),
    ]


def test_an_empty_patch_is_marked_and_has_no_size(frames):
    rows = frames.predictions.query("empty")
    assert rows["instance_id"].tolist() == ["acme__ui-2"]
    assert rows[["files", "jaccard", "localisation"]].isna().all(axis=None)


def test_counts_of_the_tests_that_decide(frames):
    rows = frames.results.query("model == 'model-a'")
    assert rows[["instance_id", "effect", "name"]].to_numpy().tolist() == [
        ["acme__ui-1", "fixed", "src/Menu.test.tsx > Menu > has a name"],
        ["acme__ui-3", "broken", "opens"],
    ]


def test_before_and_after_the_cutoff_of_a_model(store):
    rows = analyze.load(store, cutoffs={"model-a": "2024-05-06", "lab/model-b": "2024-05-05"}).predictions
    assert rows.groupby("model")["after_cutoff"].agg(set).to_dict() == {"model-a": {False}, "lab/model-b": {True}}


def test_an_instance_without_a_date_is_neither_before_nor_after_the_cutoff(store):
    """It counted as merged before, so as one that the model may have seen."""
    write_records(store.dataset(UI), [make_instance(1, merged_at=""), make_instance(2), make_instance(3)])
    rows = analyze.load(store, "acme/ui", cutoffs={"model-a": "2023-01-01"}).predictions.query("model == 'model-a'")
    assert rows["after_cutoff"].astype(object).where(rows["after_cutoff"].notna(), None).tolist() == [None, True, True]


@pytest.mark.rule("bad-input")
def test_a_cutoff_of_an_unknown_model_is_refused(store):
    """A misspelled name was left out, and the report said that no cutoff was given."""
    with pytest.raises(UserError, match="unknown model of --cutoff 'model-A'") as error:
        analyze.load(store, cutoffs={"model-A": "2024-05-06"})
    assert error.value.hint == "available: lab/model-b, model-a"


def test_an_oracle_is_a_reference_instead_of_a_model(store):
    add_run(store, UI, [make_prediction(1, agent="oracle", model_name_or_path="oracle")])
    rows = analyze.load(store).predictions
    assert set(rows.loc[rows["kind"] == "reference", "model"]) == {"oracle"}
