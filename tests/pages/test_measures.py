"""The figures of the page track for a few verdicts, counted by hand: what a rate includes, and what it does not."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from pipeline.pages.measures import (
    Share,
    assertions,
    by_criterion,
    compared,
    counts,
    criteria,
    model_row,
    money,
    pass_at,
    rules,
)
from pipeline.pages.records import Assertion, Kind, PageAnswer, PageVerdict, Usage, Violation

ALT = Violation(id="image-alt", help="Images need a text", tags=("wcag2a", "wcag111"), count=2)
NAME = Violation(id="button-name", help="Buttons need a name", tags=("wcag2a", "wcag412"), count=1)
REGION = Violation(id="region", help="All content", tags=("best-practice",), count=3)


def holds(name: str = "has a heading", kind: Kind = "R") -> Assertion:
    return Assertion(name=name, status="pass", type=kind)


def fails(name: str = "has a heading", kind: Kind = "R") -> Assertion:
    return Assertion(name=name, status="fail", type=kind)


def verdict(sample: int = 0, result: str = "passed", model: str = "m", case: str = "menu", **more: Any) -> PageVerdict:
    return PageVerdict(case=case, model=model, sample=sample, result=result, **more)


def answer(sample: int = 0, model: str = "m", **usage: Any) -> PageAnswer:
    return PageAnswer(case="menu", model=model, sample=sample, html="a.html", digest="d", usage=Usage(**usage))


def keys(samples: int = 1, case: str = "menu", model: str = "m") -> list[tuple[str, str, int]]:
    return [(case, model, sample) for sample in range(samples)]


# -- one model ---------------------------------------------------------------------------------------------------------
def test_errors_and_missing_pages_are_in_no_rate() -> None:
    verdicts = [verdict(0, assertions=(holds(),)), verdict(1, "failed", assertions=(fails(),)), verdict(2, "error")]
    row = model_row("m", [], verdicts, keys(5))
    assert (row.samples, row.errors, row.missing) == (3, 1, 2)
    assert row.passed == Share(1, 2) and row.requirements == Share(1, 2)
    assert not row.is_complete


@pytest.mark.parametrize(
    ("verdicts", "samples", "complete"),
    [([verdict(0)], 1, True), ([verdict(0)], 2, False), ([verdict(0, "error")], 1, False), ([], 0, True)],
)
def test_a_row_is_complete_when_every_page_has_a_verdict(
    verdicts: list[PageVerdict], samples: int, complete: bool
) -> None:
    assert model_row("m", [], verdicts, keys(samples)).is_complete is complete


def test_the_best_model_is_first_and_incomplete_ones_are_last() -> None:
    good = model_row("good", [], [verdict(model="good")], keys(1, model="good"))
    bad = model_row("bad", [], [verdict(0, "failed", "bad")], keys(1, model="bad"))
    open_row = model_row("open", [], [verdict(model="open")], keys(2, model="open"))
    assert [row.model for row in sorted([open_row, bad, good], key=lambda row: row.place)] == ["good", "bad", "open"]


def test_a_page_without_violations_that_count_is_clean() -> None:
    verdicts = [
        verdict(0),
        verdict(1, "failed", violations=(ALT,)),
        verdict(2, advice=(REGION,)),
        verdict(3, "failed", cause="time_limit"),
    ]
    assert model_row("m", [], verdicts, keys(4)).clean == Share(2, 4)


def test_a_page_of_a_case_without_best_practices_is_not_in_their_rate() -> None:
    verdicts = [
        verdict(0, case="menu", assertions=(holds(), fails("is short", "BP"))),
        verdict(0, case="form", assertions=(holds(),)),
    ]
    row = model_row("m", [], verdicts, [*keys(), *keys(case="form")])
    assert (row.best_practices, row.requirements) == (Share(0, 1), Share(2, 2))


def test_a_page_that_was_cut_short_meets_no_requirement() -> None:
    """Without other pages of its case, nobody would know its requirements, since they were never reached."""
    cut = verdict(0, "failed", cause="time_limit")
    assert model_row("m", [], [cut], keys()).requirements == Share(0, 1)
    whole = verdict(1, assertions=(holds("is short", "BP"),))
    assert model_row("m", [], [cut, whole], keys(2)).requirements == Share(0, 0)
    other = verdict(1, assertions=(holds(), holds("is short", "BP")), model="n")
    row = model_row("m", [], [cut, other], keys())
    assert (row.requirements, row.best_practices) == (Share(0, 1), Share(0, 1))


def test_assertions_that_hold_on_a_page_that_was_cut_short_do_not_count() -> None:
    cut = verdict(0, "failed", cause="time_limit", assertions=(holds(),))
    assert cut.holds("R") is False and cut.holds("BP") is None
    assert verdict(assertions=(holds(), fails("x"))).holds("R") is False


# -- money -------------------------------------------------------------------------------------------------------------
def test_a_reply_without_usage_is_unknown_and_never_free() -> None:
    answers = [
        answer(0, cost_usd=Decimal("0.1"), tokens_in=10, tokens_out=5),
        answer(1, cost_usd=Decimal("0.2"), tokens_in=1),
        answer(2, tokens_in=99),
    ]
    found = money(answers)
    assert (found.usd, found.tokens_in, found.tokens_out, found.unknown) == (Decimal("0.3"), 11, 5, 1)
    assert money([]) == (0, 0, 0, 0)


# -- pass@k ------------------------------------------------------------------------------------------------------------
def test_samples_are_counted_by_case_and_errors_are_not() -> None:
    verdicts = [verdict(0), verdict(1, "failed"), verdict(2, "error"), verdict(0, case="form"), verdict(0, model="n")]
    assert counts("m", verdicts) == {"menu": (2, 1), "form": (1, 1)}
    assert counts("m", [verdict(0, "error")]) == {"menu": (0, 0)}
    assert counts("nobody", verdicts) == {}


@pytest.mark.parametrize(("k", "value", "cases"), [(1, 0.75, 2), (2, 1.0, 1), (3, None, 0)])
def test_pass_at_k_is_over_cases_with_enough_samples(k: int, value: float | None, cases: int) -> None:
    verdicts = [verdict(0), verdict(1, "failed"), verdict(0, case="form")]
    (row,) = pass_at("m", [k], verdicts, [*keys(2), *keys(case="form")])
    assert (row.k, row.value, row.cases, row.of) == (k, value, cases, 2)
    assert (row.interval is None) is (cases == 0)


@pytest.mark.parametrize(
    ("passed", "k", "low", "high"),
    [(1, 1, 0.0089, 0.2361), (1, 10, 0.0854, 0.9323), (0, 10, 0, 0.8273), (20, 10, 1, 1), (10, 1, 0.2993, 0.7007)],
)
def test_one_case_with_many_samples_has_intervals(passed: int, k: int, low: float, high: float) -> None:
    verdicts = [verdict(sample, "passed" if sample < passed else "failed") for sample in range(20)]
    (row,) = pass_at("m", [k], verdicts, keys(20))
    assert row.interval is not None and row.value is not None
    assert tuple(row.interval) == pytest.approx((low, high), abs=0.02 if k > 1 else 0.001)
    assert row.interval.low <= row.value <= row.interval.high
    interval = model_row("m", [], verdicts, keys(20)).interval
    assert interval is not None and interval.low <= passed / 20 <= interval.high


@pytest.mark.parametrize(("cases", "samples", "passed"), [(3, 5, 2), (12, 1, 1), (2, 4, 0)])
def test_cases_that_do_not_differ_have_an_interval(cases: int, samples: int, passed: int) -> None:
    """Resampling gave 40 to 40% and 100 to 100%, in contradiction to the models' rates."""
    verdicts = [
        verdict(sample, "passed" if sample < passed else "failed", case=f"case {case}")
        for case in range(cases)
        for sample in range(samples)
    ]
    first, last = pass_at("m", [1, samples], verdicts, [verdict.key for verdict in verdicts])
    whole = model_row("m", [], verdicts, []).interval
    assert whole is not None and first.interval == pytest.approx(whole)
    assert last.interval == pytest.approx([1 - (1 - end) ** samples for end in whole])
    assert last.interval is not None and last.interval.low < last.interval.high


