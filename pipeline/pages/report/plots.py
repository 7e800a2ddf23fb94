"""The figures of the report on a run of pages, each with its text alternative. Pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TypeAlias

from pipeline.pages.measures import PassAtK, model_row, pass_at, rules
from pipeline.pages.records import PageAnswer, PageVerdict
from pipeline.pages.runs import Run
from pipeline.report.figures.bars import legend, plain
from pipeline.report.figures.style import (
    GRID,
    LINES,
    Drawing,
    Plot,
    canvas,
    laid_out,
    listed,
    sized,
    styled,
    whole,
    wrapped,
)

#: the maximum number of rules in the figure; the table has all
MOST_RULES = 12
#: the maximum number of k in the curve: more could not be told apart
MOST_K = 50
Answers: TypeAlias = Sequence[PageAnswer]
Verdicts: TypeAlias = Sequence[PageVerdict]


def plots(run: Run, answers: Answers, verdicts: Verdicts) -> list[Plot]:
    """All figures for which there are data."""
    drawings: list[tuple[str, str, str, Callable[[], Drawing | None]]] = [
        ("pass-at-k", "pass@k", "pass-at-k", lambda: _curve(run, verdicts)),
        ("rules", "Pages that violate a rule that counts", "rules", lambda: _rules(verdicts)),
        ("cost", "Cost of a page, and pages that pass", "cost", lambda: _cost(run, answers, verdicts)),
    ]
    figures = []
    for name, title, table, draw in drawings:
        with styled():
            drawing = draw()
        if drawing:
            with styled():
                figures.append(Plot(name, title, table, laid_out(drawing[0]), drawing[1]))
    return figures


def _curve(run: Run, verdicts: Verdicts) -> Drawing | None:
    ks = range(1, min(run.asked.samples, MOST_K) + 1)
    lines = {model: points for model in run.asked.models if (points := _points(pass_at(model, ks, verdicts, run.keys)))}
    if run.asked.samples < 2 or not lines:
        return None
    figure = sized(3.2)
    axes = figure.subplots()
    for (model, points), (marker, line, color) in zip(lines.items(), cycle(LINES), strict=False):
        at, shares, lows, highs = zip(*points, strict=True)
        axes.plot(at, shares, line, color=color, marker=marker, markersize=4, label=model)
        axes.fill_between(at, lows, highs, color=color, alpha=0.12, linewidth=0)
    axes.set(xlabel="k", ylabel="pass@k (%)", ylim=(-2, 102))
    whole(axes.xaxis, "auto", steps=[1, 2, 2.5, 5, 10])
    axes.grid(color=GRID)
    legend(axes, len(lines))
    return figure, listed([(model, _ends(points)) for model, points in lines.items()])


def _points(rates: Sequence[PassAtK]) -> list[tuple[int, float, float, float]]:
    """Each k with its percentage, if it is known, and interval, which has no width if it is not."""
    known = [
        (rate.k, rate.value, rate.interval or (rate.value, rate.value)) for rate in rates if rate.value is not None
    ]
    return [(k, 100 * value, 100 * low, 100 * high) for k, value, (low, high) in known]


def _ends(points: Sequence[tuple[int, float, float, float]]) -> str:
    (first, at_first, *_), (last, at_last, *_) = points[0], points[-1]
    return f"{at_first:.1f}% at k = {first}, {at_last:.1f}% at k = {last}"


def _rules(verdicts: Verdicts) -> Drawing | None:
    counted = [(row.rule, sum(row.pages.values())) for row in rules(verdicts) if row.counts][:MOST_RULES]
    if not counted:
        return None
    figure = canvas(len(counted))
    names, pages = zip(*counted, strict=True)
    plain(figure.subplots(), [wrapped(name, 30) for name in names], pages, [str(count) for count in pages])
    return figure, listed(counted)


def _cost(run: Run, answers: Answers, verdicts: Verdicts) -> Drawing | None:
    rows = [model_row(model, answers, verdicts, run.keys) for model in run.asked.models]
    sizes = Counter(answer.model for answer in answers)
    points = [
        (row.model, float(row.money.usd) / sizes[row.model], 100 * row.passed.share)
        for row in rows
        if row.passed.share is not None and row.money.usd and not row.money.unknown
    ]
    if not points:
        return None
    figure = sized(3.2)
    axes = figure.subplots()
    for (model, usd, passed), (marker, _, color) in zip(points, cycle(LINES), strict=False):
        axes.plot([usd], [passed], marker, color=color, label=model)
    axes.set(xlabel="USD for a page", ylabel="pages that pass (%)", ylim=(-2, 102))
    axes.set_xlim(left=0, right=1.15 * max(usd for _, usd, _ in points))
    axes.grid(color=GRID)
    legend(axes, len(points))
    return figure, listed([(model, f"{usd:.6f} USD, {passed:.1f}%") for model, usd, passed in points])
