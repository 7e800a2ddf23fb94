"""The files of an analysis: which there are, that a second analysis gives the same, and that nothing is lost."""

from __future__ import annotations

import csv
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet
import pytest
from analyze.conftest import UI, collect
from factories import make_instance

from pipeline import analyze
from pipeline.analyze import columns
from pipeline.analyze.writing import write_pages
from pipeline.core.store import Store, write_records

STAMPED = ("report.html", "manifest.json")


def written(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and path.name not in STAMPED]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def folder(analyzed) -> Path:
    return analyzed.store.analysis


def test_frames_tables_figures_and_the_dictionary(folder):
    names = set(written(folder))
    frames = ("instances", "predictions", "transitions", "requests", "results", "costs", "funnel")
    assert {f"{name}.{kind}" for name in frames for kind in ("parquet", "csv")} | {"columns.csv"} <= names
    assert {f"tables/resolution.{kind}" for kind in ("csv", "md", "tex")} <= names
    assert {f"figures/{name}.{kind}" for name in ("resolution", "grid") for kind in ("svg", "png")} <= names
    assert b"- **resolution**: Resolved instances by model. Bars" in (folder / "figures/alternatives.md").read_bytes()


def test_a_frame_without_rows_has_no_file(folder):
    assert not (folder / "handchecks.csv").exists()


@pytest.mark.parametrize("name", columns.frames())
def test_both_files_of_a_frame_have_the_columns_of_the_dictionary(folder, name):
    if (folder / f"{name}.csv").exists():
        expected = [column.name for column in columns.frames()[name]]
        with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as lines:
            assert next(csv.reader(lines)) == expected
        assert pyarrow.parquet.read_schema(folder / f"{name}.parquet").names == expected


def test_parquet_keeps_types_units_and_exact_amounts(folder):
    table = pyarrow.parquet.read_table(folder / "predictions.parquet")
    assert str(table.schema.field("cost_usd").type) == "decimal256(76, 30)"
    assert table.schema.field("seconds").metadata[b"unit"] == b"s"
    assert sum(filter(None, table["cost_usd"].to_pylist())) == Decimal("0.10")
    assert str(table.schema.field("resolved").type) == "bool"


def test_csv_has_amounts_in_digits_and_empty_cells_for_unknown_values(folder):
    with (folder / "predictions.csv").open(newline="", encoding="utf-8") as lines:
        rows = {(row["model"], row["instance_id"]): row for row in csv.DictReader(lines)}
    assert rows["model-a", "acme__ui-1"]["cost_usd"] == "0.10"
    assert rows["model-a", "acme__ui-2"]["cost_usd"] == rows["model-a", "acme__ui-2"]["jaccard"] == ""


def test_a_markdown_table_has_a_title_a_legend_and_numbers_to_the_right(folder):
    lines = (folder / "tables" / "usage.md").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "### Requests and tokens" and lines[2].startswith("The thesis's table 4.2")
    assert lines[5].startswith("| :-- | :-- | :-- | :-- | --: | --: |")
    assert lines[9].startswith("| all | – | – | – | 35 | 4,500 | 0.30 |")


def test_a_latex_table_is_escaped_and_has_a_label(folder):
    text = (folder / "tables" / "outcomes.tex").read_text(encoding="utf-8")
    assert "\\label{tab:outcomes}" in text and "\\toprule" in text
    assert "resolved \\%" in (folder / "tables" / "resolution.tex").read_text(encoding="utf-8")
    assert "no\\_test\\_changes" in (folder / "tables" / "rejections.tex").read_text(encoding="utf-8")


@pytest.fixture
def begun(tmp_path) -> Store:
    """Collected and nothing else, so it is written in a moment."""
    store = Store(tmp_path / "data")
    collect(store)
    return store


def test_the_same_data_give_the_same_bytes(begun):
    analyze.write(analyze.load(begun), begun)
    before = written(begun.analysis)
    analyze.write(analyze.load(begun), begun)
    assert written(begun.analysis) == before and "figures/funnel.svg" in before
    assert not begun.archive_root.exists()


@pytest.mark.rule("nothing-overwritten")
def test_an_analysis_of_other_data_moves_to_the_archive(begun):
    """RULES, Running: nothing is overwritten, it moves to the archive."""
    analyze.write(analyze.load(begun), begun)
    before = written(begun.analysis)
    write_records(begun.dataset(UI), [make_instance(1)])
    analyze.write(analyze.load(begun), begun)
    (archived,) = begun.archive_root.glob("*/05_analysis")
    assert written(archived) == before


def test_output_to_another_folder_leaves_the_data_directory_alone(begun, tmp_path):
    report = analyze.write(analyze.load(begun), begun, tmp_path / "out")
    assert report == tmp_path / "out" / "report.html"
    assert not begun.analysis.exists()


def test_a_page_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "instances").touch()
    with pytest.raises(OSError, match="instances"):
        write_pages([("instances/acme__ui-1.html", "")], tmp_path)
