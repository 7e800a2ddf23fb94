"""The text of an answer, and how it is compared with the expected one."""

from __future__ import annotations

import time
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.pages.hybrid.expected import LONGEST, compare, text_of

PAGE = "<!DOCTYPE html><html><head><title>T</title></head><body>{}</body></html>"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("345", "345"),
        ("a < b and b > c", "a < b and b > c"),
        ("<p>Hello</p>", "<p>Hello</p>"),
        (PAGE.format("<p>Hello</p>"), "Hello"),
        (PAGE.format("<p>Hello <b>you</b></p>"), "Hello  you"),
        (PAGE.format("<script>let a = 1</script>x<style>b{}</style>"), "x"),
        (PAGE.format("<template><p>no</p></template>yes"), "yes"),
        (PAGE.format("<noscript>no</noscript>yes"), "yes"),
        (PAGE.format("a &amp; b"), "a & b"),
        ("<HTML><BODY>x", "x"),
        (PAGE.format("<script>never closed"), ""),
    ],
)
def test_only_visible_text_of_a_page_counts(answer: str, text: str) -> None:
    assert text_of(answer).strip() == text


@pytest.mark.parametrize(
    ("answer", "expected", "same", "keywords"),
    [
        ("Paris", "paris", True, 1.0),
        ("  Paris \n", "Paris", True, 1.0),
        ("It is Paris", "Paris", False, 1.0),
        ("Rome", "Paris", False, 0.0),
        ("Paris", "Paris France", False, 0.5),
        ("STRASSE", "straße", True, 1.0),
        ("!", "?", False, 0.0),
        ("!", "!", True, 0.0),
    ],
)
def test_texts_are_compared_without_case_and_white_space(
    answer: str, expected: str, same: bool, keywords: float
) -> None:
    """Letter case and white space are ignored; a word counts once, wherever it is."""
    detail = compare(answer, expected).detail
    assert (detail["exact_match"], detail["keywords"]) == (same, keywords)


@pytest.mark.parametrize(
    ("answer", "level", "words"),
    [
        ("Paris France", "success", "exactly the expected one"),
        ("It is Paris in France", "info", "2 of the 2 expected words"),
        ("It is Paris", "warning", "1 of the 2 expected words"),
        ("", "warning", "0 of the 2 expected words"),
    ],
)
def test_feedback_names_what_is_missing(answer: str, level: str, words: str) -> None:
    (feedback,) = compare(answer, "Paris France").feedback
    assert feedback.level == level and words in feedback.message


@pytest.mark.parametrize("expected", ["", "  ", "\n"])
def test_an_empty_expectation_gives_no_score(expected: str) -> None:
    part = compare("anything", expected)
    assert part.score is None and part.feedback == ()


#: takes minutes: each of many matches is one character long
ALTERNATING = "xy" * (LONGEST // 2), "".join(f"x{character}" for character in "abcdefghijklmnopqrstuvwz" * 4)


@pytest.mark.long
def test_a_comparison_ends_in_time() -> None:
    since = time.process_time()
    part = compare(*ALTERNATING)
    assert time.process_time() - since < 30
    assert part.score == 0 and 0 < (part.detail["similarity"] or 0) < 0.004
    assert compare(*ALTERNATING) == part


@given(st.text("ab c", max_size=80), st.text("ab c", min_size=1, max_size=300))
def test_the_ratio_is_that_of_the_formula(answer: str, expected: str) -> None:
    part = compare(answer, expected)
    one, other = (" ".join(text.split()) for text in (answer, expected))
    assert part.detail.get("similarity") == (round(SequenceMatcher(None, one, other).ratio(), 4) if other else None)


def test_only_the_beginning_of_a_long_text_is_compared() -> None:
    """The comparison takes quadratic time for texts that share little."""
    text = "x " * LONGEST
    assert compare(text + "end", text + "other end").detail["exact_match"]


@given(st.text(max_size=200), st.text(min_size=1, max_size=50))
def test_any_answer_has_a_score(answer: str, expected: str) -> None:
    score = compare(answer, expected).score
    assert score is None if not expected.strip() else score is not None and 0 <= score <= 100


@given(st.text(min_size=1, max_size=50).filter(str.strip))
def test_the_expected_text_itself_has_the_best_score(expected: str) -> None:
    assert compare(expected, expected).detail["exact_match"]
