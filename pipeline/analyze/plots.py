"""The figures: for print and for the colour-blind (every colour has a letter or a label), with a text alternative.

The same data give the same bytes. Writes nothing; `writing.py` saves them.
"""

from __future__ import annotations

from io import BytesIO
from typing import NamedTuple

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pipeline.analyze.about_models import WHO, graded, resolution
from pipeline.analyze.frames import Frames
from pipeline.core.records import Outcome

#: outcome -> (fill, letter); fills from Okabe and Ito's palette, letters in black on all of them
MARKS = {
    Outcome.RESOLVED: ("#56B4E9", "R"),
    Outcome.UNRESOLVED: ("#E69F00", "U"),
    Outcome.EMPTY: ("#F0E442", "E"),
    Outcome.NOT_APPLIED: ("#CC79A7", "A"),
    Outcome.NO_PREDICTION: ("#D9D9D9", "P"),
    Outcome.TAMPERED: ("#D55E00", "X"),
    Outcome.TIMEOUT: ("#009E73", "T"),
    Outcome.NOT_EVALUATED: ("#FFFFFF", "–"),
}
#: a grid of more instances is nothing to look at: the frame `verdicts` and the report's pages have them
LARGEST_GRID = 80
_STYLE = {"svg.hashsalt": "a11y-bench", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}


class Plot(NamedTuple):
    """A figure, what stands above it, and what it says to somebody who can not see it."""

    name: str
    title: str
    alternative: str
    figure: Figure

    def image(self, kind: str) -> bytes:
        """The bytes of an `svg` or `png` (200 dots per inch)."""
        data = BytesIO()
        metadata = {"Title": self.title} | ({"Date": None} if kind == "svg" else {"Description": self.alternative})
        with mpl.rc_context(_STYLE):
            self.figure.savefig(data, format=kind, dpi=200, bbox_inches="tight", metadata=metadata)
        return data.getvalue()


def figures(frames: Frames) -> list[Plot]:
    """All figures that the data allow: none before an evaluation, and no grid of more instances than one can see."""
    if frames.verdicts.empty:
        return []
    makers = (resolution_by_model, outcomes_by_instance)[: 1 if len(frames.instances) > LARGEST_GRID else 2]
    with mpl.rc_context(_STYLE):
        return [make(frames) for make in makers]


def resolution_by_model(frames: Frames) -> Plot:
    """Bars: the share of all instances that each agent and model resolved."""
    table = resolution(frames).groupby(WHO, sort=False).tail(1)
    names = [f"{agent}, {model}" for agent, model in table[WHO].itertuples(index=False)]
    labels = [f"{row.resolved} of {row.instances} ({row.resolved_pct:.1f} %)" for row in table.itertuples()]
    figure = Figure(figsize=(7, 1 + 0.45 * len(names)))
    axes = figure.subplots()
    bars = axes.barh(names, table["resolved_pct"].astype(float), color="#0072B2")
    axes.bar_label(bars, labels, padding=4)
    axes.set(xlim=(0, 125), xticks=range(0, 101, 20), xlabel="resolved, % of all instances")
    axes.invert_yaxis()
    said = "; ".join(f"{name}: {label}" for name, label in zip(names, labels, strict=True))
    title = "Resolved instances by agent and model"
    return Plot("resolution", title, f"Bar chart of the share of instances resolved. {said}.", figure)


def outcomes_by_instance(frames: Frames) -> Plot:
    """A grid: how each instance ended with each agent and model."""
    rows = graded(frames)
    rows = rows.assign(who=rows["agent"] + "\n" + rows["model"])
    grid = rows.pivot(index="instance_id", columns="who", values="outcome").loc[:, rows["who"].unique()]
    figure = Figure(figsize=(2.5 + 1.2 * grid.shape[1], 1.2 + 0.32 * len(grid)))
    axes = figure.subplots()
    for place, outcome in enumerate(grid.to_numpy().ravel()):
        _cell(axes, *divmod(place, grid.shape[1])[::-1], Outcome(outcome))
    axes.set(xlim=(0, grid.shape[1]), ylim=(len(grid), 0))
    axes.set_xticks([column + 0.5 for column in range(grid.shape[1])], grid.columns, rotation=30, ha="left")
    axes.set_yticks([row + 0.5 for row in range(len(grid))], grid.index)
    axes.tick_params(length=0, labeltop=True, labelbottom=False)
    axes.spines[:].set_visible(False)
    _legend(axes, set(rows["outcome"]))
    return Plot("outcomes", "How each instance ended, by agent and model", _said(grid), figure)


def _cell(axes: Axes, column: int, row: int, outcome: Outcome) -> None:
    fill, letter = MARKS[outcome]
    axes.add_patch(mpl.patches.Rectangle((column, row), 1, 1, facecolor=fill, edgecolor="#555555", linewidth=0.8))
    axes.text(column + 0.5, row + 0.5, letter, ha="center", va="center")


def _legend(axes: Axes, present: set[str]) -> None:
    there = [(outcome, *mark) for outcome, mark in MARKS.items() if outcome.value in present]
    handles = [
        Patch(facecolor=fill, edgecolor="#555555", label=f"{letter}  {outcome.value.replace('_', ' ')}")
        for outcome, fill, letter in there
    ]
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(0, -0.02), ncols=2, frameon=False)


def _said(grid: pd.DataFrame) -> str:
    """One sentence for each model: which instances ended how."""
    parts = []
    for who, column in grid.items():
        ends = column.groupby(column).groups
        said = "; ".join(f"{outcome.replace('_', ' ')}: {', '.join(names)}" for outcome, names in ends.items())
        parts.append(f"{str(who).replace(chr(10), ', ')}: {said}.")
    return f"Grid of {len(grid)} instances by {grid.shape[1]} agents and models. " + " ".join(parts)
