"""The kinds of metrics on small groups: unknown values stay unknown, and never count as zero."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from pipeline.analyze.measures import kinds, metrics
from pipeline.analyze.measures.shares import ALL, known_total, percent, share, with_total
from pipeline.core.records import Outcome


def group(costs: list[dict[str, Any]] | None = None, **columns: list[Any]) -> Any:
    """Predictions with these columns, and their costs; all in one repository unless a column says otherwise."""
    rows = pd.DataFrame(columns)
    rows = rows if "repo" in rows else rows.assign(repo="acme/ui")
    return SimpleNamespace(rows=rows.convert_dtypes(), costs=pd.DataFrame(costs or []))


def test_count_takes_true_values_and_known_takes_all_known_values() -> None:
    rows = group(resolved=[True, False, None, True])
    assert kinds.count("resolved")(rows) == 2
    assert kinds.known("resolved")(rows) == 3


def test_missing_values_count_for_no_category() -> None:
    rows = group(localisation=["perfect", "miss", None, "perfect"])
    assert [kinds.among("localisation", kind)(rows) for kind in ("perfect", "partial", "miss")] == [2, 0, 1]


@pytest.mark.parametrize(
    ("values", "total", "mean", "median"),
    [([1, 2, 6], 9, 3.0, 2.0), ([1, None, 4], 5, 2.5, 2.5), ([None, None], None, None, None), ([0], 0, 0.0, 0.0)],
)
def test_sum_mean_and_median_leave_out_unknown_numbers(
    values: list[int | None], total: int | None, mean: float | None, median: float | None
) -> None:
    rows = group(tokens=values)
    assert kinds.summed("tokens")(rows) == total
    assert kinds.mean("tokens")(rows) == mean
    assert kinds.median("tokens")(rows) == median


def test_a_mean_can_be_of_the_rows_in_which_another_column_is_known() -> None:
    """Gold's size is compared with a patch's only if there is a patch."""
    rows = group(files=[2, None, 4], gold_files=[1, 100, 3])
    assert kinds.mean("gold_files", where="files")(rows) == 2
    assert kinds.change(kinds.mean("files"), kinds.mean("gold_files", where="files"))(rows) == pytest.approx(50)


@pytest.mark.parametrize(
    ("ours", "gold", "expected"),
    [(2.0, 4.0, -50.0), (4.0, 4.0, 0.0), (None, 4.0, None), (4.0, None, None), (4.0, 0.0, None), (0.0, 4.0, -100.0)],
)
def test_a_change_is_a_share_of_the_latter(ours: float | None, gold: float | None, expected: float | None) -> None:
    assert kinds.change(lambda _: ours, lambda _: gold)(group(files=[1])) == expected


def test_repositories_weigh_the_same_in_a_macro_average() -> None:
    rows = group(repo=["a/b", "a/b", "a/b", "c/d"], resolved=[True, False, False, True])
    assert kinds.macro("resolved")(rows) == pytest.approx(100 * (1 / 3 + 1) / 2)


def test_a_repository_without_known_values_is_left_out_of_the_macro_average() -> None:
    rows = group(repo=["a/b", "c/d"], resolved=[True, None])
    assert kinds.macro("resolved")(rows) == 100
    assert kinds.macro("resolved")(group(resolved=[None, None])) is None


@pytest.mark.parametrize(("part", "whole", "expected"), [(1, 4, 25.0), (0, 4, 0.0), (1, 0, None), (None, 4, None)])
def test_a_ratio_with_a_zero_or_unknown_part_is_unknown(part: int | None, whole: int, expected: float | None) -> None:
    assert kinds.ratio(lambda _: part, lambda _: whole)(group(files=[1])) == expected


def test_money_is_added_exactly() -> None:
    costs = [{"llm": Decimal("0.1"), "emb": Decimal("0.000001")}, {"llm": Decimal("0.2"), "emb": Decimal(0)}]
    assert kinds.money("llm", "emb")(group(costs)) == Decimal("0.300001")
    assert kinds.money("llm")(group([])) is None
    assert kinds.money("llm", "emb")(group([*costs, {"llm": Decimal(1), "emb": None}])) is None


@pytest.mark.parametrize(
    ("cost", "whole", "expected"), [(Decimal("0.3"), 3, 0.1), (Decimal(1), 0, None), (None, 3, None)]
)
def test_a_cost_per_zero_items_is_unknown(cost: Decimal | None, whole: int, expected: float | None) -> None:
    assert kinds.per(lambda _: cost, lambda _: whole)(group(files=[1])) == expected


# -- the metrics that are functions of their own -----------------------------------------------------------------------
def test_a_patch_is_partly_right_if_it_fixes_some_test_and_is_not_resolved() -> None:
    outcomes = [Outcome.UNRESOLVED, Outcome.UNRESOLVED, Outcome.RESOLVED, Outcome.CRASHED]
    rows = group(outcome=[outcome.value for outcome in outcomes], fixed=[1, 0, 3, 2])
    assert metrics.partly(rows) == 1


@pytest.mark.parametrize(
    ("evaluated", "attempts", "incomplete"),
    [([True, True], [True] * 3, False), ([True, False], [True], True), ([True, True], [True, True, False], True)],
)
def test_a_row_is_incomplete_if_anything_was_not_evaluated(
    evaluated: list[bool], attempts: list[bool], incomplete: bool
) -> None:
    rows = group(evaluated=evaluated)
    rows.samples = pd.DataFrame({"evaluated": attempts}, dtype="boolean")
    assert metrics.incomplete(rows) is incomplete


@pytest.mark.parametrize(
    ("fixed", "introduced", "delta"),
    [([2, 1], [0, 1], -2), ([0, None], [3, None], 3), ([None], [1], None), ([1], [None], None)],
)
def test_the_balance_of_violations_needs_both_numbers(
    fixed: list[int | None], introduced: list[int | None], delta: int | None
) -> None:
    assert metrics.axe_delta(group(axe_fixed=fixed, axe_introduced=introduced)) == delta


def test_an_undecided_judge_is_left_out_of_the_mean() -> None:
    assert metrics.judge_mean(group(judge=[3, -1, 2])) == 2.5
    assert metrics.judge_mean(group(judge=[-1, -1])) is None
    assert metrics.judge_mean(group(judge=[None])) is None


def test_human_agreement_is_over_the_patches_that_were_checked() -> None:
    """And evaluated: of the last patch, the tests said nothing."""
    evaluated = [True, True, True, True, False]
    fixes, resolved = [True, True, False, None, True], [True, False, False, True, False]
    rows = group(hand_fixes=fixes, resolved=resolved, evaluated=evaluated)
    assert metrics.hand_agree(rows) == pytest.approx(200 / 3)
    assert metrics.hand_kappa(rows) == pytest.approx(0.4)
    nothing = group(hand_fixes=[None], resolved=[True], evaluated=[True])
    assert metrics.hand_agree(nothing) is None and metrics.hand_kappa(nothing) is None


def test_jaccard_over_all_counts_a_missing_patch_as_zero() -> None:
    rows = group(jaccard=[1.0, 0.5, None], predicted=[True, True, True])
    assert metrics.jaccard_of_all(rows) == 0.5
    assert metrics.jaccard_of_all(group(jaccard=[None], predicted=[False])) is None


def test_gold_files_that_an_agent_saw_are_counted_where_it_reports_them() -> None:
    rows = group(gold_located=[2, None, 1], gold_files=[2, 5, 3], gold_edited=[1, 4, None])
    assert [metrics.of_seen(name)(rows) for name in ("gold_files", "gold_located", "gold_edited")] == [5, 3, 1]


def test_the_share_of_the_models_cost() -> None:
    costs = [{"shown_llm_usd": Decimal(3), "shown_emb_usd": Decimal(1)}]
    assert metrics.llm_share(group(costs)) == 75
    assert metrics.llm_share(group([])) is None
    assert metrics.llm_share(group([{"shown_llm_usd": Decimal(0), "shown_emb_usd": Decimal(0)}])) is None


def test_the_interval_contains_the_share() -> None:
    rows = group(resolved=[True] * 3 + [False] * 4)
    low, high = metrics.wilson("low")(rows), metrics.wilson("high")(rows)
    assert low is not None and high is not None and low < 300 / 7 < high
    assert metrics.wilson("low")(group(resolved=[])) is None


# -- shares ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("part", "whole", "expected"), [(1, 8, 12.5), (0, 1, 0.0), (5, 0, None)])
def test_a_share(part: float, whole: float, expected: float | None) -> None:
    assert share(part, whole) == expected


def test_shares_of_columns() -> None:
    found = percent(pd.Series([1, 2, 0]), pd.Series([4, 0, 3]))
    assert found.isna().tolist() == [False, True, False] and found.dropna().tolist() == [25, 0]
    assert percent(pd.Series([1, 2]), 2).tolist() == [50, 100]


@pytest.mark.parametrize(
    ("values", "expected"),
    [([Decimal("0.1"), None, Decimal("0.2")], Decimal("0.3")), ([None], None), ([], None)],
)
def test_a_known_total_skips_unknown_amounts(values: list[Decimal | None], expected: Decimal | None) -> None:
    assert known_total(pd.Series(values, dtype="object")) == expected


def test_a_single_row_gets_no_row_of_totals() -> None:
    table = pd.DataFrame({"repo": ["a/b", "c/d"], "total": [1, 2], "usd": [Decimal("0.1"), Decimal("0.2")]})
    table = table.astype({"repo": "string", "usd": "object"})
    last = with_total(table, "repo").iloc[-1]
    assert (last["repo"], last["total"], last["usd"]) == (ALL, 3, Decimal("0.3"))
    assert with_total(table[:1], "repo").equals(table[:1])


def test_a_total_with_an_unknown_part_is_unknown() -> None:
    table = pd.DataFrame({"repo": ["a/b", "c/d"], "total": [1, None], "ok": [True, False]}).convert_dtypes()
    last = with_total(table, "repo").iloc[-1]
    assert pd.isna(last["total"]) and pd.isna(last["ok"])
