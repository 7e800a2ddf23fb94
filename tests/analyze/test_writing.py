"""The files of an analysis: what there is, that a second analysis gives the same, and that nothing is lost."""

from __future__ import annotations

import csv
from pathlib import Path

from pipeline import analyze
from pipeline.analyze.columns import COLUMNS
from pipeline.core.store import Store
from tests.analyze.conftest import UI, add_verdicts
from tests.factories import make_prediction, make_verdict


def written(folder: Path) -> dict[str, bytes]:
    stamped = ("report.html", "manifest.json")
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in stamped]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_frames_tables_figures_and_the_dictionary(store):
    analyze.write(analyze.load(store), store)
    names = set(written(store.analysis))
    assert {"columns.csv", "instances.csv", "predictions.csv", "verdicts.csv", "transitions.csv", "costs.csv"} <= names
    assert {"tables/resolution.csv", "tables/resolution.md"} <= names
    assert {f"figures/{name}.{kind}" for name in ("resolution", "outcomes") for kind in ("svg", "png")} <= names


def test_every_csv_has_the_columns_of_the_dictionary(store):
    analyze.write(analyze.load(store), store)
    for name, columns in COLUMNS.items():
        path = store.analysis / f"{name}.csv"
        if path.exists():
            with path.open(newline="") as lines:
                assert next(csv.reader(lines)) == [column.name for column in columns]


def test_markdown_has_the_title_and_numbers_to_the_right(store):
    analyze.write(analyze.load(store), store)
    lines = (store.analysis / "tables" / "costs.md").read_text().splitlines()
    assert lines[0] == "### Requests, tokens and costs"
    assert lines[3].startswith("| :-- | :-- | :-- | --: | --: |")
    assert lines[7].startswith("| all | – | – | 35 | 4500 | 0.30 |")


def test_the_same_data_give_the_same_bytes(store):
    analyze.write(analyze.load(store), store)
    before = written(store.analysis)
    analyze.write(analyze.load(store), store)
    assert written(store.analysis) == before
    assert not store.archive_root.exists()


def test_an_analysis_of_other_data_moves_to_the_archive(store):
    analyze.write(analyze.load(store), store)
    before = written(store.analysis)
    add_verdicts(store, UI, [make_verdict(make_prediction(1))])
    analyze.write(analyze.load(store), store)
    (archived,) = store.archive_root.glob("*/05_analysis")
    assert written(archived) == before


def test_another_folder_is_written_into_and_the_data_are_left_alone(store: Store, tmp_path):
    report = analyze.write(analyze.load(store), store, tmp_path / "out")
    assert report == tmp_path / "out" / "report.html"
    assert not store.analysis.exists()
