"""The report's tables (as data frames) and figures, for notebooks. Writes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pandas as pd

from pipeline.core.store import Store
from pipeline.pages.evaluating import evaluated
from pipeline.pages.report import scores_of
from pipeline.pages.report.plots import plots
from pipeline.pages.report.tables import tables
from pipeline.pages.runs import load_run
from pipeline.report.figures.style import Plot
from pipeline.report.tables import Table


class Shown(NamedTuple):
    """A run by name, with its tables and figures by name."""

    run: str
    tables: dict[str, pd.DataFrame]
    figures: dict[str, Plot]


def load(data: str | Path, run: str = "") -> Shown:
    """An evaluated run, by default the newest. Raises UserError if there is none."""
    evaluation, verdicts = evaluated(load_run(Store(Path(data)), run))
    answers = evaluation.run.answers()
    scores = list(scores_of(evaluation.run).values())
    chapters = tables(evaluation.run, answers, verdicts, scores=scores).values()
    frames = {table.name: _frame(table) for chapter in chapters for table in chapter}
    figures = {figure.name: figure for figure in plots(evaluation.run, answers, verdicts)}
    return Shown(evaluation.run.name, frames, figures)


def _frame(table: Table) -> pd.DataFrame:
    names = [heading.name for heading in table.headings]
    return pd.DataFrame([row.cells for row in table.rows], columns=names).set_index(names[0])
