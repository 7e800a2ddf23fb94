"""Evidence marked in the text where it was found, whatever the text contains."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.records import Evidence
from pipeline.triage.marks import marked


def evidence(text: str, place: int, field: str = "title") -> Evidence:
    return Evidence(field=field, pattern="p", text=text, place=place)


@pytest.mark.parametrize(
    ("pieces", "html"),
    [
        ([], "Add aria-label"),
        ([("aria", 4)], "Add <mark>aria</mark>-label"),
        ([("label", 9), ("Add", 0)], "<mark>Add</mark> aria-<mark>label</mark>"),
        ([("aria", 4), ("aria-label", 4)], "Add <mark>aria-label</mark>"),
        ([("aria-", 4), ("-label", 8)], "Add <mark>aria-label</mark>"),
        ([("aria", 4), ("-", 8)], "Add <mark>aria-</mark>label"),
        ([("aria", 4), ("aria", 4)], "Add <mark>aria</mark>-label"),
        ([("Aria", 4)], "Add aria-label"),
        ([("label", 90)], "Add aria-label"),
    ],
)
def test_matches_are_marked_and_those_that_overlap_share_a_mark(pieces: list[tuple[str, int]], html: str) -> None:
    """A text that was changed since then does not contain the evidence any more."""
    assert marked("Add aria-label", "title", [evidence(*piece) for piece in pieces]) == html


def test_evidence_of_another_field_is_not_marked() -> None:
    assert marked("aria", "title", [evidence("aria", 0, "body")]) == "aria"


def test_foreign_text_is_escaped() -> None:
    text = '<b>aria</b> & "quotes"'
    found = marked(text, "title", [evidence("aria", 3)])
    assert found == "&lt;b&gt;<mark>aria</mark>&lt;/b&gt; &amp; &#34;quotes&#34;"
    assert marked("<script>", "title", [evidence("<script>", 0)]) == "<mark>&lt;script&gt;</mark>"


@given(st.text(alphabet='ab<&>" ', max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)), max_size=6))
def test_marks_change_no_text(text: str, places: list[tuple[int, int]]) -> None:
    pieces = [evidence(text[start : start + size], start) for start, size in places if text[start : start + size]]
    soup = BeautifulSoup(f"<pre>{marked(text, 'title', pieces)}</pre>", "html.parser")  # elsewhere it merges blanks
    assert soup.pre is not None and soup.pre.get_text() == text
    assert all(mark.find("mark") is None for mark in soup.find_all("mark"))
