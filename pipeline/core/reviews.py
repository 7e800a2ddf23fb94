"""Ratings of candidates as all stages read them, and the rule for what they come to.

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
    """What all ratings of a candidate come to. `final` is the value that somebody decided, None for none."""

    reviews: tuple[Review, ...]
    final: Review | None = None

    @property
    def status(self) -> str | None:
        """The final one, else the unanimous one; None where raters are divided."""
        status: str | None = self.value("status")
        return status

    def value(self, field: str) -> Any:
        """A field's final value, else what all who say something of it say; None where they do not agree."""
        if self.final:
            return getattr(self.final, field)
        said = {_plain(getattr(one, field)): getattr(one, field) for one in self.reviews}
        said = {key: value for key, value in said.items() if key not in (None, "", ())}
        return next(iter(said.values())) if len(said) == 1 else None

    @property
    def disagreements(self) -> tuple[str, ...]:
        """The fields on which raters say different things and nobody has decided."""
        if self.final:
            return ()
        said = {name: {_plain(getattr(one, name)) for one in self.reviews} - {None, ()} for name in FIELDS}
        return tuple(name for name, values in said.items() if len(values) > 1)

    @property
    def is_built(self) -> bool:
        """Whether a build of what was reviewed takes it; of what was reworked the statement must be agreed on."""
        return self.status in BUILT and (self.status != "reworked" or bool(self.value("statement")))


def _plain(value: Any) -> Any:
    """A value that equals another one whatever its order is."""
    return tuple(sorted(value)) if isinstance(value, tuple) else value


def all_reviews(store: Store, repo: Repo) -> list[Review]:
    """Every rating that was ever given, the oldest first. Raises UserError with file and line."""
    return journal.read(store.reviews(repo), Review)


def newest_reviews(store: Store, repo: Repo) -> list[Review]:
    """The ratings that count, in the order in which instances were first rated. Raises UserError with file and line."""
    found = journal.newest(store.reviews(repo), Review, ("instance_id", "rater"))
    return [one for one in found if not one.withdrawn]


def finals(store: Store, repo: Repo) -> dict[str, Review]:
    """What was decided, by instance; `rater` is who decided it. Raises UserError with file and line."""
    found = journal.newest(store.finals(repo), Review, ("instance_id",))
    return {one.instance_id: one for one in found if not one.withdrawn}


def decide_finally(store: Store, repo: Repo, decided: Iterable[Review]) -> None:
    """Append final values; one that is withdrawn takes back what was decided before."""
    store.begin()
    journal.append(store.finals(repo), decided)


def standings(store: Store, repo: Repo) -> dict[str, Standing]:
    """Where every candidate stands that was rated, by instance. Raises UserError with file and line."""
    return fold(newest_reviews(store, repo), finals(store, repo))


def fold(reviews: Sequence[Review], decided: Mapping[str, Review]) -> dict[str, Standing]:
    """The same of ratings that are there already."""
    by_instance: dict[str, list[Review]] = defaultdict(list)
    for one in reviews:
        by_instance[one.instance_id].append(one)
    names = dict.fromkeys([*by_instance, *decided])
    return {name: Standing(tuple(by_instance.get(name, ())), decided.get(name)) for name in names}


def restated(candidate: Candidate, standing: Standing | None) -> Candidate:
    """The candidate with the statement that reviewers wrote anew, where they did."""
    if standing is None or standing.status != "reworked" or not (text := standing.value("statement")):
        return candidate
    return candidate.model_copy(update={"statement_source": "review", "statement": text})
