"""The figures: each is drawn from one table, with the styles and kinds of `report.figures`.

dataset, cost, models          one function per figure, by the chapters of the report
labels                         labels of agents and models
process                        all of them, drawn in a process of their own
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures import tables as make_tables
from pipeline.analyze.plots import cost, dataset, models
from pipeline.core.errors import unknown
from pipeline.report.figures.style import Drawing, Plot, laid_out, styled

Tables = Mapping[str, pd.DataFrame]


class Figure(NamedTuple):
    """A figure: its table, and the function that draws it or returns None if there is nothing to draw; the other tables
    and the frames that this function looks at."""

    name: str
    title: str
    table: str
    draw: Callable[[Frames, Tables], Drawing | None]
    others: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()

    @property
    def tables(self) -> frozenset[str]:
        """All tables that it looks at."""
        return frozenset((self.table, *self.others))


FIGURES = (
    Figure("funnel", "From pull requests to instances", "funnel", dataset.funnel, others=("qualification",)),
    Figure("transitions", "What the tests that must pass did before", "transitions", dataset.transitions),
    Figure("principles", "WCAG principles of the instances", "principles", dataset.principles),
    Figure("costs", "Cost by model and repository", "costs", cost.costs),
    Figure("empty_cost", "Empty patches against cost", "model_costs", cost.empty_cost, others=("patches",)),
    Figure("frontier", "Resolved against cost", "leaderboard", cost.frontier, others=("resolution",)),
    Figure("resolution", "Resolved instances by model", "resolution", models.resolution),
    Figure("outcomes", "Outcomes by model", "outcomes", models.outcomes),
    Figure("grid", "Outcome of each instance", "outcomes", models.grid, frames=("instances", "predictions")),
    Figure("agreement", "What two models both resolve", "comparison", models.agreement),
    Figure("pass_at_k", "pass@k by attempts", "pass_at_k", models.pass_at_k),
    Figure(
        "empty_patches",
        "Empty patches by model and repository",
        "patches",
        models.empty_patches,
        others=("repository_patches",),
    ),
    Figure("localisation", "Files of the patches against gold's", "localisation", models.localisation),
    Figure("stages", "The localisation funnel", "stages", models.stages),
    Figure("structure", "Size of patches against gold", "structure", models.structure),
    Figure("by_principle", "Resolved by WCAG principle", "by_principle", models.by_principle),
    Figure("by_difficulty", "Resolved by difficulty", "by_difficulty", models.by_class("difficulty")),
    Figure("by_size", "Resolved by number of files", "by_size", models.by_class("size")),
    Figure("by_year", "Resolved by year", "by_year", models.by_class("year")),
    Figure("accessibility", "axe-core violations before and after", "accessibility", models.accessibility),
    Figure(
        "repository_localisation",
        "Files of the patches against gold's, by repository",
        "repository_patches",
        models.repository_localisation,
    ),
    Figure(
        "repository_structure",
        "Size of patches against gold, by repository",
        "repository_structure",
        models.repository_structure,
    ),
    Figure("repositories", "Resolved by repository and model", "repositories", models.by_class("repo")),
)


def figures(frames: Frames, tables: Tables | None = None) -> list[Plot]:
    """All figures for which there are data. `tables` are those of the frames, if they were made already."""
    tables = make_tables(frames) if tables is None else tables
    drawn = (figure(frames, spec.name, tables) for spec in FIGURES)
    return [plot for plot in drawn if plot]


def figure(frames: Frames, name: str, tables: Tables | None = None) -> Plot | None:
    """One figure by its name, None without data for it. Raises UserError for an unknown name."""
    tables = make_tables(frames) if tables is None else tables
    spec = next((spec for spec in FIGURES if spec.name == name), None)
    if spec is None:
        raise unknown("figure", name, [spec.name for spec in FIGURES])
    with styled():
        drawing = spec.draw(frames, tables) if spec.table in tables else None
        return Plot(name, spec.title, spec.table, laid_out(drawing[0]), drawing[1]) if drawing else None
