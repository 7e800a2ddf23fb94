"""The statistics in tables. Pure functions over numbers, from scipy where it has them.

Intervals are 95%. Does not check whether instances of one repository are independent, which some methods assume.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cache
from math import comb, isclose, sqrt
from statistics import NormalDist, fmean
from typing import NamedTuple

import numpy as np

from pipeline.core.errors import UserError

#: resamples of the bootstrap, with a fixed seed: the same data give the same interval
RESAMPLES, SEED = 2000, 20251203


class Interval(NamedTuple):
    """Shares between 0 and 1."""

    low: float
    high: float


@cache
def wilson(hits: int, of: int) -> Interval | None:
    """Wilson's score interval of a share (Wilson 1927); None if there is nothing to count."""
    from scipy.stats import binomtest

    return Interval(*binomtest(hits, of).proportion_ci(method="wilson")) if of else None


def clustered(clusters: Sequence[tuple[float, float]]) -> Interval | None:
    """Wilson's interval of the share of hits among samples that depend on each other within a cluster, given the number
    of samples and of hits in each; None for less than two clusters.

    It is for the equivalent number of independent samples (Korn and Graubard 1998): all samples if clusters do not
    differ, one per cluster if all samples of a cluster are alike. Own code, since scipy only takes whole numbers of
    samples.
    """
    if len(clusters) < 2:
        return None
    samples = sum(of for of, _ in clusters)
    share = sum(hits for _, hits in clusters) / samples
    variance = sum((hits - share * of) ** 2 for of, hits in clusters) / samples**2
    worth = min(samples, share * (1 - share) / variance) if variance else samples if 0 < share < 1 else len(clusters)
    z = NormalDist().inv_cdf(0.975)
    middle, half = share + z**2 / (2 * worth), z * sqrt(share * (1 - share) / worth + z**2 / (4 * worth**2))
    low, high = ((middle + end) / (1 + z**2 / worth) for end in (-half, half))
    return Interval(max(0.0, low) if share else 0.0, min(1.0, high) if share < 1 else 1.0)


def of_clusters(clusters: Iterable[tuple[int, int]]) -> Interval | None:
    """The same, and Wilson's plain interval of a single cluster; clusters without samples do not count, and None if
    there are none."""
    filled = [(of, hits) for of, hits in clusters if of]
    return wilson(*reversed(filled[0])) if len(filled) == 1 else clustered(filled)


def macro_bootstrap(groups: Sequence[Sequence[float]]) -> Interval | None:
    """Percentile interval of the mean of the groups' means, resampled within each group (Efron 1979).

    Own code, since `scipy.stats.bootstrap` refuses groups of one value. Groups of equal values give an interval of
    width 0: resampling cannot show variation that the sample lacks.
    """
    samples = [np.asarray(group, dtype=float) for group in groups if len(group)]
    if not samples:
        return None
    random = np.random.default_rng(SEED)
    means = [group[random.integers(len(group), size=(RESAMPLES, len(group)))].mean(axis=1) for group in samples]
    return Interval(*map(float, np.quantile(np.mean(means, axis=0), (0.025, 0.975))))


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact test (1947): the probability of so uneven a split, by chance, of what only one of two solved."""
    from scipy.stats import binomtest

    discordant = only_first + only_second
    return float(binomtest(only_first, discordant).pvalue) if discordant else 1.0


def adjusted(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for multiple tests, under any dependence (Benjamini and Yekutieli 2001)."""
    from scipy.stats import false_discovery_control

    return [float(p) for p in false_discovery_control(list(p_values), method="by")] if len(p_values) else []


def pass_at_k(samples: int, resolved: int, k: int) -> float:
    """The unbiased estimate of the probability that at least one of k attempts resolves an instance (Chen et al. 2021,
    arXiv 2107.03374). Raises UserError for a k above the number of attempts, for which there is no estimate, for a k
    below 1, and for more resolved attempts than there are.
    """
    if k < 1:
        raise UserError(f"pass@{k} is not defined", field="k", hint="give a k of at least 1")
    if not 0 <= resolved <= samples:
        hint = "the counts are wrong: count each attempt once"
        raise UserError(f"{resolved} of {samples} attempts cannot be resolved", field="resolved", hint=hint)
    if k > samples:
        hint = f"there are {samples} attempts at some instance; give more with --samples"
        raise UserError(f"pass@{k} needs at least {k} attempts", field="k", hint=hint)
    return 1 - comb(samples - resolved, k) / comb(samples, k)


def mean_pass_at_k(counts: Sequence[tuple[int, int]], k: int) -> tuple[float, Interval]:
    """The mean of pass@k over subjects, each given as (samples, passed), with a percentile interval from resampling the
    subjects (Efron 1979). Variation within a subject is part of the variation of its estimate. A single subject gives
    an interval of width 0. Raises UserError as `pass_at_k` does, and without subjects."""
    if not counts:
        raise UserError(f"pass@{k} needs samples", field="k")
    estimates = np.array([pass_at_k(samples, passed, k) for samples, passed in counts])
    resamples = np.random.default_rng(SEED).integers(len(estimates), size=(RESAMPLES, len(estimates)))
    low, high = np.quantile(estimates[resamples].mean(axis=1), (0.025, 0.975))
    return float(estimates.mean()), Interval(float(low), float(high))


def kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa (1960) of two raters: agreement beyond chance; None if chance alone would give full agreement.

    Ratings at the same position are of the same subject; categories may be any values.
    """
    if not len(first):
        return None
    first_counts, second_counts = Counter(first), Counter(second)
    shares = ((count / len(first), second_counts[category] / len(second)) for category, count in first_counts.items())
    observed = fmean(a == b for a, b in zip(first, second, strict=True))
    return _beyond_chance(observed, sum(first_share * second_share for first_share, second_share in shares))


def fleiss(subjects: Sequence[Sequence[Hashable]]) -> float | None:
    """Fleiss' kappa (1971) of several raters, who may differ between subjects: agreement beyond chance.

    `subjects` are the ratings of each subject; raises ValueError unless all have equally many, at least two. None if
    chance alone would give full agreement.
    """
    if not subjects:
        return None
    counts = [Counter(ratings) for ratings in subjects]
    raters = len(subjects[0])
    if raters < 2 or any(count.total() != raters for count in counts):
        raise ValueError("every subject needs equally many ratings, at least two")
    observed = fmean(sum(n * (n - 1) for n in count.values()) / (raters * (raters - 1)) for count in counts)
    overall = sum(counts, Counter())
    return _beyond_chance(observed, sum((n / overall.total()) ** 2 for n in overall.values()))


def _beyond_chance(observed: float, chance: float) -> float | None:
    return None if isclose(chance, 1) else (observed - chance) / (1 - chance)
