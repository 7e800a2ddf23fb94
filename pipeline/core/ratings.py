"""Ratings of candidates: the values of every field, and the checks across fields that hold for people and models.

The fields and the logic are those of the thesis (appendix 9.8). Values of older ratings are read as today's.
Reads and writes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from pipeline.core.record import Record, Versioned
from pipeline.core.wcag import Principle, criterion

#: characters of a problem statement, and of a note
STATEMENT, NOTE = 900, 800

ReviewStatus = Literal["super", "accepted", "needs-work", "reworked", "rejected"]
Difficulty = Literal["easy", "medium", "difficult", "no-clue"]
Category = Literal["bug-fix", "new-feature", "feature-optimization"]
TestQuality = Literal["Good Tests", "Is Explicit", "Not UNIT", "Bad Test", "Missing Tests"]
Condition = Literal["S1", "S2", "S3", "S4", "S5", "S6", "S7", "S8"]

STATUSES: tuple[ReviewStatus, ...] = get_args(ReviewStatus)
#: statuses of candidates that are good enough to be built
BUILT: frozenset[str] = frozenset({"super", "reworked"})
#: values of older ratings -> today's
OLDER = {"ok": "accepted", "bad": "rejected", "hard": "difficult"}

#: what must hold for `super`
CONDITIONS: dict[Condition, str] = {
    "S1": "The accessibility problem is clear",
    "S2": "The source changes are about accessibility",
    "S3": "The solution addresses the issue",
    "S4": "There is at least one unit test",
    "S5": "A unit test directly validates the changed code and its accessibility",
    "S6": "It can be solved from the issue and the repository alone",
    "S7": "Tests use generic selectors, or selectors that the issue names or implies",
    "S8": "It is self-contained: no external set-up and no external dependencies",
}
#: the six booleans
FLAGS: dict[str, str] = {
    "is_accessibility_related": "It is about accessibility",
    "insufficient_evidence": "There is not enough evidence to decide",
    "requires_external_setup": "It needs an external set-up",
    "solvable_from_issue_and_repo": "It can be solved from the issue and the repository",
    "has_unit_test": "It has a unit test",
    "unit_test_validates_change": "A unit test validates the change",
}
#: labels that the logic knows -> their hover text
LABELS = {
    "Missing a11y": "Not about accessibility; excluded from the benchmark",
    "MTC": "The test or code patch is missing, or the tests do not validate the change",
    "Is Explicit": "The tests use identifiers that the issue does not disclose",
}


class Label(Record):
    """A short mark with a longer text behind it."""

    name: str = Field(min_length=1, max_length=60)
    hover_text: str = Field(default="", max_length=300)


def _today(word: Any) -> Any:
    return OLDER.get(word, word) if isinstance(word, str) else word


def _once(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values without repetitions: each counts once, and raters who repeat one do not disagree."""
    return tuple(dict.fromkeys(values))


