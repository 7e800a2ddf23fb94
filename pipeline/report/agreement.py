"""How well raters agree, and how often a model's ratings are wrong according to people who checked them. Pure.

For each field: Cohen's kappa of every pair of raters, and Fleiss' kappa of all. The sample of a model's ratings is
drawn with a seed, so that everybody checks the same ones (section 7.2.4 of the thesis).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from pipeline.core.ratings import Review
from pipeline.core.record import digest
from pipeline.core.reviews import FIELDS, Standing
from pipeline.report import statistics
from pipeline.report.statistics import Interval


class Pair(NamedTuple):
    """Two raters on one field: the number of candidates that both rated, the share of equal values, Cohen's kappa."""

    raters: tuple[str, str]
    candidates: int
    equal: float
    kappa: float | None


class FieldAgreement(NamedTuple):
    """One field. Fleiss' kappa is over the candidates with the most common number of ratings, which is `raters`."""

    field: str
    pairs: list[Pair]
    fleiss: float | None
    raters: int
    candidates: int


class Check(NamedTuple):
    """A model's sample: the names in it, those checked by people, those whose status is wrong, and the error rate with
    its 95% interval (shares), None if nothing is checked."""

    model: str
    sample: tuple[str, ...]
    checked: tuple[str, ...]
    wrong: tuple[str, ...]
    rate: float | None
    interval: Interval | None

    @property
    def unchecked(self) -> tuple[str, ...]:
        return tuple(name for name in self.sample if name not in self.checked)


def agreement_by_field(standings: Iterable[Standing]) -> list[FieldAgreement]:
    """The agreement on every field that two raters filled in."""
    rated = [standing.reviews for standing in standings if len(standing.reviews) > 1]
    return [agreement for agreement in (_agreement(field, rated) for field in FIELDS) if agreement.pairs]


def _agreement(field: str, rated: Iterable[tuple[Review, ...]]) -> FieldAgreement:
    ratings = [_by_rater(field, reviews) for reviews in rated]
    by_pair: dict[tuple[str, str], list[tuple[Any, Any]]] = {}
    for values in ratings:
        for first, second in combinations(sorted(values), 2):
            by_pair.setdefault((first, second), []).append((values[first], values[second]))
    pairs = [_pair(names, values) for names, values in sorted(by_pair.items())]
    sizes = Counter(len(values) for values in ratings if len(values) > 1)
    raters = max(sizes, key=lambda size: (sizes[size], size), default=0)
    subjects = [list(values.values()) for values in ratings if len(values) == raters] if raters else []
    return FieldAgreement(field, pairs, statistics.fleiss(subjects), raters, len(subjects))


def _by_rater(field: str, reviews: Iterable[Review]) -> dict[str, Any]:
    values = {review.rater: getattr(review, field) for review in reviews}
    comparable = {name: tuple(sorted(value)) if isinstance(value, tuple) else value for name, value in values.items()}
    return {name: value for name, value in comparable.items() if value not in (None, ())}


def _pair(raters: tuple[str, str], values: list[tuple[Any, Any]]) -> Pair:
    first, second = zip(*values, strict=True)
    equal = sum(pair[0] == pair[1] for pair in values) / len(values)
    return Pair(raters, len(values), equal, statistics.kappa(first, second))


def model_checks(standings: Mapping[str, Standing], size: int, seed: int) -> list[Check]:
    """A sample of each model's ratings, compared with people's ratings of the same candidates."""
    by_model: dict[str, dict[str, Review]] = {}
    for name, standing in standings.items():
        for review in standing.reviews:
            if review.by == "model":
                by_model.setdefault(review.rater, {})[name] = review
    return [_check(model, ratings, standings, size, seed) for model, ratings in sorted(by_model.items())]


def _check(model: str, ratings: Mapping[str, Review], standings: Mapping[str, Standing], size: int, seed: int) -> Check:
    sample = tuple(sorted(ratings, key=lambda name: digest(str(seed), model, name))[:size])
    decided = {name: _by_people(standings[name]) for name in sample}
    checked = tuple(name for name in sample if decided[name])
    wrong = tuple(name for name in checked if ratings[name].status != decided[name])
    rate = len(wrong) / len(checked) if checked else None
    return Check(model, sample, checked, wrong, rate, statistics.wilson(len(wrong), len(checked)))


def _by_people(standing: Standing) -> str | None:
    """The decided status, otherwise the one that all people gave; None without ratings, or if they differ."""
    if standing.final:
        return standing.final.status
    statuses = {review.status for review in standing.reviews if review.by == "person"}
    return next(iter(statuses)) if len(statuses) == 1 else None
