"""Frames: one row per thing, in the types of the dictionary."""

from __future__ import annotations

from pipeline import analyze
from pipeline.analyze.columns import COLUMNS, dictionary
from pipeline.analyze.frames import ROWS
from tests.analyze.conftest import fill_ledger


def test_columns_and_types_are_the_dictionarys(store):
    fill_ledger(store)
    frames = analyze.load(store)
    for name in ROWS:
        frame = getattr(frames, name)
        declared = {column.name: column.type.replace("decimal", "object") for column in COLUMNS[name]}
        assert list(frame.columns) == list(declared)
        assert frame.astype(declared).dtypes.equals(frame.dtypes), name
        assert len(frame), name


def test_the_dictionary_tells_every_column_once(store):
    table = dictionary()
    assert not table.duplicated(["frame", "name"]).any()
    assert table[["name", "type", "source"]].ne("").all(axis=None)


def test_one_row_per_test_transition(store):
    frame = analyze.load(store).transitions
    one = frame[frame["instance_id"] == "acme__ui-1"].set_index("name")
    assert one["kind"].to_dict() == {
        "Menu.test.tsx > has a name": "f2p",
        "Menu.test.tsx > is new": "f2p-new",
        "Menu.test.tsx > opens": "p2p",
    }
    assert one.loc["Menu.test.tsx > is new", ["run", "test", "fix"]].tolist() == ["NONE", "FAILED", "PASSED"]


def test_a_criterion_counts_once_however_many_raters_name_it(store):
    frame = analyze.load(store).criteria
    assert list(frame[["instance_id", "principle", "criterion"]].itertuples(index=False, name=None)) == [
        ("acme__ui-1", "perceivable", "1.1.1"),
        ("acme__ui-1", "perceivable", "1.3.1"),
        ("acme__ui-1", "robust", "4.1.2"),
        ("acme__ui-2", "operable", ""),
    ]


def test_an_empty_patch_is_marked(store):
    frame = analyze.load(store).predictions
    assert frame.loc[frame["empty"], "instance_id"].tolist() == ["acme__ui-2"]
