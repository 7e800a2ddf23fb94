"""The figures of the report on a run of pages, each with its text alternative. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle

from matplotlib.figure import Figure

from pipeline.pages.measures import PassAtK, model_row, pass_at, rules
from pipeline.pages.records import PageAnswer, PageVerdict
from pipeline.pages.runs import Run
from pipeline.report.figures.bars import legend, plain
from pipeline.report.figures.style import GRID, LINES, WIDTH, Drawing, Plot, canvas, laid_out, listed, styled, wrapped

#: rules in the figure at most; the table has all
MOST_RULES = 12
#: k in the curve at most: more are too close to tell
MOST_K = 50
Answers, Verdicts = Sequence[PageAnswer], Sequence[PageVerdict]


def plots(run: Run, answers: Answers, verdicts: Verdicts) -> list[Plot]:
    """All figures that there is something to show in."""
    drawings: list[tuple[str, str, str, Callable[[], Drawing | None]]] = [
        ("pass-at-k", "pass@k", "pass-at-k", lambda: _curve(run, verdicts)),
        ("rules", "Pages that violate a rule that counts", "rules", lambda: _rules(verdicts)),
        ("cost", "Cost of a page, and pages that pass", "cost", lambda: _cost(run, answers, verdicts)),
    ]
    found = []
    for name, title, table, draw in drawings:
        with styled():
            drawing = draw()
        if drawing:
            with styled():
                found.append(Plot(name, title, table, laid_out(drawing[0]), drawing[1]))
    return found


def _curve(run: Run, verdicts: Verdicts) -> Drawing | None:
    ks = range(1, min(run.asked.samples, MOST_K) + 1)
    lines = {
        model: [one for one in pass_at(model, ks, verdicts) if one.value is not None] for model in run.asked.models
    }
    lines = {model: points for model, points in lines.items() if points}
    if run.asked.samples < 2 or not lines:
        return None
    figure = Figure(figsize=(WIDTH, 3.2))
    axes = figure.subplots()
    for (model, points), (marker, line, color) in zip(lines.items(), cycle(LINES), strict=False):
        at = [one.k for one in points]
        axes.plot(at, [100 * one.value for one in points], line, color=color, marker=marker, markersize=4, label=model)
        low, high = ([100 * one.interval[end] for one in points] for end in (0, 1))
        axes.fill_between(at, low, high, color=color, alpha=0.12, linewidth=0)
    axes.set(xlabel="k", ylabel="pass@k (%)", ylim=(-2, 102))
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.grid(color=GRID)
    legend(axes, len(lines))
    return figure, listed([(model, _ends(points)) for model, points in lines.items()])


def _ends(points: Sequence[PassAtK]) -> str:
    first, last = points[0], points[-1]
    return f"{100 * first.value:.1f} % at k = {first.k}, {100 * last.value:.1f} % at k = {last.k}"


def _rules(verdicts: Verdicts) -> Drawing | None:
    found = [(one.rule, sum(one.pages.values())) for one in rules(verdicts) if one.counts][:MOST_RULES]
    if not found:
        return None
    figure = canvas(len(found))
    names, pages = zip(*found, strict=True)
    plain(figure.subplots(), [wrapped(one, 30) for one in names], pages, [str(one) for one in pages])
    return figure, listed(found)


def _cost(run: Run, answers: Answers, verdicts: Verdicts) -> Drawing | None:
    rows = [model_row(one, answers, verdicts) for one in run.asked.models]
    known = [row for row in rows if row.passed.share is not None and row.money.usd and not row.money.unknown]
    if not known:
        return None
    figure = Figure(figsize=(WIDTH, 3.2))
    axes = figure.subplots()
    points = [(row.model, float(row.money.usd) / row.samples, 100 * row.passed.share) for row in known]
    for (model, usd, passed), (marker, _, color) in zip(points, cycle(LINES), strict=False):
        axes.plot([usd], [passed], marker, color=color, label=model)
    axes.set(xlabel="USD for a page", ylabel="pages that pass (%)", ylim=(-2, 102))
    axes.set_xlim(left=0, right=1.15 * max(usd for _, usd, _ in points))
    axes.grid(color=GRID)
    legend(axes, len(points))
    return figure, listed([(model, f"{usd:.6f} USD, {passed:.1f} %") for model, usd, passed in points])
