import time

import pytest

from pipeline.pages.hybrid import formulas
from pipeline.pages.hybrid.expected import compare


@pytest.mark.parametrize(
    ("scores", "total", "weights"),
    [
        ({"html": 90, "functional": 85, "expected": 95, "quality": 80}, 87, [15, 40, 20, 25]),
        ({"html": 90, "functional": 85, "expected": None, "quality": 80}, 84, [18.75, 50, 31.25]),
        ({"html": 90, "functional": 85, "expected": None, "quality": None}, 86, [27.2727, 72.7273]),
        ({"html": 0, "functional": 0, "expected": None, "quality": None}, 0, [27.2727, 72.7273]),
    ],
)
def test_weights_of_absent_parts_are_redistributed(scores, total, weights):
    found, shares = formulas.overall(scores)
    assert (found, list(shares.values())) == (total, weights)


def test_without_any_part_there_is_no_score():
    assert formulas.overall(dict.fromkeys(formulas.PARTS)) == (None, {})
    assert formulas.overall({"quality": 90}) == (None, {}), "a judge's opinion alone"
    assert formulas.passes(None) is None


@pytest.mark.parametrize(("score", "passed"), [(69, False), (70, True)])
def test_the_pass_mark_is_seventy(score, passed):
    assert formulas.passes(score) is passed


def test_the_weights_add_up_to_one_hundred():
    assert sum(formulas.table()["weights"].values()) == 100


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("The answer is 345", 51),
        ("<!DOCTYPE html><html><body><h1>The answer is 345</h1></body></html>", 51),
        ("<!DOCTYPE html><html><body>345</body></html>", 100),
        ("345", 100),
        (" 345\n", 100),
        ("<html><head><title>Sums</title><script>let x = 1</script></head><body><p>345</p></body></html>", 100),
        ("<!DOCTYPE html><p>345<![foo[x]]>", 100),
        ("<!DOCTYPE html><!-- 1 --><p title='2 > 1'>345</p><noscript>6</noscript><style>p > a {}</style >", 100),
        ("<!DOCTYPE html><p don't><p>&#51;45<!-- it never ends", 100),
        ("The answer is 1345", 20),  # no word of it is 345
        ("", 0),
    ],
)
def test_expected_text(answer, score):
    assert compare(answer, "345").score == score


@pytest.mark.parametrize(
    "piece",
    ["<a ", "<", "<!", "<![", "</", "&", "<!--", "<div>", '<a b="', "<a b=' ", "<a = ", "<script>", "</title", "= "],
)
def test_a_text_takes_time_in_proportion_to_its_length(piece):
    since = time.monotonic()
    assert compare("<!doctype html><body>345 " + piece * 60_000, "345").score is not None
    assert time.monotonic() - since < 5


def test_without_an_expectation_the_part_is_absent_instead_of_zero():
    assert compare("anything", "").score is None


def test_letter_case_does_not_matter():
    part = compare("the capital is PARIS, in france", "Paris France")
    assert part.detail["keywords"] == 1
    assert not part.detail["exact_match"]


@pytest.mark.parametrize(
    ("rules", "score"),
    [([], 100), (["a"], 90), (["a", "a", "a"], 88), (["a", "b"], 80), ([str(n) for n in range(20)], 0)],
)
def test_validity(rules, score):
    assert formulas.validity(rules) == score


@pytest.mark.parametrize(
    ("renders", "errors", "warnings", "seconds", "score"),
    [
        (True, 0, 0, 0.5, 100),
        (False, 0, 0, 0.5, 0),
        (True, 1, 0, 0.5, 80),
        (True, 9, 0, 0.5, 40),
        (True, 0, 1, 0.5, 95),
        (True, 0, 99, 0.5, 80),
        (True, 0, 0, 3.5, 90),
        (True, 0, 0, 10.5, 80),
        (True, 9, 99, 99, 0),
    ],
)
def test_behaviour(renders, errors, warnings, seconds, score):
    assert formulas.behaviour(renders, errors, warnings, seconds) == score


@pytest.mark.parametrize(("rating", "score"), [(3, 90), (2, 80), (1, 50), (-1, None)])
def test_an_undecided_judge_is_absent(rating, score):
    assert formulas.quality(rating) == score
