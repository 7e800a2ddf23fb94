"""Samples: each kept once under its inputs, combined into one rating, with their agreement."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.llm.asking import Answer
from pipeline.llm.samples import Samples, agreement, combined


def test_samples_are_kept_by_their_inputs_and_only_missing_ones_are_asked(tmp_path):
    three, other = Samples(tmp_path, {"patch": "a"}, 3), Samples(tmp_path, {"patch": "b"}, 3)
    for number, answer in zip(three.missing(), (Answer({"score": 1}), Answer(missing="why")), strict=False):
        three.keep(number, answer)
    assert (three.ratings(), three.causes(), len(three.missing())) == ([{"score": 1}], ("why",), 1)
    assert three.silence() == "why (1 of 3 samples)"
    assert len(replace(three, count=5).missing()) == 3
    assert len(other.missing()) == 3


@pytest.mark.parametrize(
    ("scores", "one"),
    [
        ([3], 3),
        ([3, 3, 1], 3),
        ([3, 2, 1], 2),
        ([3, 2], 2),
        ([3, 2, -1], 2),
        ([3, -1], -1),
        ([3, -1, -1], -1),
        ([-1], -1),
    ],
)
def test_several_ratings_are_combined_by_the_median(scores, one):
    """The median of those that gave a rating; none if at least half did not."""
    assert combined(scores, -1) == one


def test_agreement_is_the_share_of_equal_pairs():
    assert agreement([3]) is None
    assert agreement([3, 3, 3]) == 1
    assert agreement([3, 3, 1]) == pytest.approx(1 / 3)
    assert agreement([3, 2, -1]) == 0