def test_the_interval_of_pass_at_1_contains_it_if_cases_have_different_numbers_of_samples() -> None:
    verdicts = [verdict(0), *(verdict(sample, "failed", case="form") for sample in range(20))]
    (row,) = pass_at("m", [1], verdicts, [verdict.key for verdict in verdicts])
    assert row.value == 0.5 and row.interval is not None and row.interval.low < 0.5 < row.interval.high


def test_cases_that_differ_are_resampled() -> None:
    verdicts = [verdict(number, "passed" if number < 2 else "failed") for number in range(4)]
    verdicts += [verdict(number, "passed" if number < 1 else "failed", case="form") for number in range(4)]
    one, two = pass_at("m", [1, 2], verdicts, [verdict.key for verdict in verdicts])
    assert one.interval == pytest.approx(model_row("m", [], verdicts, []).interval)
    assert two.interval == pytest.approx((0.5, 5 / 6))


def test_without_verdicts_there_is_no_interval() -> None:
    assert model_row("m", [], [verdict(0, "error")], keys()).interval is None


# -- axe-core ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("tags", "found"),
    [
        (("wcag2a", "wcag143"), ("1.4.3",)),
        (("wcag1410", "wcag2aa"), ("1.4.10",)),
        (("wcag111", "wcag244"), ("1.1.1", "2.4.4")),
        (("best-practice", "wcag22aa", "cat.aria", "section508.22.a"), ()),
        ((), ()),
    ],
)
def test_the_criteria_in_axe_cores_tags(tags: tuple[str, ...], found: tuple[str, ...]) -> None:
    assert criteria(tags) == found


