"""Intervals, tests and estimates against published and hand-made values."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.errors import UserError
from pipeline.report import statistics

FAST = settings(max_examples=60, deadline=None, derandomize=True, database=None)


@pytest.mark.parametrize(
    ("hits", "of", "low", "high"),
    [(1, 51, 0.0035, 0.1030), (0, 10, 0.0, 0.2775), (10, 10, 0.7225, 1.0), (81, 263, 0.2553, 0.3662)],
)
def test_wilson_interval(hits, of, low, high):
    """81 of 263 is Newcombe's example (1998, Statistics in Medicine 17)."""
    assert statistics.wilson(hits, of) == pytest.approx((low, high), abs=5e-5)


def test_an_interval_of_no_values_is_unknown():
    assert statistics.wilson(0, 0) is None
    assert statistics.macro_bootstrap([]) is None


@pytest.mark.parametrize(
    ("clusters", "hits", "of"),
    [
        ([(20, 20), (20, 0)], 1, 2),  # all alike within each: one sample per cluster
        ([(20, 10), (20, 10)], 20, 40),  # no difference between them: all samples count
        ([(20, 0), (20, 0), (3, 0)], 0, 3),  # nothing to see of either
    ],
)
def test_samples_of_a_cluster_count_as_much_as_they_are_worth(clusters, hits, of):
    assert statistics.clustered(clusters) == pytest.approx(statistics.wilson(hits, of))
    assert statistics.of_clusters([*clusters, (0, 0)]) == statistics.clustered(clusters)


def test_a_single_cluster_has_no_interval_but_its_own():
    assert statistics.clustered([(4, 1)]) is None and statistics.of_clusters([]) is None
    assert statistics.of_clusters([(0, 0), (4, 1)]) == statistics.wilson(1, 4)


def test_bootstrap_of_a_mean_of_means():
    low, high = statistics.macro_bootstrap([[1, 0, 0, 0], [1, 1, 0, 0]])
    assert 0 <= low < 0.375 < high <= 1
    assert statistics.macro_bootstrap([[1, 0, 0, 0], [1, 1, 0, 0]]) == (low, high), (
        "the same data give the same interval"
    )
    assert statistics.macro_bootstrap([[0], [0, 0]]) == (0, 0), "a resample can not show what the sample lacks"


def test_the_bootstrap_weighs_groups_equally():
    low, high = statistics.macro_bootstrap([[1] * 100, [0]])
    assert (low, high) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("first", "second", "p"), [(0, 0, 1.0), (1, 0, 1.0), (5, 0, 0.0625), (10, 2, 0.0386), (3, 3, 1.0)]
)
def test_mcnemar_is_exact(first, second, p):
    """Of 12 that differ, 10 to 2: twice the sum of C(12, 0..2) / 2**12."""
    assert statistics.mcnemar(first, second) == pytest.approx(p, abs=5e-5)
    assert statistics.mcnemar(second, first) == statistics.mcnemar(first, second)


def test_p_values_are_adjusted_for_their_number():
    """Benjamini and Yekutieli by hand: p * m * (1 + 1/2 + 1/3) / rank, monotone, at most 1."""
    assert statistics.adjusted([0.01, 0.04, 0.03]) == pytest.approx([0.055, 0.0733, 0.0733], abs=1e-4)
    assert statistics.adjusted([]) == []


@pytest.mark.rule("pass-at-k")
def test_pass_at_k_is_the_share_of_choices_with_a_resolved_one():
    """RULES, Analysis. Counted: of all choices of k among n attempts, those with at least one of c."""
    n, c, k = 6, 2, 3
    hits = [any(one < c for one in chosen) for chosen in combinations(range(n), k)]
    assert statistics.pass_at_k(n, c, k) == pytest.approx(sum(hits) / len(hits))
    assert statistics.pass_at_k(5, 5, 1) == 1 and statistics.pass_at_k(5, 0, 5) == 0


@pytest.mark.parametrize(
    ("resolved", "k", "message"),
    [
        (1, 4, "pass@4 needs at least 4 attempts"),
        (1, 0, "pass@0 is not defined"),
        (1, -1, "pass@-1 is not defined"),
        (4, 1, "4 of 3 attempts cannot be resolved"),
        (-1, 1, "-1 of 3 attempts cannot be resolved"),
    ],
)
def test_attempts_that_cannot_be_are_refused(resolved, k, message):
    with pytest.raises(UserError, match=message):
        statistics.pass_at_k(3, resolved, k)


def test_kappa_is_agreement_beyond_chance():
    """Of 10: both yes 4, both no 3, one says yes alone 2, the other 1: po 0.7, pe 0.6 * 0.5 + 0.4 * 0.5."""
    first = [True] * 6 + [False] * 4
    second = [True] * 4 + [False] * 2 + [True] + [False] * 3
    assert statistics.kappa(first, second) == pytest.approx((0.7 - 0.5) / 0.5)
    assert statistics.kappa([True], [True]) is None and statistics.kappa([], []) is None
    grades = (["a", "b", "c", "c"], ["a", "b", "c", "a"])
    assert statistics.kappa(*grades) == pytest.approx((3 / 4 - 5 / 16) / (11 / 16)), "of more than two categories"


