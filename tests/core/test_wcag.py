"""The table of success criteria has as many as WCAG 2.2, for each level and version."""

from __future__ import annotations

from collections import Counter

import pytest

from pipeline.core.wcag import CRITERIA, PRINCIPLES, criterion


def test_the_table_is_wcag_2_2() -> None:
    """The Recommendation's counts: 60 from 2.0 (without 4.1.1, which was removed), 17 new in 2.1 and 9 new in 2.2."""
    assert len(CRITERIA) == 86
    assert Counter(one.since for one in CRITERIA.values()) == {"2.0": 60, "2.1": 17, "2.2": 9}
    assert Counter(one.level for one in CRITERIA.values()) == {"A": 31, "AA": 24, "AAA": 31}
    assert [one.principle for one in CRITERIA.values()] == [PRINCIPLES[int(name[0]) - 1] for name in CRITERIA]
    assert len({one.guideline for one in CRITERIA.values()}) == 13


def test_criteria_are_sorted_by_number() -> None:
    assert list(CRITERIA) == sorted(CRITERIA, key=lambda name: [int(part) for part in name.split(".")])


@pytest.mark.parametrize("number", ["1.9.99", "4.1.1", "4.1", "contrast", ""])
def test_an_unknown_criterion_is_refused(number: str) -> None:
    with pytest.raises(ValueError, match="not a success criterion of WCAG 2.2"):
        criterion(number)
    assert criterion("2.5.8") == "2.5.8"
