"""The rating form: it shows a rating unchanged, and what is submitted is stored or reported as wrong."""

from __future__ import annotations

from typing import Any, get_args

import factories
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core import ratings
from pipeline.core.ratings import CONDITIONS, FLAGS, STATUSES, Label, Review, contradictions
from pipeline.core.wcag import CRITERIA, PRINCIPLES
from pipeline.triage import form

FAST = settings(max_examples=150, deadline=None, derandomize=True, database=None)
ABOUT = {"instance_id": "acme__ui-1", "rater": "ann"}
#: what a browser sends for a text area: no halves of characters, and its own line endings
TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=20).map(str.strip)
NAMES = ("difficulty", "issue_category", "test_quality")
VALUES = {name: st.none() | st.sampled_from(form.CHOICES[name][1]) for name in NAMES}
RATINGS = st.fixed_dictionaries(
    {
        "status": st.sampled_from(STATUSES),
        "conditions": st.dictionaries(st.sampled_from(list(CONDITIONS)), st.booleans()),
        "success_criteria": st.lists(st.sampled_from(list(CRITERIA)), unique=True, max_size=3),
        "principles": st.lists(st.sampled_from(PRINCIPLES), unique=True),
        "labels": st.lists(
            st.builds(Label, name=TEXT.filter(lambda text: text and '"' not in text), hover_text=TEXT), max_size=3
        ),
        "confidence": st.none() | st.floats(0, 1),
        "build_error": st.booleans(),
        **dict.fromkeys(FLAGS, st.none() | st.booleans()),
        **dict.fromkeys(form.TEXTS, TEXT),
        **VALUES,
    }
)


def again(review: Review) -> Review | list[str]:
    """The rating that is saved if a reviewer opens the form and changes nothing."""
    shown = form.values(review)
    lists = {name: shown.pop(name) for name in ("success_criteria", "principles")}
    sent = {name: value.replace("\n", "\r\n") for name, value in shown.items() if isinstance(value, str)}
    if shown["build_error"]:
        sent["build_error"] = "on"
    return form.review(form.submitted(sent, lists), **ABOUT)


@FAST
@given(RATINGS)
def test_an_unchanged_rating_is_saved_identically(fields: dict[str, Any]) -> None:
    """A label `WCAG 2.1: AA` lost its end, and a model's confidence its digits."""
    review = Review.model_construct(**{**ABOUT, **fields})
    if contradictions(review):
        return
    review = Review.model_validate({**ABOUT, **fields})
    found = again(review)
    assert isinstance(found, Review), found
    known = {label.name: ratings.LABELS.get(label.name, "") for label in review.labels}
    labels = tuple(Label(name=one.name, hover_text=one.hover_text or known[one.name]) for one in review.labels)
    assert found == review.model_copy(update={"labels": labels})


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("MTC", [("MTC", ratings.LABELS["MTC"])]),
        ("MTC: ours", [("MTC", "ours")]),
        ("one\r\n\r\n two : more: of it ", [("one", ""), ("two", "more: of it")]),
        ('"WCAG 2.1: AA": the level', [("WCAG 2.1: AA", "the level")]),
        ('"WCAG 2.1: AA"', [("WCAG 2.1: AA", "")]),
        ('"quoted"', [('"quoted"', "")]),
        ("", []),
    ],
)
def test_labels_are_lines(text: str, labels: list[tuple[str, str]]) -> None:
    found = form.review(form.submitted({"status": "rejected", "labels": text}, {}), **ABOUT)
    assert isinstance(found, Review)
    assert [(label.name, label.hover_text) for label in found.labels] == labels


@pytest.mark.rule("bad-input")
@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"status": ""}, "Status: choose one"),
        ({"status": "good"}, "Status: Input should be"),
        ({"difficulty": "hardest"}, "Difficulty: "),
        ({"confidence": "85"}, "Confidence: Input should be less than or equal to 1"),
        ({"confidence": "nan"}, "Confidence: "),
        ({"confidence": "sure"}, "Confidence: "),
        ({"note": "x" * 801}, "Note: String should have at most 800 characters"),
        ({"labels": ": no name"}, "Labels: String should have at least 1 character"),
        ({"labels": "x" * 61}, "Labels: String should have at most 60 characters"),
        ({"status": "reworked"}, "reworked needs a problem statement"),
        ({"status": "accepted", "is_accessibility_related": "no"}, "a candidate that is not about accessibility"),
    ],
)
def test_mistakes_are_reported_by_field(fields: dict[str, str], words: str) -> None:
    found = form.review(form.submitted({"status": "accepted", **fields}, {}), **ABOUT)
    assert isinstance(found, list) and any(words in fault for fault in found), found


@FAST
@given(
    st.dictionaries(
        st.sampled_from(["status", *FLAGS, *CONDITIONS, *form.CHOICES, *form.TEXTS, "labels", "confidence", "more"]),
        st.sampled_from([*STATUSES, "yes", "no", "", "0.5", "1e400", "easy", *get_args(ratings.TestQuality)])
        | st.text(max_size=5),
    ),
    st.lists(st.sampled_from([*CRITERIA, "4.1.1", "", "x"]), max_size=3),
)
def test_whatever_is_submitted_is_a_rating_or_faults(fields: dict[str, str], criteria: list[str]) -> None:
    found = form.review(form.submitted(fields, {"success_criteria": criteria}), **ABOUT)
    assert isinstance(found, Review) or (found and all(isinstance(fault, str) and fault for fault in found))


def test_a_form_without_a_rating_is_empty() -> None:
    assert form.values(None) == {}
    assert form.values(factories.make_review(1, confidence=1))["confidence"] == "1"