def test_rules_that_count_come_first_then_those_on_most_pages() -> None:
    verdicts = [
        verdict(0, "failed", violations=(NAME,), advice=(REGION,)),
        verdict(1, "failed", violations=(ALT, NAME)),
        verdict(0, model="n", advice=(REGION,)),
    ]
    rows = rules(verdicts)
    assert [(row.rule, row.counts, row.pages, row.elements) for row in rows] == [
        ("button-name", True, {"m": 2}, 2),
        ("image-alt", True, {"m": 1}, 2),
        ("region", False, {"m": 1, "n": 1}, 6),
    ]
    assert rows[1].criteria == ("1.1.1",)


def test_a_rule_counts_once_for_a_page_that_violates_it_in_several_frames() -> None:
    (row,) = rules([verdict(0, "failed", violations=(ALT, ALT.model_copy(update={"frame": 1})))])
    assert (row.pages, row.elements) == ({"m": 1}, 4)


def test_criteria_are_in_the_order_of_wcag() -> None:
    reflow = Violation(id="reflow", tags=("wcag1410",), count=1)
    contrast = Violation(id="contrast", tags=("wcag143",), count=1)
    found = by_criterion([verdict(0, "failed", violations=(reflow, NAME, contrast), advice=(ALT,))])
    assert list(found) == ["1.4.3", "1.4.10", "4.1.2"] and found["4.1.2"]["m"] == 1


# -- assertions --------------------------------------------------------------------------------------------------------
def test_assertions_are_counted_by_model_those_that_fail_most_first() -> None:
    verdicts = [
        verdict(0, assertions=(holds("a"), fails("b"))),
        verdict(1, "failed", assertions=(fails("b"),)),
        verdict(0, model="n", assertions=(fails("a"), holds("b"))),
    ]
    rows = assertions(verdicts)
    assert [(row.name, row.failed, row.pages) for row in rows] == [
        ("b", {"m": 2, "n": 0}, {"m": 2, "n": 1}),
        ("a", {"m": 0, "n": 1}, {"m": 1, "n": 1}),
    ]


def test_equal_names_in_different_cases_are_different_assertions() -> None:
    rows = assertions([verdict(case="menu", assertions=(fails(),)), verdict(case="form", assertions=(holds(),))])
    assert [row.case for row in rows] == ["form", "menu"]


# -- two runs ----------------------------------------------------------------------------------------------------------
def test_two_runs_are_compared_on_the_pages_that_both_judged() -> None:
    first = [verdict(0), verdict(1), verdict(2, "failed"), verdict(3, "error"), verdict(4)]
    second = [verdict(0), verdict(1, "failed"), verdict(2, "failed"), verdict(3), verdict(9)]
    (found,) = compared(first, second)
    assert (found.model, found.pages, found.only_first, found.only_second, found.both) == ("m", 3, 1, 0, 1)
    assert found.p == 1.0


def test_two_runs_without_a_page_in_common_are_not_compared() -> None:
    assert compared([verdict(0)], [verdict(0, model="n")]) == []


def test_an_uneven_split_is_unlikely_by_chance() -> None:
    cases = [f"case {n}" for n in range(8)]
    first, second = [verdict(0, case=case) for case in cases], [verdict(0, "failed", case=case) for case in cases]
    assert compared(first, second)[0].p == pytest.approx(2 * 0.5**8)


@pytest.mark.parametrize(("hits", "of", "share"), [(1, 4, 0.25), (0, 3, 0.0), (0, 0, None)])
def test_a_share_of_zero_pages_is_unknown(hits: int, of: int, share: float | None) -> None:
    assert Share(hits, of).share == share
