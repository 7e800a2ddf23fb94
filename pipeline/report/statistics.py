"""The statistics that tables use. Pure functions over numbers; scipy does what it has.

Intervals are 95 %. Not covered: anything that takes instances of one repository for independent is as good as that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import comb, isclose
from statistics import fmean
from typing import NamedTuple

import numpy as np

from pipeline.core.errors import UserError

#: resamples of the bootstrap, from one seed: the same data give the same interval
RESAMPLES, SEED = 2000, 20251203


class Interval(NamedTuple):
    """Shares between 0 and 1."""

    low: float
    high: float


def wilson(hits: int, of: int) -> Interval | None:
    """Wilson's score interval of a share (Wilson 1927); None where there is nothing to count."""
    from scipy.stats import binomtest

    return Interval(*binomtest(hits, of).proportion_ci(method="wilson")) if of else None


def macro_bootstrap(groups: Sequence[Sequence[float]]) -> Interval | None:
    """Percentile interval of the mean of the groups' means, resampled within each group (Efron 1979).

    Own code, since `scipy.stats.bootstrap` refuses a group of one. Groups of equal values give an interval of no width:
    a resample cannot show what the sample lacks.
    """
    samples = [np.asarray(group, dtype=float) for group in groups if len(group)]
    if not samples:
        return None
    random = np.random.default_rng(SEED)
    means = [group[random.integers(len(group), size=(RESAMPLES, len(group)))].mean(axis=1) for group in samples]
    return Interval(*map(float, np.quantile(np.mean(means, axis=0), (0.025, 0.975))))


def mcnemar(only_first: int, only_second: int) -> float:
    """McNemar's exact test (1947): how likely so uneven a split of what only one of two solved is by chance."""
    from scipy.stats import binomtest

    both = only_first + only_second
    return float(binomtest(only_first, both).pvalue) if both else 1.0


def adjusted(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for their number, whatever their dependence (Benjamini and Yekutieli 2001)."""
    from scipy.stats import false_discovery_control

    return [float(p) for p in false_discovery_control(list(p_values), method="by")] if len(p_values) else []


def pass_at_k(samples: int, resolved: int, k: int) -> float:
    """The unbiased estimate that one of k attempts resolves an instance (Chen et al. 2021, arXiv 2107.03374).

    Raises UserError for a k that is larger than the number of attempts: nothing can be said of it.
    """
    if not 1 <= k <= samples:
        hint = f"there are {samples} attempts at some instance; give more with --samples"
        raise UserError(f"pass@{k} needs at least {k} attempts", field="k", hint=hint)
    return 1 - comb(samples - resolved, k) / comb(samples, k)


def mean_pass_at_k(counts: Sequence[tuple[int, int]], k: int) -> tuple[float, Interval]:
    """The mean of pass@k over subjects, given as samples and passed, with the percentile interval of subjects that are
    resampled (Efron 1979): what varies within a subject is in how its estimate varies. One subject alone gives an
    interval of no width. Raises UserError as `pass_at_k` does, and for no subject at all."""
    if not counts:
        raise UserError(f"pass@{k} needs samples", field="k")
    each = np.array([pass_at_k(samples, passed, k) for samples, passed in counts])
    drawn = np.random.default_rng(SEED).integers(len(each), size=(RESAMPLES, len(each)))
    low, high = np.quantile(each[drawn].mean(axis=1), (0.025, 0.975))
    return float(each.mean()), Interval(float(low), float(high))


def kappa(first: Sequence[Hashable], second: Sequence[Hashable]) -> float | None:
    """Cohen's kappa (1960) of two raters: agreement beyond chance; None where chance alone would agree on everything.

    Equal places are the same subject; a rating may be of any category.
    """
    if not len(first):
        return None
    shares = ({one: count / len(ratings) for one, count in Counter(ratings).items()} for ratings in (first, second))
    one, other = shares
    observed = fmean(a == b for a, b in zip(first, second, strict=True))
    return _beyond(observed, sum(share * other.get(category, 0) for category, share in one.items()))


def fleiss(subjects: Sequence[Sequence[Hashable]]) -> float | None:
    """Fleiss' kappa (1971) of several raters, not the same for each subject: agreement beyond chance.

    `subjects` are the ratings of each, equally many and two at least (else ValueError). None where chance alone would
    agree on everything.
    """
    if not subjects:
        return None
    counts = [Counter(ratings) for ratings in subjects]
    raters = len(subjects[0])
    if raters < 2 or any(count.total() != raters for count in counts):
        raise ValueError("every subject needs equally many ratings, two at least")
    observed = fmean(sum(n * (n - 1) for n in count.values()) / (raters * (raters - 1)) for count in counts)
    overall = sum(counts, Counter())
    return _beyond(observed, sum((n / overall.total()) ** 2 for n in overall.values()))


def _beyond(observed: float, chance: float) -> float | None:
    return None if isclose(chance, 1) else (observed - chance) / (1 - chance)
