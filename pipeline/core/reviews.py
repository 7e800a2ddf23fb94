"""Ratings of candidates as all stages read them, and the rule that combines them.

Append-only: the newest rating of each rater of an instance counts, unless it was withdrawn. Reads and appends to
`00_viewer/<repo>.jsonl`, and to `00_viewer/final/<repo>.jsonl` for final values.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pipeline.core import journal
from pipeline.core.names import Repo
from pipeline.core.ratings import BUILT, Review
from pipeline.core.records import Candidate
from pipeline.core.store import Store

#: the fields of a rating on which raters can agree
FIELDS = (
    "status",
    "is_accessibility_related",
    "insufficient_evidence",
    "requires_external_setup",
    "solvable_from_issue_and_repo",
    "has_unit_test",
    "unit_test_validates_change",
    "success_criteria",
    "difficulty",
    "issue_category",
    "test_quality",
)


class Standing(NamedTuple):
    """The combined result of all ratings of a candidate. `final` is the final value if somebody has decided."""

    reviews: tuple[Review, ...]
    final: Review | None = None

    @property
    def status(self) -> str | None:
        """The final status, else the unanimous one; None if raters disagree."""
        status: str | None = self.value("status")
        return status

    def value(self, field: str) -> Any:
        """A field's final value, else the value on which all who rated it agree; None if they disagree."""
        if self.final:
            return getattr(self.final, field)
        values = {_plain(getattr(review, field)): getattr(review, field) for review in self.reviews}
        values = {key: value for key, value in values.items() if key not in (None, "", ())}
        return next(iter(values.values())) if len(values) == 1 else None

    @property
    def disagreements(self) -> tuple[str, ...]:
        """The fields on which raters disagree and nobody has decided."""
        if self.final:
            return ()
        by_field = {name: {_plain(getattr(review, name)) for review in self.reviews} - {None, ()} for name in FIELDS}
        return tuple(name for name, values in by_field.items() if len(values) > 1)

    @property
    def is_built(self) -> bool:
        """Whether a build of reviewed candidates includes it. If reworked, raters must agree on the statement."""
        return self.status in BUILT and (self.status != "reworked" or bool(self.value("statement")))


def _plain(value: Any) -> Any:
    """A value in a form that compares equal regardless of order."""
    return tuple(sorted(value, key=str)) if isinstance(value, tuple) else value


def all_reviews(store: Store, repo: Repo) -> list[Review]:
    """Every rating that was ever given, the oldest first. Raises UserError with file and line."""
    return journal.read(store.reviews(repo), Review)


def newest_reviews(store: Store, repo: Repo) -> list[Review]:
    """The ratings that count, in the order in which instances were first rated. Raises UserError with file and line."""
    found = journal.newest(store.reviews(repo), Review, ("instance_id", "rater"))
    return [review for review in found if not review.withdrawn]


def finals(store: Store, repo: Repo) -> dict[str, Review]:
    """The final values, by instance; `rater` is who decided. Raises UserError with file and line."""
    found = journal.newest(store.finals(repo), Review, ("instance_id",))
    return {review.instance_id: review for review in found if not review.withdrawn}


def decide_finally(store: Store, repo: Repo, decided: Iterable[Review]) -> None:
    """Append final values; a withdrawn one cancels the earlier decision."""
    store.begin()
    journal.append(store.finals(repo), decided)


def standings(store: Store, repo: Repo) -> dict[str, Standing]:
    """The standing of every rated candidate, by instance. Raises UserError with file and line."""
    return fold(newest_reviews(store, repo), finals(store, repo))


def fold(reviews: Sequence[Review], decided: Mapping[str, Review]) -> dict[str, Standing]:
    """The same from ratings that are already read."""
    by_instance: dict[str, list[Review]] = defaultdict(list)
    for review in reviews:
        by_instance[review.instance_id].append(review)
    names = dict.fromkeys([*by_instance, *decided])
    return {name: Standing(tuple(by_instance.get(name, ())), decided.get(name)) for name in names}


def restated(candidate: Candidate, standing: Standing | None) -> Candidate:
    """The candidate, with the statement that reviewers rewrote if there is one."""
    if standing is None or standing.status != "reworked" or not (text := standing.value("statement")):
        return candidate
    return candidate.model_copy(update={"statement_source": "review", "statement": text})
