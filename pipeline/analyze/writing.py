"""Write the analysis: frames and their dictionary as CSV, `tables/` as CSV and Markdown, `figures/`, `report.html`.

An analysis of other data that stands in `05_analysis/` moves to the archive first; another folder (`--out`) is
written into as it is.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from pipeline.analyze.columns import dictionary
from pipeline.analyze.frames import ROWS, Frames
from pipeline.analyze.measures import TITLES, amounts, shown, tables
from pipeline.analyze.plots import figures
from pipeline.analyze.report import render
from pipeline.core.store import Store, Unit, digest, write_bytes


def write(frames: Frames, store: Store, out: Path | None = None) -> Path:
    """Write everything to `out` (default: the store's `05_analysis`) and return the report's path."""
    unit, inputs = Unit(out or store.analysis), {"records": digest(repr(frames.sources))}
    if out is None and not unit.is_done(**inputs):
        store.begin()
        store.archive(unit.folder)
    made, plots = tables(frames), figures(frames)
    write_frames(frames, unit.folder)
    write_tables(made, unit.folder / "tables")
    for plot in plots:
        for kind in ("svg", "png"):
            write_bytes(unit.folder / "figures" / f"{plot.name}.{kind}", plot.image(kind))
    report = unit.folder / "report.html"
    write_bytes(report, render(frames, made, plots).encode())
    unit.finish(**inputs)
    return report


def write_frames(frames: Frames, folder: Path) -> None:
    """Each frame that has rows, and `columns.csv`."""
    _csv(folder / "columns.csv", dictionary())
    for name in ROWS:
        frame = getattr(frames, name)
        if len(frame):
            _csv(folder / f"{name}.csv", frame)


def write_tables(made: dict[str, pd.DataFrame], folder: Path) -> None:
    """Each table for programs (CSV) and for people (Markdown)."""
    for name, table in made.items():
        _csv(folder / f"{name}.csv", table)
        write_bytes(folder / f"{name}.md", f"### {TITLES[name]}\n\n{markdown(table)}".encode())


def markdown(table: pd.DataFrame) -> str:
    """The table as GitHub-flavoured Markdown, numbers to the right."""
    text = shown(table)
    rule = ["--:" if amount else ":--" for amount in amounts(table)]
    rows = [text.columns, rule, *text.itertuples(index=False)]
    return "".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |\n" for row in rows)


def _csv(path: Path, frame: pd.DataFrame) -> None:
    write_bytes(path, frame.to_csv(index=False, lineterminator="\n").encode())
