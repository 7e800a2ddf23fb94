"""Figures on the results of models."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import pandas as pd

from pipeline.analyze.frames import Frames
from pipeline.analyze.measures.group import attempts
from pipeline.analyze.measures.model import model_labels
from pipeline.analyze.plots.labels import who
from pipeline.core.records import Outcome
from pipeline.report.figures import grids
from pipeline.report.figures.bars import legend, plain, stacked
from pipeline.report.figures.style import (
    BLUE,
    DARK_GREY,
    EDGE,
    GREEN,
    GREY,
    GRID,
    INK,
    LINES,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    WIDTH,
    YELLOW,
    Drawing,
    below,
    canvas,
    listed,
    sized,
    whole,
    wrapped,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Tables = Mapping[str, pd.DataFrame]

#: outcome -> (fill, letter), letters in black on all of them
MARKS = {
    Outcome.RESOLVED: (SKY, "R"),
    Outcome.UNRESOLVED: (GREY, "U"),
    Outcome.EMPTY: (YELLOW, "E"),
    Outcome.NOT_APPLIED: (PURPLE, "A"),
    Outcome.NO_PREDICTION: (DARK_GREY, "P"),
    Outcome.TAMPERED: (VERMILION, "X"),
    Outcome.CRASHED: (ORANGE, "C"),
    Outcome.TIMEOUT: (GREEN, "T"),
    Outcome.NOT_EVALUATED: ("#FFFFFF", "–"),
}
#: the cell of an instance that the model was not given
NOT_GIVEN = ("#FFFFFF", "")
#: outcome -> the hatching of its part of a bar
PATTERNS = dict(zip(Outcome, ("", "//", "..", "xx", "--", "++", "oo", "\\\\", ""), strict=True))
#: measures of a patch's size
MEASURES = ("files", "lines", "hunks")
#: a grid of more instances cannot be read; the frame `predictions` and the report's pages have them
LARGEST_GRID = 60
#: more rows by repository and model are a grid instead of bars
MOST_BARS = 30
#: a grid of pairs of more models cannot be read: it has those that resolve the most
MOST_MODELS = 20


def resolution(_frames: Frames, tables: Tables) -> Drawing | None:
    """Bars of the share of its instances that each model resolved, with its 95% interval."""
    table = tables["resolution"].query("kind == 'model'")
    if table.empty:
        return None
    names, shares = who(table), table["resolved_pct"].astype(float)
    errors = [shares - table["resolved_low"].astype(float), table["resolved_high"].astype(float) - shares]
    figure = canvas(len(table), each=0.42)
    axes = figure.subplots()
    labels = [f"{row.resolved} of {row.instances}" for row in table.itertuples()]
    plain(axes, names, list(shares), [""] * len(names), xerr=errors, error_kw={"capsize": 3, "ecolor": INK})
    for index, label in enumerate(labels):
        axes.text(table["resolved_high"].iloc[index] + 2, index, label, va="center")
    axes.set(xlim=(0, 125), xticks=range(0, 101, 20), xlabel="resolved, % of instances")
    entries = [(name, f"{label} ({share:.1f}%)") for name, label, share in zip(names, labels, shares, strict=True)]
    return figure, f"Bars of the share of instances resolved, with 95% intervals. {listed(entries)}."


def outcomes(_frames: Frames, tables: Tables) -> Drawing | None:
    """Bars of all instances, divided by outcome."""
    table = tables["outcomes"].query("kind == 'model'").rename(columns={"empty_patch": "empty"})
    occurring = [outcome for outcome in Outcome if table[outcome.value].sum()]
    if table.empty:
        return None
    names = who(table)
    figure = canvas(len(table), head=1.3)
    axes = figure.subplots()
    parts = {outcome.value.replace("_", " "): list(table[outcome.value]) for outcome in occurring}
    stacked(axes, names, parts, fills=[(MARKS[outcome][0], PATTERNS[outcome]) for outcome in occurring])
    axes.set_xlabel("instances")
    whole(axes.xaxis)
    rows = table[[outcome.value for outcome in occurring]].to_dict("records")
    entries = [
        (name, ", ".join(f"{count} {str(end).replace('_', ' ')}" for end, count in row.items()))
        for name, row in zip(names, rows, strict=True)
    ]
    return figure, f"Bars in parts. {listed(entries)}."


def pass_at_k(_frames: Frames, tables: Tables) -> Drawing | None:
    """Lines: pass@k by k, of models with more than one attempt."""
    table = tables["pass_at_k"]
    table = table[table.groupby(["agent", "model"])["k"].transform("max") > 1]
    if table.empty:
        return None
    table = table.assign(who=model_labels(table))
    figure = sized(3.4)
    axes = figure.subplots()
    entries = []
    for (model, rows), (marker, line, color) in zip(table.groupby("who"), cycle(LINES), strict=False):
        shares = rows["pass_at_k_pct"].astype(float)
        axes.plot(rows["k"].astype(int), shares, marker=marker, linestyle=line, color=color, label=model)
        entries.append((model, ", ".join(f"{share:.1f}% at {k}" for k, share in zip(rows["k"], shares, strict=True))))
    axes.set(ylim=(0, 105), xlabel="k, attempts that are allowed", ylabel="pass@k, %")
    whole(axes.xaxis)
    axes.grid(color=GRID)
    legend(axes, 2)
    return figure, f"Lines that rise with k. {listed(entries)}."


def agreement(_frames: Frames, tables: Tables) -> Drawing | None:
    """A grid of pairs of models: the share that both resolved of what either of them resolved; None if no pair resolved
    anything."""
    table, left_out = _of_the_best(tables["comparison"])
    either = table["both"] + table["only_first"] + table["only_second"]
    if not either.sum():
        return None
    pairs = table.assign(either=either)[["first", "second", "both", "either"]]
    mirrored = pairs.rename(columns={"first": "second", "second": "first"})
    both_ways = pd.concat([pairs, mirrored]).sort_values(["first", "second"], kind="stable")
    entries = [(f"{row.first} and {row.second}", f"{row.both} of {row.either}") for row in pairs.itertuples()]
    shown = f"The {MOST_MODELS} models that resolve the most; {left_out} more are in the table." if left_out else ""
    figure = grids.panels([grids.share_panel(shown, both_ways, "first", "second", "both", "either")])
    about = "Grid of pairs of models: instances that both resolved, of those that either did."
    return figure, " ".join(filter(None, (about, shown, f"{listed(entries)}.")))


def _of_the_best(pairs: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """The pairs of the models that resolve the most, and the number of the others."""
    first = pd.Series((pairs["both"] + pairs["only_first"]).to_numpy(), pairs["first"])
    second = pd.Series((pairs["both"] + pairs["only_second"]).to_numpy(), pairs["second"])
    resolved = pd.concat([first, second]).groupby(level=0).max()
    best = resolved.sort_values(ascending=False, kind="stable").index[:MOST_MODELS]
    return pairs[pairs["first"].isin(best) & pairs["second"].isin(best)], len(resolved) - len(best)


def grid(frames: Frames, _tables: Tables) -> Drawing | None:
    """A grid of letters: the outcome of each instance with each model; None for too many instances."""
    from matplotlib.patches import Patch

    rows = attempts(frames)
    if rows.empty or len(frames.instances) > LARGEST_GRID:
        return None
    table = rows.assign(who=model_labels(rows)).pivot(index="instance_id", columns="who", values="outcome")
    names = [wrapped(name) for name in table.columns]
    longest = max(len(line) for name in names for line in name.split("\n"))
    figure = sized(1.2 + 0.08 * longest + 0.26 * len(table), max(WIDTH, 2.4 + 0.5 * len(names)))
    axes = figure.subplots()
    cells = [
        grids.Cell(x, y, *(NOT_GIVEN if pd.isna(outcome) else MARKS[Outcome(outcome)]))
        for y, row in enumerate(table.to_numpy())
        for x, outcome in enumerate(row)
    ]
    grids.fill(axes, cells)
    grids.frame(axes, names, list(table.index), rotation=90)
    occurring = [(outcome, *mark) for outcome, mark in MARKS.items() if (table == outcome.value).any(axis=None)]
    handles = [Patch(facecolor=fill, edgecolor=EDGE, label=f"{letter}  {o.value}") for o, fill, letter in occurring]
    below(figure, handles, [str(handle.get_label()) for handle in handles])
    return figure, f"Grid of {len(table)} instances by {table.shape[1]} models. {_ends(table)}"


def _ends(table: pd.DataFrame) -> str:
    """One sentence per model: the instances by outcome."""
    parts = []
    for model, column in table.items():
        ends = column.groupby(column).groups
        entries = [(str(end).replace("_", " "), ", ".join(map(str, names))) for end, names in ends.items()]
        parts.append(f"{model}: {listed(entries)}.")
    return " ".join(parts)


def empty_patches(_frames: Frames, tables: Tables) -> Drawing:
    """The share of empty answers by repository and model, with the counts, as bars or as a grid (the thesis's figure
    5.3)."""
    table = tables["repository_patches"]
    table = table.assign(who=model_labels(table), empty=table["predicted"] - table["non_empty"])
    counts = [f"{count} of {answers}" for count, answers in zip(table["empty"], table["predicted"], strict=True)]
    entries = list(zip(_names(table), counts, strict=True))
    if len(table) > MOST_BARS:
        figure = grids.shares(table, "who", "repo", "empty", "predicted")
        return figure, f"Grid of the shares of empty patches, by model and repository. {listed(entries)}."
    labels = [wrapped(name, 30) for name, _ in entries]
    figure = canvas(len(table), each=_height(labels))
    axes = figure.subplots()
    shares = list(100 - table["non_empty_pct"].astype(float))
    plain(axes, labels, shares, counts, color=YELLOW)
    axes.set(xlim=(0, 125), xticks=range(0, 101, 20), xlabel="empty patches, % of answers")
    return figure, f"Bars of the share of empty patches. {listed(entries)}."


def _names(table: pd.DataFrame) -> list[str]:
    """The rows by model, after the repository if the table has it: without its organization, unless another one has a
    repository of this name."""
    names = list(model_labels(table))
    if "repo" not in table:
        return names
    short = table["repo"].str.rpartition("/")[2]
    repos = short.where(table["repo"].groupby(short).transform("nunique") == 1, table["repo"])
    return [f"{repo}, {name}" for repo, name in zip(repos, names, strict=True)]


def _height(labels: Sequence[str]) -> float:
    """Inches of a row whose label has several lines."""
    return 0.15 + 0.15 * max(label.count("\n") + 1 for label in labels)


def _by_repository(tables: Tables, name: str) -> pd.DataFrame | None:
    """The rows of a table by repository that have patches; None if there is one repository."""
    table = tables[name]
    table = table[table["non_empty"] > 0]
    return table if table["repo"].nunique() > 1 else None


def localisation(_frames: Frames, tables: Tables) -> Drawing | None:
    """Bars of patches in three parts: exactly gold's files, some of them, none (the thesis's figure 5.4)."""
    table = tables["localisation"]
    table = table[table["non_empty"] > 0]
    return None if table.empty else _localisation(table)


def repository_localisation(_frames: Frames, tables: Tables) -> Drawing | None:
    """The same by repository and model."""
    table = _by_repository(tables, "repository_patches")
    return None if table is None else _localisation(table)


def _localisation(table: pd.DataFrame) -> Drawing:
    names, kinds = _names(table), ("perfect", "partial", "miss")
    entries = [
        (name, f"mean Jaccard {row.jaccard_mean:.2f}, {row.perfect} perfect, {row.partial} partial, {row.miss} miss")
        for name, row in zip(names, table.itertuples(), strict=True)
    ]
    if len(table) > MOST_BARS and "repo" in table:
        by_who = table.assign(who=model_labels(table))
        figure = grids.panels([grids.share_panel(kind, by_who, "who", "repo", kind, "non_empty") for kind in kinds])
        return figure, f"Three grids of patches that change something, by model and repository. {listed(entries)}."
    labels = [wrapped(name, 30 if "repo" in table else 22) for name in names]
    figure = canvas(len(table), head=1.2, each=max(0.34, _height(labels)))
    axes = figure.subplots()
    stacked(axes, labels, {kind: list(100 * (table[kind] / table["non_empty"]).astype(float)) for kind in kinds})
    axes.set(xlim=(0, 100), xlabel="% of patches that change something")
    return figure, f"Bars in three parts. {listed(entries)}."


def stages(_frames: Frames, tables: Tables) -> Drawing:
    """Lines: the share of answers that reach each stage."""
    table = tables["stages"]
    table = table.assign(who=model_labels(table))
    heads = list(dict.fromkeys(table.sort_values("place")["stage"]))
    figure = sized(3.4)
    axes = figure.subplots()
    entries = []
    for (model, rows), (marker, line, color) in zip(table.groupby("who"), cycle(LINES), strict=False):
        positions = [heads.index(stage) for stage in rows["stage"]]
        axes.plot(positions, rows["reached_pct"].astype(float), marker=marker, linestyle=line, color=color, label=model)
        entries.append((model, ", ".join(f"{row.stage} {row.reached}" for row in rows.itertuples())))
    axes.set_xticks(range(len(heads)), heads, rotation=35, ha="right")
    axes.set(ylim=(0, 105), ylabel="% of answers")
    axes.grid(color=GRID)
    legend(axes, 2)
    return figure, f"Lines that fall from stage to stage. {listed(entries)}."


def structure(_frames: Frames, tables: Tables) -> Drawing | None:
    """Three panels of bars: mean files, lines and hunks, model against gold (the thesis's figure 5.5)."""
    table = tables["structure"]
    table = table[table["non_empty"] > 0]
    return None if table.empty else _structure(table)


def repository_structure(_frames: Frames, tables: Tables) -> Drawing | None:
    """The same by repository and model."""
    table = _by_repository(tables, "repository_structure")
    return None if table is None else _structure(table)


def _structure(table: pd.DataFrame) -> Drawing:
    names = _names(table)
    shares = table[[f"{measure}_change_pct" for measure in MEASURES]].to_numpy().tolist()
    changes = (", ".join(map(_change, MEASURES, row)) for row in shares)
    entries = listed(zip(names, changes, strict=True))
    if len(table) > MOST_BARS and "repo" in table:
        figure = grids.panels([_against_gold(table, measure) for measure in MEASURES])
        return figure, f"Three grids of means, model/gold, by model and repository. {entries}."
    return _pairs_of_bars(table, names), f"Pairs of bars, model against gold. {entries}."


def _change(measure: str, by: float) -> str:
    """A difference from gold in words; unknown where gold has none, as a renamed file has no lines."""
    return f"{measure} unknown" if pd.isna(by) else f"{measure} {by:+.0f}%"


def _against_gold(table: pd.DataFrame, measure: str) -> grids.Panel:
    """A grid of the means of models and gold: the larger the model's, compared with gold's, the darker; the darkest is
    twice as large."""
    means = table[["repo", f"{measure}_mean", f"gold_{measure}_mean"]].itertuples(index=False)
    cells = {
        (who, str(repo)): (min(1, ours / gold / 2 if gold else 0), f"{_short(ours)}/{_short(gold)}")
        for who, (repo, ours, gold) in zip(model_labels(table), means, strict=True)
    }
    return grids.Panel(f"mean {measure}, model/gold", cells)


def _short(mean: float) -> str:
    """A mean that fits into half a cell."""
    return f"{mean:.0f}" if mean >= 100 else f"{mean:.1f}"


def _pairs_of_bars(table: pd.DataFrame, names: Sequence[str]) -> Figure:
    labels = [wrapped(name) for name in names]
    figure = canvas(2 * len(table), each=max(0.22, _height(labels) / 2), head=1.0)
    panels = figure.subplots(1, 3, sharey=True)
    for axes, measure in zip(panels, MEASURES, strict=True):
        series = ((f"{measure}_mean", "model", BLUE, "", -0.2), (f"gold_{measure}_mean", "gold", YELLOW, "//", 0.2))
        for column, label, color, hatch, offset in series:
            positions = [index + offset for index in range(len(table))]
            style = {"color": color, "hatch": hatch, "edgecolor": EDGE, "linewidth": 0.6, "label": label}
            bars = axes.barh(positions, table[column].astype(float), 0.38, **style)
            axes.bar_label(bars, fmt="%.1f", padding=2, fontsize=7)
        most = table[[f"{measure}_mean", f"gold_{measure}_mean"]].to_numpy(dtype=float).max()
        axes.set(xlabel=measure, xlim=(0, 1.5 * (most or 1)))
        axes.tick_params(axis="y", length=0)
    panels[0].set_yticks(range(len(table)), labels)
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper right", ncols=2)
    return figure


def by_class(column: str) -> Callable[[Frames, Tables], Drawing | None]:
    """A grid of the shares of instances resolved, by model and a class of instances."""
    name = {"repo": "repositories"}.get(column, f"by_{column}")

    def draw(_frames: Frames, tables: Tables) -> Drawing | None:
        table = tables[name]
        return _shares(table[table["kind"] == "model"] if "kind" in table else table, column, "resolved", "instances")

    return draw


def by_principle(_frames: Frames, tables: Tables) -> Drawing | None:
    """The same by WCAG principle, as shares of the assigned criteria."""
    return _shares(tables["by_principle"].query("criteria > 0"), "principle", "criteria_resolved", "criteria")


def _shares(table: pd.DataFrame, column: str, part: str, whole: str) -> Drawing | None:
    if table.empty:
        return None
    table = table.assign(who=model_labels(table), **{column: table[column].astype(str)})
    entries = [
        (f"{row.who}, {getattr(row, column)}", f"{getattr(row, part)} of {getattr(row, whole)}")
        for row in table.itertuples()
    ]
    return grids.shares(table, "who", column, part, whole), f"Grid of resolved {whole}. {listed(entries)}."


def accessibility(_frames: Frames, tables: Tables) -> Drawing | None:
    """Bars of axe-core violations by model: fixed, remaining, introduced."""
    table = tables["accessibility"].dropna(subset="axe_fixed")
    if table.empty:
        return None
    names, kinds = who(table), ("fixed", "remaining", "introduced")
    figure = canvas(len(table), head=1.2)
    axes = figure.subplots()
    stacked(axes, names, {kind: [float(value) for value in table[f"axe_{kind}"]] for kind in kinds})
    axes.set_xlabel("violations")
    whole(axes.xaxis)
    rows = table[[f"axe_{kind}" for kind in kinds]].to_numpy().tolist()
    entries = [
        (name, ", ".join(f"{n} {k}" for n, k in zip(row, kinds, strict=True)))
        for name, row in zip(names, rows, strict=True)
    ]
    return figure, f"Bars in three parts. {listed(entries)}."
