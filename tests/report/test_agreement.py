"""Agreement of raters, and of models with people who check them."""

from __future__ import annotations

import pytest
from factories import make_review

from pipeline.core.reviews import Standing
from pipeline.report.agreement import agreement_by_field, model_checks


def standing(number: int, **statuses: str) -> Standing:
    return Standing(tuple(make_review(number, rater=rater, status=status) for rater, status in statuses.items()))


def test_kappa_is_as_by_hand() -> None:
    """Cohen: 3 of 4 agree, chance is 2/4 x 3/4 + 2/4 x 1/4. Fleiss: the shares are 5/8 and 3/8."""
    pairs = [("super", "super"), ("super", "super"), ("rejected", "rejected"), ("rejected", "super")]
    standings = [standing(number, ann=one, bob=other) for number, (one, other) in enumerate(pairs)]
    found = {agreement.field: agreement for agreement in agreement_by_field(standings)}["status"]
    (pair,) = found.pairs
    assert (pair.raters, pair.candidates, pair.equal) == (("ann", "bob"), 4, 0.75)
    assert pair.kappa == pytest.approx((0.75 - 0.5) / 0.5)
    assert found.fleiss == pytest.approx((0.75 - 34 / 64) / (1 - 34 / 64)) and found.raters == 2


def test_a_single_rater_has_no_agreement() -> None:
    assert agreement_by_field([standing(1, ann="super")]) == []


def test_a_model_is_checked_on_a_sample_that_everybody_draws_alike() -> None:
    names = [f"acme__ui-{number}" for number in range(40)]
    standings = {name: Standing((make_review(number, rater="m", by="model"),)) for number, name in enumerate(names)}
    (one,) = model_checks(standings, 10, 1)
    assert one.sample == model_checks(dict(reversed(standings.items())), 10, 1)[0].sample and len(one.sample) == 10
    assert one.sample != model_checks(standings, 10, 2)[0].sample
    assert (one.checked, one.rate, one.interval) == ((), None, None) and one.unchecked == one.sample
    for place, name in enumerate(one.sample[:4]):
        person = make_review(int(name.rpartition("-")[2]), status="rejected" if place == 0 else "super")
        standings[name] = Standing((*standings[name].reviews, person))
    standings[one.sample[1]] = standings[one.sample[1]]._replace(final=make_review(1, rater="cleo", status="accepted"))
    (one,) = model_checks(standings, 10, 1)
    assert (len(one.checked), one.wrong, one.rate) == (4, one.sample[:2], 0.5)
    assert one.interval.low == pytest.approx(0.15, abs=0.01) and one.interval.high == pytest.approx(0.85, abs=0.01)
