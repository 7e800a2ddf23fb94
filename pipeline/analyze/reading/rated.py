"""Stage 00: ratings, and the WCAG criteria that raters assigned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pipeline.analyze.reading.rows import Rows
from pipeline.core.names import Repo
from pipeline.core.ratings import Review
from pipeline.core.reviews import Standing, standings
from pipeline.core.store import Store
from pipeline.core.wcag import PRINCIPLES
from pipeline.report.agreement import agreement_by_field

#: the combined ratings by instance, as parts of its row
Ratings = dict[str, dict[str, Any]]


def read(rows: Rows, store: Store, repo: Repo) -> Ratings:
    """Add `reviews`, `criteria` and `agreement` of a repository; returns the combined ratings of each instance."""
    ratings = {}
    by_instance = standings(store, repo)
    for name, standing in sorted(by_instance.items()):
        for review in standing.reviews:
            rows.add("reviews", Review=review, Context={"repo": repo, "resolved": standing.status})
        assigned = list(assignments([standing.final] if standing.final else standing.reviews))
        rows.extend("criteria", ((name, str(repo), *pair) for pair in assigned))
        ratings[name] = _combined(standing) | _listed(assigned)
    rows.extend("agreement", _agreement(repo, by_instance.values()))
    return ratings


def _agreement(repo: Repo, all_standings: Iterable[Standing]) -> Iterator[tuple[Any, ...]]:
    """Cohen's kappa of every pair of raters by field, and Fleiss' kappa of all if there are more than two."""
    for field in agreement_by_field(all_standings):
        for pair in field.pairs:
            yield str(repo), field.field, " and ".join(pair.raters), pair.candidates, 100 * pair.equal, pair.kappa
        if field.raters > 2:
            yield str(repo), field.field, f"all, {field.raters} each", field.candidates, None, field.fleiss


def assignments(reviews: Iterable[Review]) -> Iterator[tuple[str, str]]:
    """The principles and criteria of one instance, each criterion once, even if several raters named it.

    A principle has a row of its own if none of its criteria is named.
    """
    criteria = sorted({criterion for review in reviews for criterion in review.success_criteria}, key=_number)
    yield from ((PRINCIPLES[int(criterion[0]) - 1], criterion) for criterion in criteria)
    covered = {PRINCIPLES[int(criterion[0]) - 1] for criterion in criteria}
    unspecified = {principle for review in reviews for principle in review.principles} - covered
    yield from ((principle, "") for principle in PRINCIPLES if principle in unspecified)


def _number(criterion: str) -> tuple[int, ...]:
    return tuple(map(int, criterion.split(".")))


def _combined(standing: Standing) -> dict[str, str | None]:
    """The final value if there is one, else the value that all raters agree on; None if they disagree."""
    return {"rating": standing.status, "difficulty": standing.value("difficulty")}


def _listed(assigned: list[tuple[str, str]]) -> dict[str, str | None]:
    principles = [name for name in PRINCIPLES if name in {principle for principle, _ in assigned}]
    criteria = [criterion for _, criterion in assigned if criterion]
    return {"principles": " ".join(principles) or None, "criteria": " ".join(criteria) or None}
