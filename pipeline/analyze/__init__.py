"""Stage 05: frames, tables, figures and one HTML report from what the other stages left under `data/`.

    columns.toml, columns     what every frame holds: the dictionary of columns
    reading/, frames          from records to typed frames
    tables.toml, measures/    the tables
    stats                     intervals, tests, pass@k
    plots/                    the figures
    report/                   the HTML report
    handcheck/                sheets for checking patches by hand
    writing                   every file of 05_analysis

For notebooks: `frames = analyze.load("data")`, `analyze.tables(frames)`, `analyze.figure(frames, "resolution")`.
The names load on first use, so that the command line stays free of pandas.
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
