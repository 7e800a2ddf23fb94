"""Frames and tables as bytes and text: Parquet, CSV, Markdown, LaTeX. Writes no files; equal data give equal bytes."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from decimal import Decimal

import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from pipeline.analyze import columns
from pipeline.analyze.columns import Column
from pipeline.analyze.measures.definition import Table, definitions
from pipeline.analyze.measures.shown import as_text, headings
from pipeline.core.amounts import SMALLEST

#: type of the dictionary -> Arrow's; amounts are exact in all decimals that they can have (core/amounts.py), and more
#: decimals are an error
_ARROW = {
    "string": pa.string(),
    "Int64": pa.int64(),
    "Float64": pa.float64(),
    "boolean": pa.bool_(),
    "decimal": pa.decimal256(76, -SMALLEST),
}

#: what would end a cell of a Markdown table, or begin an element
_MARKS = re.compile(r"[\\|<]")


def dictionary() -> pd.DataFrame:
    """The dictionary of columns as a table: frame or table, name, type, unit, source, meaning."""
    frames = [(name, *column) for name, frame in columns.frames().items() for column in frame]
    tables = [(f"tables/{table.name}", *column) for table in definitions() for column in table.dictionary]
    return pd.DataFrame(frames + tables, columns=["frame", *Column._fields], dtype="string")


def parquet_of(name: str, frame: pd.DataFrame) -> bytes:
    """A frame as Parquet; each field's metadata have its unit, source and meaning."""
    described = columns.frames()[name]
    metadata = [{"unit": column.unit, "source": column.source, "meaning": column.meaning} for column in described]
    fields = [
        pa.field(column.name, _ARROW[column.type], metadata=about)
        for column, about in zip(described, metadata, strict=True)
    ]
    data = io.BytesIO()
    table = pa.Table.from_pandas(frame, pa.schema(fields), preserve_index=False)
    pyarrow.parquet.write_table(table, data, compression="zstd")
    return data.getvalue()


def csv_of(name: str, frame: pd.DataFrame) -> bytes:
    """A frame as CSV, written by Arrow, which takes a second for half a million rows."""
    described = columns.frames()[name]
    amounts = [column.name for column in described if column.type == "decimal"]
    text = frame.assign(**{name: _digits(frame[name]) for name in amounts})
    data = io.BytesIO()
    data.write((",".join(column.name for column in described) + "\n").encode())
    options = pyarrow.csv.WriteOptions(include_header=False, quoting_style="needed")
    pyarrow.csv.write_csv(pa.Table.from_pandas(text, preserve_index=False), data, options)
    return data.getvalue()


def plain_csv(table: pd.DataFrame) -> bytes:
    """A small table as CSV; amounts never have an exponent."""
    digits = table.assign(**{str(name): _digits(table[name]) for name in table if table[name].dtype == object})
    return digits.to_csv(index=False, lineterminator="\n").encode()


def _digits(amounts: pd.Series) -> pd.Series:
    return amounts.map(lambda value: format(value, "f") if isinstance(value, Decimal) else None).astype("string")


def markdown(definition: Table, table: pd.DataFrame) -> str:
    """A table as GitHub-flavoured Markdown with its title and description; numbers are right-aligned."""
    text = as_text(table, definition.dictionary)
    rule = ["--:" if heading.numeric else ":--" for heading in headings(table, definition.dictionary)]
    rows: list[Iterable[object]] = [text.columns, rule, *text.itertuples(index=False, name=None)]
    lines = ("| " + " | ".join(map(_markdown_cell, row)) + " |\n" for row in rows)
    return f"### {definition.title}\n\n{definition.about}\n\n{''.join(lines)}"


def _markdown_cell(cell: object) -> str:
    """A cell on one line, without marks of its own: agents and providers choose some of these texts."""
    return _MARKS.sub(r"\\\g<0>", " ".join(str(cell).split()))


def latex(definition: Table, table: pd.DataFrame) -> str:
    """A table for a paper: needs the package booktabs, has the label `tab:NAME`."""
    text = as_text(table, definition.dictionary)
    kinds = "".join("r" if heading.numeric else "l" for heading in headings(table, definition.dictionary))
    label = f"tab:{definition.name}"
    return text.to_latex(index=False, escape=True, column_format=kinds, caption=definition.title, label=label)
