"""The figures: formats, letters beside the colors, and text alternatives."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pandas as pd
import pytest
from analysis_data import Size, generate
from analyze.conftest import UI, add_run, add_verdicts, make_data
from factories import make_instance, make_prediction, make_verdict
from matplotlib.backends.backend_agg import FigureCanvasAgg

from pipeline import analyze
from pipeline.analyze.plots import FIGURES, dataset
from pipeline.analyze.plots.cost import NO_FRONTIER, pareto_front
from pipeline.analyze.plots.models import LARGEST_GRID, MARKS, MOST_BARS, MOST_MODELS, PATTERNS
from pipeline.analyze.plots.models import _names as row_names
from pipeline.core.errors import UserError
from pipeline.core.records import Outcome
from pipeline.core.store import Store, write_records
from pipeline.report.figures.style import FILLS, LINES


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    return analyze.load(make_data(tmp_path_factory.mktemp("plots") / "data"))


@pytest.fixture(scope="module")
def plots(frames):
    """The figures of the small data directory."""
    return {plot.name: plot for plot in analyze.figures(frames)}


def test_every_color_has_a_letter_or_a_pattern():
    assert set(MARKS) == set(PATTERNS) == set(Outcome)
    assert len({letter for _, letter in MARKS.values()}) == len({fill for fill, _ in MARKS.values()}) == len(Outcome)
    assert len({pattern for _, pattern in FILLS}) == len(FILLS)
    assert len({marker for marker, _, _ in LINES[:10]}) == 10
    assert len({(marker, color) for marker, _, color in LINES}) == len(LINES) == 20


def test_repositories_of_one_name_are_told_apart():
    """Bars of acme/ui and of orbit/ui had the same label."""
    table = pd.DataFrame({"repo": ["acme/ui", "orbit/ui", "acme/forms"], "model": "m", "agent": "a"})
    assert row_names(table) == ["acme/ui, m", "orbit/ui, m", "forms, m"]


def test_svg_and_png(plots):
    assert plots["resolution"].png.startswith(b"\x89PNG")
    assert b"<svg" in plots["resolution"].svg


def test_every_figure_of_the_thesis_is_drawn(tmp_path):
    """5.1 principles, 5.2 repositories, 5.3 empty patches and cost, 5.4 localisation, 5.5 structure, 5.6 costs."""
    made = analyze.figures(analyze.load(generate(Store(tmp_path), Size(6, 2, 6))))
    names = {plot.name for plot in made}
    assert {"repository_localisation", "repository_structure"} <= names
    assert {"principles", "repositories", "empty_patches", "empty_cost", "localisation", "structure", "costs"} <= names
    assert {figure.name for figure in FIGURES} - names == {"accessibility", "pass_at_k"}, "what no stage records yet"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("resolution", "lab/model-b: 2 of 4 (50.0%); model-a: 1 of 4 (25.0%)"),
        ("grid", "model-a: empty: acme__ui-2; not evaluated: acme__forms-1"),
        ("outcomes", "model-a: 1 resolved, 1 unresolved, 1 empty, 1 not evaluated"),
        ("principles", "perceivable: 2 criteria, 1 instances"),
        ("funnel", "merged: 8; change source and tests: 6 (75%); candidates: 6 (100%)"),
        ("costs", "lab/model-b: 0.22 USD; model-a: 0.11 USD"),
        ("localisation", "model-a: mean Jaccard 0.50, 1 perfect, 0 partial, 1 miss"),
        ("repositories", "model-a, acme/ui: 1 of 3"),
        ("repository_localisation", "ui, model-a: mean Jaccard 0.50, 1 perfect, 0 partial, 1 miss"),
        ("repository_structure", "forms, lab/model-b: files"),
        ("by_principle", "model-a, operable: 0 of 1"),
    ],
)
def test_the_text_alternative_describes_the_figure(plots, name, text):
    assert text in plots[name].alternative


def test_violations_before_and_after(frames):
    """Four instances of each model, two of which were audited; a model without audits is left out."""
    given = {"axe_fixed": 3, "axe_remaining": 1, "axe_introduced": 0}
    audited = frames.predictions["instance_id"].isin(["acme__ui-1", "acme__ui-2"])
    columns = {name: frames.predictions[name].mask(audited, value) for name, value in given.items()}
    plot = analyze.figure(replace(frames, predictions=frames.predictions.assign(**columns)), "accessibility")
    assert plot.alternative.endswith("model-a: 6 fixed, 2 remaining, 0 introduced.")
    assert "model-b: 6 fixed" in plot.alternative
    others = frames.predictions["model"] != "model-a"
    columns = {name: column.mask(others) for name, column in columns.items()}
    plot = analyze.figure(replace(frames, predictions=frames.predictions.assign(**columns)), "accessibility")
    assert plot.alternative == "Bars in three parts. model-a: 6 fixed, 2 remaining, 0 introduced."
    columns = {name: column.mask(~others) for name, column in columns.items()}
    references_alone = replace(frames, predictions=frames.predictions.assign(**columns))
    assert analyze.figure(references_alone, "accessibility") is None


def test_an_unknown_figure_lists_the_available_ones(frames):
    with pytest.raises(UserError, match="available: accessibility, agreement, by_difficulty"):
        analyze.figure(frames, "pie")


def test_a_grid_that_is_too_large_to_read_is_left_out(tmp_path):
    store, prediction = Store(tmp_path), make_prediction(1)
    write_records(store.dataset(UI), [make_instance(number) for number in range(1, LARGEST_GRID + 2)])
    add_run(store, UI, [prediction])
    add_verdicts(store, UI, [make_verdict(prediction)])
    frames = analyze.load(store)
    made = analyze.tables(frames)
    assert analyze.figure(frames, "outcomes", made) and not analyze.figure(frames, "grid", made)


def test_long_names_of_models_do_not_overlap(tmp_path):
    """The names above a grid of letters are vertical, in lines; no two of them overlap."""
    store, model = Store(tmp_path), "Qwen3-Coder-480B-A35B-Instruct-Turbo"
    write_records(store.dataset(UI), [make_instance(1)])
    for name in (f"{model}-one", f"{model}-two"):
        prediction = make_prediction(1, model_name_or_path=name)
        add_run(store, UI, [prediction])
        add_verdicts(store, UI, [make_verdict(prediction)])
    figure = analyze.figure(analyze.load(store), "grid").figure
    boxes = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    assert not boxes[0].overlaps(boxes[1])
    assert all(figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1 for box in boxes)


def test_cells_carry_letters(plots):
    (axes,) = plots["grid"].figure.axes
    assert [text.get_text() for text in axes.texts] == ["R", "–", "R", "R", "–", "E", "–", "U"]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """The figures of a data directory with many models, long names and two attempts."""
    frames = analyze.load(generate(Store(tmp_path_factory.mktemp("many") / "data"), Size(6, 12, 6)))
    names = {"model-a": "Qwen3-Coder-480B-A35B-Instruct-Turbo", "model-b": "DeepSeek-V3.1-Terminus"}
    known = {name: frame.replace({"model": names}) for name, frame in frames.items().items() if "model" in frame}
    frames = replace(frames, **known)
    again = frames.samples.assign(data="again")
    frames = replace(frames, samples=pd.concat([frames.samples, again], ignore_index=True))
    return {plot.name: plot for plot in analyze.figures(frames)}


def drawn(axes):
    """The tick labels within the axis: others are not drawn."""
    for axis, (low, high) in ((axes.xaxis, sorted(axes.get_xlim())), (axes.yaxis, sorted(axes.get_ylim()))):
        for place, label in zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=False):
            if low <= place <= high and label.get_text() and label.get_visible():
                yield label


def test_no_text_of_a_figure_is_clipped(many, plots):
    """Legends, labels and ticks stay within the figure, whatever the names are."""
    for plot in [*many.values(), *plots.values()]:
        figure, renderer = plot.figure, FigureCanvasAgg(plot.figure).get_renderer()
        edge = figure.bbox.padded(3)
        texts = [*figure.legends, *(text for axes in figure.axes for text in axes.texts if text.get_text())]
        texts += [label for axes in figure.axes for label in drawn(axes)]
        texts += [axis.label for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) if axis.label.get_text()]
        for one in texts:
            box = one.get_window_extent(renderer)
            said = getattr(one, "get_text", lambda: "the legend")()
            assert edge.x0 <= box.x0 and box.x1 <= edge.x1 and edge.y0 <= box.y0 and box.y1 <= edge.y1, (
                plot.name,
                said,
            )


def test_labels_do_not_cover_each_other(many, plots):
    """The headings of nine agents and models in a grid ran together."""
    for plot in [*many.values(), *plots.values()]:
        renderer = FigureCanvasAgg(plot.figure).get_renderer()
        for axes in plot.figure.axes:
            straight = [label for label in drawn(axes) if label.get_rotation() % 90 == 0]
            boxes = [(label.get_text(), label.get_window_extent(renderer)) for label in straight]
            for (name, box), (other, further) in combinations(boxes, 2):
                assert not box.padded(-1).overlaps(further.padded(-1)), (plot.name, name, other)


@pytest.mark.parametrize("name", ["frontier", "empty_cost", "pass_at_k", "stages"])
def test_a_long_legend_does_not_shrink_the_axes(many, name):
    """With nine agents and models, the axes were half an inch high, and their label was clipped."""
    figure = many[name].figure
    assert min(axes.get_position().height for axes in figure.axes) * figure.get_figheight() >= 1.5


@pytest.mark.parametrize("name", ["frontier", "agreement", "pass_at_k", "transitions"])
def test_figures_with_many_models_are_drawn(many, name):
    assert many[name].alternative.count(":") >= 1


def test_the_frontier_has_the_models_that_no_other_dominates():
    table = pd.DataFrame({"usd": [1.0, 1.0, 2.0, 3.0, 4.0], "share": [10.0, 20.0, 20.0, 15.0, 30.0]})
    assert list(pareto_front(table).index) == [1, 4]


def test_bars_of_the_funnel_show_the_drop(plots):
    """On a logarithmic axis, a thousandth looks like two thirds."""
    (axes,) = plots["funnel"].figure.axes
    assert axes.get_xscale() == "linear"
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [8, 6, 6, *widths[3:]]


@pytest.mark.parametrize(("kept", "shown"), [(4, True), (3, True), (2, False), (pd.NA, False)])
def test_triage_is_a_step_of_the_funnel_only_if_it_decided_what_is_built(kept, shown):
    """With more instances than accepted candidates, the step was "175%" of the one before."""
    qualification = pd.DataFrame({"kept": [kept], "qualified": [3]})
    total = pd.DataFrame({"total": [8], "tests": [6], "sample": [5], "without_issue": [0]})
    _, text = dataset.funnel(None, {"funnel": total, "qualification": qualification})
    assert ("kept in triage" in text) == shown and "instances: 3 (" in text and "150%" not in text


def test_a_single_repository_has_no_figures_by_repository(frames):
    """With one repository, the figures by repository repeat the others."""
    tables = dict(analyze.tables(frames))
    for name in ("repository_patches", "repository_structure"):
        tables[name] = tables[name].query("repo == 'acme/ui'")
    names = {plot.name for plot in analyze.figures(frames, tables)}
    assert {"localisation", "structure"} <= names
    assert not {"repository_localisation", "repository_structure"} & names


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """The frames and tables of a data directory with more models and repositories than bars have room for."""
    frames = analyze.load(generate(Store(tmp_path_factory.mktemp("large") / "data"), Size(6, MOST_BARS // 3 + 1, 6)))
    return frames, analyze.tables(frames)


@pytest.mark.parametrize(
    ("name", "kind", "text", "panels"),
    [
        ("empty_patches", "Grid of the shares of empty patches, by model and repository.", "forms, model-a: ", 1),
        ("repository_localisation", "Three grids of patches that change something", "perfect, 0 partial", 3),
        ("repository_structure", "Three grids of means, model/gold", "ui, model-b: files", 3),
    ],
)
def test_figures_of_the_thesis_with_too_many_bars_are_grids(large, name, kind, text, panels):
    """Two of them vanished without a word, and the third left out the repositories that its title names."""
    plot = analyze.figure(large[0], name, large[1])
    assert kind in plot.alternative and text in plot.alternative
    assert len(plot.figure.axes) == panels
    for axes in plot.figure.axes:
        assert [label.get_text().replace("\n", "") for label in axes.get_xticklabels()] == [
            "acme/forms",
            "acme/ui",
            "orbit/design-system",
        ]
        assert len(axes.get_yticks()) == MOST_BARS // 3 + 1


def test_few_bars_by_repository_are_bars(plots):
    assert plots["empty_patches"].alternative.startswith("Bars of the share of empty patches. ")
    assert plots["repository_localisation"].alternative.startswith("Bars in three parts.")
    assert plots["repository_structure"].alternative.startswith("Pairs of bars")


def pairs(models, resolved=1):
    """A table of pairs: both of each resolve this many instances; the later models one more."""
    rows = [
        {"first": first, "second": second, "both": resolved, "only_first": 0, "only_second": min(resolved, 1)}
        for first, second in combinations(models, 2)
    ]
    return pd.DataFrame(rows)


def test_a_grid_of_pairs_shows_the_models_that_resolve_the_most(frames):
    """With a twenty-first model, the whole figure was left out."""
    models = [f"model-{number:02}" for number in range(MOST_MODELS + 2)]
    plot = analyze.figure(frames, "agreement", {"comparison": pairs(models)})
    (axes,) = plot.figure.axes
    sentence = f"The {MOST_MODELS} models that resolve the most; 2 more are in the table."
    assert axes.get_title() == sentence and sentence in plot.alternative
    assert len(axes.get_yticks()) == MOST_MODELS
    assert "model-01" in plot.alternative and "model-00" not in plot.alternative, "the one that resolves the least"
    few = analyze.figure(frames, "agreement", {"comparison": pairs(models[:3])})
    assert few.figure.axes[0].get_title() == "" and "in the table" not in few.alternative


def test_models_that_resolve_nothing_have_no_grid_of_pairs(frames):
    """It was a white square of 0/0."""
    assert analyze.figure(frames, "agreement", {"comparison": pairs(["model-a", "model-b"], 0)}) is None


def leaders(*, subset=False):
    """Three models: one that is cheap and was never evaluated, and two others."""
    who = {"agent": "magentless", "model": ["never", "small", "large"]}
    money = {"cost_usd": [0.1, 1.0, 2.0], "resolved_pct": [0.0, 10.0, 20.0]}
    leaderboard = pd.DataFrame(who | money | {"subset": subset, "incomplete": [True, False, False]})
    return {"leaderboard": leaderboard, "resolution": pd.DataFrame(who | {"evaluated": [0, 4, 4]})}


def test_a_model_that_was_never_evaluated_is_not_on_the_frontier(frames):
    """It seemed to be the best for its price."""
    plot = analyze.figure(frames, "frontier", leaders())
    assert plot.alternative.endswith("On the frontier: small, large.") and "never" not in plot.alternative


def test_subsets_alone_have_no_frontier(frames):
    """The text alternative ended with "On the frontier: ."."""
    plot = analyze.figure(frames, "frontier", leaders(subset=True))
    assert plot.alternative.endswith(f"20.0% resolved. {NO_FRONTIER}")
    assert "the frontier" not in [text.get_text() for text in plot.figure.legends[0].get_texts()]


def test_a_single_attempt_has_no_curve(plots):
    assert "pass_at_k" not in plots