#: the textbook example: 14 ratings of each of 10 subjects, by how often each of 5 grades was given
FLEISS = (
    """0 0 0 0 14, 0 2 6 4 2, 0 0 3 5 6, 0 3 9 2 0, 2 2 8 1 1, 7 7 0 0 0, 3 2 6 3 0, 2 5 3 2 2, 6 5 2 1 0, 0 2 2 3 7"""
)


def test_fleiss_kappa_of_many_raters():
    counts = [map(int, row.split()) for row in FLEISS.split(",")]
    subjects = [[kind for kind, n in enumerate(row) for _ in range(n)] for row in counts]
    assert statistics.fleiss(subjects) == pytest.approx(0.210, abs=5e-4)
    assert statistics.fleiss([]) is None and statistics.fleiss([[1, 1], [1, 1]]) is None
    assert statistics.fleiss([[1, 1], [2, 2]]) == 1
    with pytest.raises(ValueError, match="equally many"):
        statistics.fleiss([[1, 2], [1]])


def test_the_mean_of_pass_at_k_over_subjects_with_its_interval():
    mean, interval = statistics.mean_pass_at_k([(4, 0), (4, 2), (4, 4)], 1)
    assert mean == pytest.approx(0.5) and 0 <= interval.low < mean < interval.high <= 1
    assert statistics.mean_pass_at_k([(3, 1)] * 5, 3) == (1, (1, 1)), "what does not vary has no width"
    with pytest.raises(UserError, match="pass@5 needs at least 5"):
        statistics.mean_pass_at_k([(5, 1), (4, 1)], 5)
    with pytest.raises(UserError, match="needs samples"):
        statistics.mean_pass_at_k([], 1)


# -- properties ------------------------------------------------------------------------------------------------------
@FAST
@given(st.integers(1, 400), st.data())
def test_an_interval_contains_its_share_and_narrows_with_more_data(of: int, data: st.DataObject) -> None:
    hits = data.draw(st.integers(0, of))
    low, high = statistics.wilson(hits, of)
    assert 0 <= low <= hits / of <= high <= 1
    more = statistics.wilson(4 * hits, 4 * of)
    assert more[1] - more[0] < high - low
    assert statistics.wilson(of - hits, of) == pytest.approx((1 - high, 1 - low)), "failures mirror successes"


@FAST
@given(st.integers(1, 7), st.data())
def test_pass_at_k_is_what_counting_all_choices_gives(samples: int, data: st.DataObject) -> None:
    resolved, k = data.draw(st.integers(0, samples)), data.draw(st.integers(1, samples))
    choices = list(combinations([True] * resolved + [False] * (samples - resolved), k))
    assert statistics.pass_at_k(samples, resolved, k) == pytest.approx(sum(map(any, choices)) / len(choices))
    rising = [statistics.pass_at_k(samples, resolved, attempts) for attempts in range(1, samples + 1)]
    assert rising == sorted(rising) and rising[0] == pytest.approx(resolved / samples)


@FAST
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=12))
def test_kappa_does_not_depend_on_order_or_names(pairs: list[tuple[str, str]]) -> None:
    first, second = zip(*pairs, strict=True)
    found, other = statistics.kappa(first, second), statistics.kappa(second, first)
    assert (found is None) == (other is None)
    if found is None or other is None:
        assert set(first) == set(second) and len(set(first)) == 1, "chance alone would give full agreement"
        return
    assert found == pytest.approx(other) and -1 - 1e-9 <= found <= 1 + 1e-9
    names = {"a": 1, "b": (2,), "c": None}
    assert statistics.kappa([names[number] for number in first], [names[number] for number in second]) == pytest.approx(
        found
    )
    assert (found == pytest.approx(1)) == (first == second)


@FAST
@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_is_a_symmetric_probability(one: int, other: int) -> None:
    assert statistics.mcnemar(one, other) == pytest.approx(statistics.mcnemar(other, one))
    assert 0 < statistics.mcnemar(one, other) <= 1
    assert statistics.mcnemar(one, one) == pytest.approx(1), "an even split is no evidence"
    assert statistics.mcnemar(one, one + other + 1) >= statistics.mcnemar(one, one + other + 2), (
        "a more uneven one is more"
    )


@FAST
@given(st.lists(st.floats(0, 1), max_size=8))
def test_adjusted_probabilities_only_grow_and_keep_their_order(values: list[float]) -> None:
    found = statistics.adjusted(values)
    assert all(before <= after <= 1 for before, after in zip(values, found, strict=True))
    ranked = [after for _, after in sorted(zip(values, found, strict=True))]
    assert ranked == sorted(ranked)
