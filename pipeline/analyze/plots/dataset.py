"""Figures on how the dataset came about."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.report.figures.bars import legend, plain, stacked
from pipeline.report.figures.style import BLUE, EDGE, ORANGE, Drawing, canvas, listed, whole, wrapped

#: kind of a transition -> its label
KINDS = {
    "f2p": "fail to pass",
    "s2p": "skipped to pass",
    "n2p": "new, to pass",
    "p2p": "pass to pass",
}


def funnel(_frames: Frames, tables: Mapping[str, pd.DataFrame]) -> Drawing:
    """Bars of the pull requests that remain after each step, over all repositories, as a share of the step before."""
    counts = _steps(tables)
    figure = canvas(len(counts))
    axes = figure.subplots()
    values = list(counts.values())
    shares = [f"{count:,}{_share_kept(before, count)}" for before, count in zip([0, *values], values, strict=False)]
    plain(axes, list(counts), values, shares)
    axes.set(xlim=(0, 1.55 * (max(values) or 1)), xlabel="pull requests")
    whole(axes.xaxis, 4)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    return figure, f"Bars, one below the other. {listed(list(zip(counts, shares, strict=True)))}."


def _share_kept(before: int, count: int) -> str:
    """The share of the previous step that this step keeps."""
    return f" ({100 * count / before:.3g}%)" if before else ""


def _steps(tables: Mapping[str, pd.DataFrame]) -> dict[str, int]:
    total = tables["funnel"].iloc[-1]
    counts = {
        "merged": total["total"],
        "change source and tests": total["tests"],
        "candidates": total["sample"] + total["without_issue"],
    }
    if "qualification" in tables:
        built = tables["qualification"].iloc[-1]
        is_step = pd.isna(built["kept"]) or built["kept"] >= built["qualified"]  # else more was built than kept
        counts |= ({"kept in triage": built["kept"]} if is_step else {}) | {"instances": built["qualified"]}
    return {step: int(count) for step, count in counts.items() if not pd.isna(count)}


def principles(_frames: Frames, tables: Mapping[str, pd.DataFrame]) -> Drawing:
    """Two bars per principle: its share of assigned criteria and of instances (the thesis's figure 5.1)."""
    table = tables["principles"]
    figure = canvas(2 * len(table), each=0.24, head=1.1)
    axes = figure.subplots()
    series = (("criteria", "of assigned criteria", ORANGE, "//"), ("instances", "of instances", BLUE, ""))
    for offset, (name, label, color, hatch) in zip((-0.2, 0.2), series, strict=True):
        positions = [index + offset for index in range(len(table))]
        shares = table[f"{name}_pct"].astype(float)
        bars = axes.barh(positions, shares, 0.38, label=label, color=color, hatch=hatch, edgecolor=EDGE, linewidth=0.6)
        axes.bar_label(bars, _bar_labels(table[name], shares), padding=4, fontsize=8)
    axes.set_yticks(range(len(table)), table["principle"])
    axes.invert_yaxis()
    axes.set(xlim=(0, 118), xlabel="%")
    legend(axes, len(series))
    entries = [(row.principle, f"{row.criteria} criteria, {row.instances} instances") for row in table.itertuples()]
    return figure, f"Pairs of bars. {listed(entries)}."


def _bar_labels(counts: pd.Series, shares: pd.Series) -> list[str]:
    return [f"{count} ({share:.0f}%)" for count, share in zip(counts, shares, strict=True)]


def transitions(_frames: Frames, tables: Mapping[str, pd.DataFrame]) -> Drawing | None:
    """Bars of the tests that must pass, in parts by their status before the fix, by repository."""
    table = tables["transitions"]
    kinds = [name for name in KINDS if table[name].sum()]
    if not kinds:
        return None
    shares = table[kinds].astype(float).div(table[kinds].sum(axis=1).replace(0, 1), axis=0) * 100
    figure = canvas(len(table), head=1.4)
    axes = figure.subplots()
    names = [wrapped(repo, 24) for repo in table["repo"]]
    stacked(axes, names, {KINDS[kind]: list(shares[kind]) for kind in kinds}, ".0f")
    axes.set(xlim=(0, 100), xlabel="% of the tests that must pass")
    entries = [", ".join(f"{row[kind]} {KINDS[kind]}" for kind in kinds) for row in table.to_dict("records")]
    return figure, f"Bars in parts. {listed(list(zip(table['repo'], entries, strict=True)))}."
