"""How far raters agree, and how often a model's ratings are wrong where people checked them. Pure.

Kappa is Cohen's of every pair of raters and Fleiss' of all, per field; a sample of a model's ratings is drawn from a
seed, so that everybody checks the same ones (section 7.2.4 of the thesis).
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
    """Two raters on one field: how many candidates both said something of, the share that is equal, Cohen's kappa."""

    raters: tuple[str, str]
    candidates: int
    equal: float
    kappa: float | None


class Measured(NamedTuple):
    """One field. Fleiss' kappa is over the candidates with the number of ratings that most have: `raters` each."""

    field: str
    pairs: list[Pair]
    fleiss: float | None
    raters: int
    candidates: int


class Check(NamedTuple):
    """A model's sample: the names in it, those checked by people, those whose status is wrong, and the error rate with
    its 95 % interval (shares), None for nothing checked."""

    model: str
    sample: tuple[str, ...]
    checked: tuple[str, ...]
    wrong: tuple[str, ...]
    rate: float | None
    interval: Interval | None

    @property
    def left(self) -> tuple[str, ...]:
        return tuple(name for name in self.sample if name not in self.checked)


def measured(standings: Iterable[Standing]) -> list[Measured]:
    """The agreement on every field of which two raters said something."""
    rated = [one.reviews for one in standings if len(one.reviews) > 1]
    return [made for made in (_measured(field, rated) for field in FIELDS) if made.pairs]


def _measured(field: str, rated: Iterable[tuple[Review, ...]]) -> Measured:
    said = [_said(field, reviews) for reviews in rated]
    together: dict[tuple[str, str], list[tuple[Any, Any]]] = {}
    for values in said:
        for pair in combinations(sorted(values), 2):
            together.setdefault(pair, []).append((values[pair[0]], values[pair[1]]))
    pairs = [_pair(raters, values) for raters, values in sorted(together.items())]
    sizes = Counter(len(values) for values in said if len(values) > 1)
    raters = max(sizes, key=lambda size: (sizes[size], size), default=0)
    subjects = [list(values.values()) for values in said if len(values) == raters] if raters else []
    return Measured(field, pairs, statistics.fleiss(subjects), raters, len(subjects))


def _said(field: str, reviews: Iterable[Review]) -> dict[str, Any]:
    values = {one.rater: getattr(one, field) for one in reviews}
    plain = {name: tuple(sorted(value)) if isinstance(value, tuple) else value for name, value in values.items()}
    return {name: value for name, value in plain.items() if value not in (None, ())}


def _pair(raters: tuple[str, str], values: list[tuple[Any, Any]]) -> Pair:
    first, second = zip(*values, strict=True)
    equal = sum(one == other for one, other in values) / len(values)
    return Pair(raters, len(values), equal, statistics.kappa(first, second))


def checked(standings: Mapping[str, Standing], size: int, seed: int) -> list[Check]:
    """A sample of each model's ratings, and what people said of the candidates in it."""
    by_model: dict[str, dict[str, Review]] = {}
    for name, standing in standings.items():
        for one in standing.reviews:
            if one.by == "model":
                by_model.setdefault(one.rater, {})[name] = one
    return [_check(model, said, standings, size, seed) for model, said in sorted(by_model.items())]


def _check(model: str, said: Mapping[str, Review], standings: Mapping[str, Standing], size: int, seed: int) -> Check:
    sample = tuple(sorted(said, key=lambda name: digest(str(seed), model, name))[:size])
    true = {name: _by_people(standings[name]) for name in sample}
    known = tuple(name for name in sample if true[name])
    wrong = tuple(name for name in known if said[name].status != true[name])
    rate = len(wrong) / len(known) if known else None
    return Check(model, sample, known, wrong, rate, statistics.wilson(len(wrong), len(known)))


def _by_people(standing: Standing) -> str | None:
    """What somebody decided, else what all people say; None where they have not, or are divided."""
    if standing.final:
        return standing.final.status
    said = {one.status for one in standing.reviews if one.by == "person"}
    return next(iter(said)) if len(said) == 1 else None
