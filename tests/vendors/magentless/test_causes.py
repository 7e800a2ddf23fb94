"""The closed lists."""

from __future__ import annotations

from magentless.causes import CAUSES, Cause, furthest


def test_every_cause_has_one_place_and_one_meaning():
    assert [cause for cause, _ in CAUSES] == list(Cause)


def test_the_cause_of_the_furthest_sample_is_reported():
    assert furthest([Cause.NO_EDITS, Cause.INVALID_PATCH, Cause.SEARCH_MISMATCH]) == Cause.INVALID_PATCH
