"""Write the analysis: frames as Parquet and CSV with their dictionary, tables, figures, `report.html`.

    FRAME.parquet, FRAME.csv, columns.csv       tables/NAME.csv, .md, .tex       figures/NAME.svg, .png
    instances/INSTANCE.html, next to a large report

If `05_analysis/` holds an analysis of other data, that is moved to the archive first. Another folder (`--out`) is not
cleared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pandas as pd

from pipeline.analyze.exports import csv_of, dictionary, latex, markdown, parquet_of, plain_csv
from pipeline.analyze.frames import Frames
from pipeline.analyze.measures import tables as make_tables
from pipeline.analyze.measures.definition import definition
from pipeline.analyze.plots.process import Images, in_this_process
from pipeline.analyze.report import FIGURES, FIRST, first, others
from pipeline.analyze.report.pages import pages
from pipeline.core.store import Store, Unit, digest, write_bytes
from pipeline.report.figures.style import Image

Tables = Mapping[str, pd.DataFrame]

#: longer tables are written as CSV only
LONGEST = 300


def write(
    frames: Frames,
    store: Store,
    out: Path | None = None,
    tables: Tables | None = None,
    images: Images | None = None,
) -> Path:
    """Write everything to `out` (default: the store's `05_analysis`) and return the report's path.

    `tables` are those of the frames, if they were made already. `images` are those of the figures, if they are drawn
    elsewhere meanwhile; they are needed last.
    """
    unit, tables = Unit(out or store.analysis), make_tables(frames) if tables is None else tables
    stored = {name: parquet_of(name, frame) for name, frame in frames.items().items()}
    inputs = {"frames": digest(*stored.values()), "texts": digest(repr(frames.statements), repr(frames.patches))}
    if out is None and not unit.is_done(**inputs):
        store.begin()
        store.displace(unit.folder)
    shown, images = pages(frames), images or in_this_process(frames, tables)
    write_frames(frames, stored, unit.folder)
    write_tables(tables, unit.folder / "tables")
    write_pages(others(frames, shown), unit.folder)
    drawn = images()
    write_figures(drawn, unit.folder / FIGURES)
    write_bytes(unit.folder / FIRST, first(frames, shown, tables, drawn).encode())
    unit.finish(**inputs)
    return unit.folder / FIRST


def write_frames(frames: Frames, stored: Mapping[str, bytes], folder: Path) -> None:
    """Write each frame that has rows as Parquet and CSV, and `columns.csv`."""
    write_bytes(folder / "columns.csv", plain_csv(dictionary()))
    for name, frame in frames.items().items():
        if len(frame):
            write_bytes(folder / f"{name}.parquet", stored[name])
            write_bytes(folder / f"{name}.csv", csv_of(name, frame))


def write_tables(tables: Tables, folder: Path) -> None:
    """Write each table for programs (CSV), for people (Markdown) and for papers (LaTeX)."""
    for name, table in tables.items():
        write_bytes(folder / f"{name}.csv", plain_csv(table))
        if len(table) <= LONGEST:
            write_bytes(folder / f"{name}.md", markdown(definition(name), table).encode())
            write_bytes(folder / f"{name}.tex", latex(definition(name), table).encode())


def write_pages(pages: Iterable[tuple[str, str]], folder: Path) -> None:
    """Write each page, given as path and HTML, while the next one is rendered: the disk takes as long as that."""
    with ThreadPoolExecutor(1) as thread:
        written = [thread.submit(write_bytes, folder / path, text.encode()) for path, text in pages]
    for page in written:
        page.result()


def write_figures(images: Sequence[Image], folder: Path) -> None:
    """Write each figure for screens (PNG) and for print (SVG), and `alternatives.md` with their texts."""
    for image in images:
        write_bytes(folder / f"{image.name}.svg", image.svg)
        write_bytes(folder / f"{image.name}.png", image.png)
    alternatives = "".join(f"- **{image.name}**: {image.title}. {image.alternative}\n" for image in images)
    write_bytes(folder / "alternatives.md", alternatives.encode())
