"""Tables and frames as files: exact amounts, unknown values, and texts with characters that have a meaning in the
format."""

from __future__ import annotations

import io
from decimal import Decimal
from typing import Any

import pandas as pd
import pyarrow.parquet
import pytest

from pipeline.analyze import columns
from pipeline.analyze.columns import Column
from pipeline.analyze.exports import csv_of, dictionary, latex, markdown, parquet_of, plain_csv
from pipeline.analyze.measures.definition import Table
from pipeline.core.amounts import amount


def definition(*described: Column) -> Table:
    return Table("costs", "money", "What models cost", "In USD.", (), described)


KINDS = {"model": ("string", ""), "x_pct": ("Float64", "%"), "usd": ("decimal", "USD")}
TABLE = pd.DataFrame({"model": ["a|b", "c_d & 50%"], "x_pct": [42.857, None], "usd": [Decimal("0.1"), Decimal("1E+3")]})
SHOWN = definition(*(Column(name, *kind, "", "") for name, kind in KINDS.items()))


def frame(name: str, **values: Any) -> pd.DataFrame:
    """A frame of one row with these values; its other columns are empty."""
    cells = {column.name: [values.get(column.name)] for column in columns.frames()[name]}
    types = {column.name: columns._PANDAS.get(column.type, column.type) for column in columns.frames()[name]}
    return pd.DataFrame(cells).astype(types)


def test_markdown_has_a_title_a_description_and_aligned_numbers() -> None:
    lines = markdown(SHOWN, TABLE).splitlines()
    assert lines[:5] == ["### What models cost", "", "In USD.", "", "| model | x % | USD |"]
    assert lines[5:] == ["| :-- | --: | --: |", "| a\\|b | 42.9 | 0.1 |", "| c_d & 50% | – | 1,000 |"]


def test_a_text_of_others_stays_in_its_cell_of_markdown() -> None:
    """A provider's name of a model with the end of a line, or with a backslash before a bar, broke the table."""
    table = TABLE.assign(model=["a\nb\r\nc", "d\\|<b>"])
    assert [line.partition(" | ")[0] for line in markdown(SHOWN, table).splitlines()[6:]] == [
        "| a b c",
        r"| d\\\|\<b>",
    ]


def test_latex_escapes_special_characters() -> None:
    text = latex(SHOWN, TABLE)
    assert r"c\_d \& 50\%" in text and r"\label{tab:costs}" in text and r"\begin{tabular}{lrr}" in text
    assert r"\toprule" in text and r"\caption{What models cost}" in text


def test_an_amount_in_a_small_table_has_no_exponent() -> None:
    assert plain_csv(TABLE[["usd"]]) == b"usd\n0.1\n1000\n"
    small = pd.DataFrame({"usd": pd.Series([Decimal("1E-12"), None], dtype="object")})
    assert plain_csv(small) == b'usd\n0.000000000001\n""\n'


def test_every_column_is_in_the_dictionary_once() -> None:
    table = dictionary()
    assert not table.duplicated(["frame", "name"]).any()
    assert set(columns.frames()) <= set(table["frame"]) and (table["meaning"].str.len() > 0).all()


@pytest.mark.parametrize("name", columns.frames())
def test_a_frame_survives_parquet(name: str) -> None:
    """Even an empty frame: a first analysis contains hardly anything else."""
    for rows in (frame(name), frame(name)[:0]):
        stored = pyarrow.parquet.read_table(io.BytesIO(parquet_of(name, rows)))
        assert stored.num_rows == len(rows) and stored.column_names == [
            column.name for column in columns.frames()[name]
        ]


@pytest.mark.parametrize("name", columns.frames())
def test_a_parquet_file_has_the_meaning_and_unit_of_its_columns(name: str) -> None:
    schema = pyarrow.parquet.read_schema(io.BytesIO(parquet_of(name, frame(name))))
    for column in columns.frames()[name]:
        about = schema.field(column.name).metadata
        assert about[b"meaning"].decode() == column.meaning and about[b"unit"].decode() == column.unit


@pytest.mark.parametrize("name", columns.frames())
def test_equal_data_give_equal_bytes(name: str) -> None:
    assert parquet_of(name, frame(name)) == parquet_of(name, frame(name))
    header, *rows = csv_of(name, frame(name)).decode().splitlines()
    assert header.split(",") == [column.name for column in columns.frames()[name]] and len(rows) == 1


@pytest.mark.parametrize("text", ["0.000000000000000001", "3.3333333333333335e-07", "9e30", "1e-30"])
def test_amounts_are_exact_in_both_formats(text: str) -> None:
    """A price that was computed has up to 23 decimals. After all was spent, the analysis ended in an error."""
    rows = frame("costs", cost_llm_usd=amount(text), model="a")
    stored = pyarrow.parquet.read_table(io.BytesIO(parquet_of("costs", rows)))["cost_llm_usd"].to_pylist()
    assert stored == [Decimal(text)] and f"{Decimal(text):f}".encode() in csv_of("costs", rows)


def test_an_amount_with_more_digits_than_the_format_has_is_an_error() -> None:
    """It would be silently rounded."""
    with pytest.raises(Exception, match="(?i)decimal|rescale|precision"):
        parquet_of("costs", frame("costs", cost_llm_usd=Decimal("1E-31")))


@pytest.mark.parametrize("text", ["a,b", 'say "a"', "two\nlines", "plain", ""])
def test_texts_with_separators_are_quoted(text: str) -> None:
    data = csv_of("costs", frame("costs", model=text))
    assert pd.read_csv(io.BytesIO(data), keep_default_na=False)["model"].tolist() == [text]
