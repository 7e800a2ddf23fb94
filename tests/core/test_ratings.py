"""Ratings: every value of the thesis's scheme, its rules across fields, and older names."""

from __future__ import annotations

import pytest
from factories import make_review
from pydantic import ValidationError

from pipeline.core.ratings import CONDITIONS, FLAGS, Label, Review, lacking

GOOD = {name: name not in ("insufficient_evidence", "requires_external_setup") for name in FLAGS}
WHOLE = GOOD | {
    "conditions": dict.fromkeys(CONDITIONS, True),
    "difficulty": "medium",
    "issue_category": "bug-fix",
    "test_quality": "Good Tests",
    "statement": "The menu has no name. Screen readers say 'navigation' only.",
    "confidence": 0.9,
}


@pytest.mark.parametrize(
    ("field", "values"),
    [
        ("status", ["super", "accepted", "needs-work", "rejected"]),
        ("difficulty", ["easy", "medium", "difficult", "no-clue"]),
        ("issue_category", ["bug-fix", "new-feature", "feature-optimization"]),
        ("test_quality", ["Good Tests", "Not UNIT", "Bad Test"]),
    ],
)
def test_every_value_of_the_thesis_is_accepted(field: str, values: list[str]) -> None:
    assert [getattr(make_review(**{field: value}), field) for value in values] == values


@pytest.mark.parametrize(
    ("old", "new"),
    [({"status": "ok"}, "accepted"), ({"status": "bad"}, "rejected"), ({"difficulty": "hard"}, "difficult")],
)
def test_values_of_older_ratings_are_translated(old: dict[str, str], new: str) -> None:
    (field,) = old
    assert getattr(make_review(**old), field) == new


@pytest.mark.rule("bad-input")
def test_a_criterion_that_is_not_in_wcag_is_refused() -> None:
    with pytest.raises(ValidationError, match=r"1\.9\.99 is not a success criterion"):
        make_review(success_criteria=("1.9.99",))


WRONG = [
    ({"is_accessibility_related": False}, "not about accessibility must be rejected"),
    ({"status": "accepted", "labels": (Label(name="MTC"),)}, "without a test patch or a code patch"),
    ({"status": "accepted", "requires_external_setup": True}, "external set-up must be rejected"),
    ({"has_unit_test": False}, "super needs a unit test"),
    ({"labels": (Label(name="Is Explicit"),)}, "undisclosed test identifiers are never super"),
    ({"test_quality": "Is Explicit"}, "undisclosed test identifiers are never super"),
    ({"conditions": {"S7": False}}, "undisclosed test identifiers are never super"),
    ({"conditions": {"S1": False}}, "all of S1 to S8"),
    ({"unit_test_validates_change": False}, "validates the change"),
    ({"solvable_from_issue_and_repo": False}, "solvable"),
    ({"insufficient_evidence": True}, "sufficient evidence"),
    ({"status": "reworked"}, "needs a problem statement"),
    ({"status": "accepted", "has_unit_test": False, "unit_test_validates_change": True}, "none can validate"),
    ({"status": "rejected", "has_unit_test": True, "test_quality": "Missing Tests"}, "exclude each other"),
    ({"statement": "x" * 901}, "at most 900"),
    ({"note": "x" * 801}, "at most 800"),
    ({"confidence": 1.1}, "less than or equal to 1"),
]


@pytest.mark.rule("ratings-agree-with-themselves")
@pytest.mark.parametrize(("fields", "words"), WRONG, ids=[words for _, words in WRONG])
def test_a_contradictory_rating_is_refused(fields: dict[str, object], words: str) -> None:
    """Both people's and models' ratings; the same rating without the contradiction is accepted."""
    with pytest.raises(ValidationError, match=words):
        make_review(**fields)


def test_missing_fields_of_a_rating_are_listed() -> None:
    assert lacking(make_review(**WHOLE)) == []
    missing = lacking(make_review())
    assert {*FLAGS, *CONDITIONS, "difficulty", "statement"} <= set(missing)
    rejected = make_review(status="rejected", success_criteria=(), **{**WHOLE, "statement": "", "conditions": {}})
    assert lacking(rejected) == []


def test_a_withdrawn_rating_contradicts_nothing() -> None:
    assert Review(instance_id="acme__ui-1", rater="ann", status="reworked", withdrawn=True).withdrawn
