"""Stage 05: frames, tables, figures and one HTML report from what the other stages wrote to `data/`.

    cli                       the command
    columns                   the dictionary of columns (columns.toml)
    reading/, frames          from records to typed frames
    structure                 the structure of a patch, compared with gold's
    measures/                 the tables (tables.toml)
    plots/                    the figures
    report/                   the HTML report
    handcheck/                sheets for checking patches by hand
    writing, exports          the files of 05_analysis, and the formats of frames and tables

For notebooks: `frames = analyze.load("data")`, `analyze.tables(frames)`, `analyze.figure(frames, "resolution")`.
Names are loaded on first use, so that the command line does not import pandas.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

#: public name -> the module that has it
_HOMES = {
    "load": "pipeline.analyze.frames",
    "tables": "pipeline.analyze.measures",
    "figures": "pipeline.analyze.plots",
    "figure": "pipeline.analyze.plots",
    "write": "pipeline.analyze.writing",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    return getattr(import_module(_HOMES[name]), name)
