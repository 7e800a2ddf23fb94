"""Figures on how the dataset came about."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.report.figures.bars import legend, plain
from pipeline.report.figures.style import BLUE, EDGE, ORANGE, Drawing, canvas, listed


def funnel(_frames: Frames, made: Mapping[str, pd.DataFrame]) -> Drawing:
    """Bars on a logarithmic axis: what is left after each step, over all repositories."""
    counts = _steps(made)
    figure = canvas(len(counts))
    axes = figure.subplots()
    plain(axes, list(counts), list(counts.values()), [f"{count:,}" for count in counts.values()])
    axes.set_xscale("symlog", linthresh=1)
    axes.set(xlim=(0, 8 * (max(counts.values()) or 1)), xlabel="pull requests (logarithmic)")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure, f"Bars, one below the other. {listed(list(counts.items()))}."


def _steps(made: Mapping[str, pd.DataFrame]) -> dict[str, int]:
    found = made["funnel"].iloc[-1]
    counts = {
        "merged, looked at": found["total"],
        "change source and tests": found["tests"],
        "candidates": found["sample"] + found["without_issue"],
    }
    if "qualification" in made:
        built = made["qualification"].iloc[-1]
        counts |= {"kept in triage": built["kept"], "instances": built["qualified"]}
    return {step: int(count) for step, count in counts.items() if not pd.isna(count)}


def principles(_frames: Frames, made: Mapping[str, pd.DataFrame]) -> Drawing:
    """Two bars for each principle: its share of assigned criteria, and of instances (the thesis's figure 5.1)."""
    table = made["principles"]
    figure = canvas(2 * len(table), each=0.24, head=1.1)
    axes = figure.subplots()
    series = (("criteria", "of assigned criteria", ORANGE, "//"), ("instances", "of instances", BLUE, ""))
    for offset, (name, label, color, hatch) in zip((-0.2, 0.2), series, strict=True):
        places = [place + offset for place in range(len(table))]
        shares = table[f"{name}_pct"].astype(float)
        bars = axes.barh(places, shares, 0.38, label=label, color=color, hatch=hatch, edgecolor=EDGE, linewidth=0.6)
        axes.bar_label(bars, _told(table[name], shares), padding=4, fontsize=8)
    axes.set_yticks(range(len(table)), table["principle"])
    axes.invert_yaxis()
    axes.set(xlim=(0, 118), xlabel="%")
    legend(axes, len(series))
    said = [(row.principle, f"{row.criteria} criteria, {row.instances} instances") for row in table.itertuples()]
    return figure, f"Pairs of bars. {listed(said)}."


def _told(counts: pd.Series, shares: pd.Series) -> list[str]:
    return [f"{count} ({share:.0f} %)" for count, share in zip(counts, shares, strict=True)]
