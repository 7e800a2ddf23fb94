"""Figures on what was spent."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.group import WHO
from pipeline.analyze.measures.model import model_labels
from pipeline.analyze.measures.shares import ALL
from pipeline.analyze.plots.labels import who
from pipeline.report.figures.bars import legend, stacked
from pipeline.report.figures.style import EDGE, GRID, LINES, Drawing, canvas, listed, sized

NO_FRONTIER = "There is no frontier, since every model was given only a subset of the instances."


def costs(_frames: Frames, tables: Mapping[str, pd.DataFrame]) -> Drawing | None:
    """Bars of USD by model, in parts by repository (the thesis's figure 5.6); None if nothing is known to be spent."""
    table = tables["costs"]
    table = table[table["repo"] != ALL].dropna(subset="cost_usd")
    table = table.assign(usd=table["cost_usd"].astype(float))
    if not table["usd"].sum():
        return None
    grid = table.pivot_table("usd", WHO, "repo", aggfunc="sum", fill_value=0.0)
    names = who(grid.index.to_frame(index=False))
    figure = canvas(len(grid), head=1.1)
    axes = figure.subplots()
    form = ".2f" if grid.to_numpy().max() >= 0.1 else ".2g"
    stacked(axes, names, {str(repo): list(grid[repo]) for repo in grid}, form)
    axes.set_xlabel("USD")
    entries = [(name, f"{total:.4g} USD") for name, total in zip(names, grid.sum(axis=1), strict=True)]
    return figure, f"Bars of cost in parts by repository. {listed(entries)}."


def empty_cost(_frames: Frames, tables: Mapping[str, pd.DataFrame]) -> Drawing | None:
    """A point for each model: its total cost and its share of empty answers (the thesis's figure 5.3)."""
    if "patches" not in tables:
        return None
    table = tables["model_costs"].merge(tables["patches"][[*WHO, "non_empty_pct"]], on=WHO).dropna(subset="cost_usd")
    if table.empty:
        return None
    usd, empty = table["cost_usd"].astype(float), 100 - table["non_empty_pct"].astype(float)
    figure = sized(3.4)
    axes = figure.subplots()
    names = list(model_labels(table))
    for name, x, y, (marker, _, color) in zip(names, usd, empty, cycle(LINES), strict=False):
        axes.plot(x, y, marker, color=color, markeredgecolor=EDGE, markersize=8, label=name)
    axes.set(xlim=(0, 1.1 * (usd.max() or 1)), ylim=(-4, 108), xlabel="cost, USD", ylabel="empty patches, % of answers")
    axes.grid(color=GRID)
    legend(axes, 2)
    entries = [(name, f"{x:.4g} USD, {y:.1f}% empty") for name, x, y in zip(names, usd, empty, strict=True)]
    return figure, f"A point for each model. {listed(entries)}."


def frontier(_frames: Frames, tables: Mapping[str, pd.DataFrame]) -> Drawing | None:
    """A point for each model of which any instance was evaluated: the cost of its answers and the share that it
    resolves. A line joins the models that no other model surpasses in both, without those that were given only a subset
    of the instances."""
    if "resolution" not in tables:
        return None
    evaluated = tables["resolution"].query("evaluated > 0")[WHO]
    table = tables["leaderboard"].merge(evaluated, on=WHO).dropna(subset=["cost_usd", "resolved_pct"])
    table = table.assign(usd=table["cost_usd"].astype(float), share=table["resolved_pct"].astype(float))
    if len(table) < 2 or not table["usd"].sum():
        return None
    figure = sized(3.6)
    axes = figure.subplots()
    best = pareto_front(table[~table["subset"]])
    label = "the frontier" if len(best) else ""
    axes.step(best["usd"], best["share"], where="post", color=EDGE, linewidth=0.8, linestyle=":", label=label)
    names = list(model_labels(table))
    for name, x, y, (marker, _, color) in zip(names, table["usd"], table["share"], cycle(LINES), strict=False):
        axes.plot(x, y, marker, color=color, markeredgecolor=EDGE, markersize=8, label=name)
    axes.set(xlim=(0, 1.1 * table["usd"].max()), ylim=(-4, 108), xlabel="cost of the answers, USD")
    axes.set_ylabel("resolved, % of instances")
    axes.grid(color=GRID)
    legend(axes, 2)
    texts = [f"{x:.4g} USD, {y:.1f}% resolved" for x, y in zip(table["usd"], table["share"], strict=True)]
    best_names = [name for name, index in zip(names, table.index, strict=True) if index in best.index]
    joined = f"On the frontier: {', '.join(best_names)}." if best_names else NO_FRONTIER
    return figure, f"A point for each model. {listed(zip(names, texts, strict=True))}. {joined}"


def pareto_front(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that no other row surpasses in both cost and resolved instances, the cheapest first."""
    ordered = table.sort_values(["usd", "share"], ascending=[True, False], kind="stable")
    return ordered[ordered["share"] > ordered["share"].cummax().shift(fill_value=-1)]