class Review(Versioned):
    """One rating of one candidate, by a person or a model (stage 00). Fields that were not rated are None or empty."""

    instance_id: str
    rater: str = Field(min_length=1, max_length=120)
    by: Literal["person", "model"] = "person"
    status: Annotated[ReviewStatus, BeforeValidator(_today)]
    conditions: dict[Condition, bool] = Field(default={}, description="S1 to S8: what must hold for `super`")
    is_accessibility_related: bool | None = None
    insufficient_evidence: bool | None = None
    requires_external_setup: bool | None = None
    solvable_from_issue_and_repo: bool | None = None
    has_unit_test: bool | None = None
    unit_test_validates_change: bool | None = None
    success_criteria: Annotated[tuple[Annotated[str, AfterValidator(criterion)], ...], AfterValidator(_once)] = Field(
        default=(), description="of WCAG 2.2, as 4.1.2"
    )
    principles: Annotated[tuple[Principle, ...], AfterValidator(_once)] = ()
    difficulty: Annotated[Difficulty | None, BeforeValidator(_today)] = Field(
        default=None, description="easy: 15 minutes at most; medium: an hour at most; difficult: more; no-clue: unclear"
    )
    issue_category: Category | None = None
    test_quality: TestQuality | None = None
    labels: tuple[Label, ...] = ()
    statement: str = Field(default="", max_length=STATEMENT, description="the problem, without its solution")
    note: str = Field(default="", max_length=NOTE)
    evaluation_note: str = Field(default="", max_length=NOTE)
    confidence: float | None = Field(default=None, ge=0, le=1)
    build_error: bool = Field(default=False, description="it cannot be built, a person says")
    withdrawn: bool = Field(default=False, description="the rater takes all of it back: it does not count")
    undo: bool = Field(default=False, description="it takes the last change back, and says again what stood before")
    time: str = Field(default="", description="when it was given, UTC; the newest of a rater counts")

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if found := contradictions(self):
            raise ValueError("; ".join(found))
        return self

    @property
    def label_names(self) -> frozenset[str]:
        return frozenset(label.name for label in self.labels)

    @property
    def is_explicit(self) -> bool:
        """Whether its tests use identifiers that nothing discloses."""
        names = {*self.label_names, self.test_quality}
        return "Is Explicit" in names or self.conditions.get("S7") is False


#: (message, condition): the thesis's decision logic. A field that was not rated contradicts nothing
_RULES: tuple[tuple[str, Callable[[Review], bool]], ...] = (
    (
        "a candidate that is not about accessibility must be rejected",
        lambda review: (
            (review.is_accessibility_related is False or "Missing a11y" in review.label_names)
            and review.status != "rejected"
        ),
    ),
    (
        "a candidate without a test patch or a code patch must be rejected",
        lambda review: (
            ("MTC" in review.label_names or review.test_quality == "Missing Tests") and review.status != "rejected"
        ),
    ),
    (
        "a candidate that needs an external set-up must be rejected",
        lambda review: review.requires_external_setup is True and review.status != "rejected",
    ),
    ("super needs a unit test", lambda review: review.has_unit_test is False and review.status == "super"),
    (
        "undisclosed test identifiers are never super",
        lambda review: review.is_explicit and review.status == "super",
    ),
    (
        "super needs a unit test that validates the change",
        lambda review: review.unit_test_validates_change is False and review.status == "super",
    ),
    (
        "super must be solvable from the issue and the repository",
        lambda review: review.solvable_from_issue_and_repo is False and review.status == "super",
    ),
    (
        "super needs sufficient evidence",
        lambda review: review.insufficient_evidence is True and review.status == "super",
    ),
    (
        "super needs all of S1 to S8",
        lambda review: review.status == "super" and not all(review.conditions.values()),
    ),
    ("reworked needs a problem statement", lambda review: review.status == "reworked" and not review.statement.strip()),
    (
        "without a unit test, none can validate the change",
        lambda review: review.has_unit_test is False and review.unit_test_validates_change is True,
    ),
    (
        "missing tests and a unit test exclude each other",
        lambda review: review.test_quality == "Missing Tests" and review.has_unit_test is True,
    ),
)


def contradictions(review: Review) -> list[str]:
    """The contradictions in a rating; empty if it is consistent or withdrawn."""
    return [] if review.withdrawn else [message for message, is_wrong in _RULES if is_wrong(review)]


def lacking(review: Review) -> list[str]:
    """The fields that a complete rating needs and this one lacks: all six booleans, S1 to S8 for `super`, and what the
    thesis's viewer requires of every rating."""
    fields = [*FLAGS, "difficulty", "issue_category", "test_quality", "confidence"]
    missing = [name for name in fields if getattr(review, name) is None]
    if review.status != "rejected":
        missing += [name for name in ("success_criteria", "statement") if not getattr(review, name)]
    if review.status == "super":
        missing += [name for name in CONDITIONS if name not in review.conditions]
    return missing
