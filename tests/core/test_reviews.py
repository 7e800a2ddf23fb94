"""The result of several ratings: a decision, else a unanimous rating, else none. Building and analysis use the same
rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from factories import REPO, make_candidate, make_instance, make_review

from pipeline.core import journal
from pipeline.core.ratings import Label, Review
from pipeline.core.reviews import Standing, decide_finally, finals, newest_reviews, restated, standings
from pipeline.core.store import Store

NEW = "The menu cannot be told from others by ear."


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "data")


def rate(store: Store, *reviews: Review) -> None:
    journal.append(store.reviews(REPO), reviews)


def test_unanimous_ratings_count_and_divided_ones_do_not() -> None:
    one, other = make_review(), make_review(rater="bob")
    assert Standing((one, other)).status == "super" and Standing((one, other)).is_built
    divided = Standing((one, make_review(rater="bob", status="accepted", difficulty="easy")))
    assert divided.status is None and not divided.is_built
    assert divided.disagreements == ("status",) and divided.value("difficulty") == "easy"


def test_a_final_decision_overrides_ratings(store: Store) -> None:
    rate(store, make_review(time="2025-01-01T00:00:00Z"), make_review(rater="bob", status="rejected"))
    assert standings(store, REPO)["acme__ui-1"].status is None
    decide_finally(store, REPO, [make_review(rater="cleo", status="accepted", time="2025-01-02T00:00:00Z")])
    standing = standings(store, REPO)["acme__ui-1"]
    assert (standing.status, standing.final.rater, standing.disagreements) == ("accepted", "cleo", ())
    assert len(standing.reviews) == 2


@pytest.mark.rule("reviews-append-only")
def test_a_withdrawn_rating_does_not_count_and_stays_in_the_file(store: Store) -> None:
    rate(store, make_review(time="2025-01-01T00:00:00Z"), make_review(withdrawn=True, time="2025-01-02T00:00:00Z"))
    decide_finally(store, REPO, [make_review(), make_review(withdrawn=True, time="2025-01-02T00:00:00Z")])
    assert newest_reviews(store, REPO) == [] and finals(store, REPO) == {} and standings(store, REPO) == {}
    assert len(store.reviews(REPO).read_text().splitlines()) == len(store.finals(REPO).read_text().splitlines()) == 2


def test_the_order_of_criteria_does_not_matter() -> None:
    one, other = (make_review(success_criteria=order) for order in (("1.1.1", "4.1.2"), ("4.1.2", "1.1.1")))
    assert Standing((one, other)).disagreements == ()


def test_the_order_of_labels_does_not_matter() -> None:
    """Labels have no order of their own: combining two of them ended an export in a traceback."""
    labels = (Label(name="menu", hover_text="About menus"), Label(name="focus"))
    one, other = make_review(labels=labels), make_review(rater="bob", labels=labels[::-1])
    assert set(Standing((one, other)).value("labels")) == set(labels)
    assert Standing((one, make_review(rater="bob", labels=labels[:1]))).value("labels") is None


@pytest.mark.rule("reworked-statement")
def test_a_criterion_that_is_named_twice_counts_once() -> None:
    once = make_review(success_criteria=("1.1.1",), principles=("perceivable",))
    twice = make_review(rater="bob", success_criteria=("1.1.1",) * 2, principles=("perceivable",) * 2)
    assert (twice.success_criteria, twice.principles) == (once.success_criteria, once.principles)
    assert Standing((once, twice)).disagreements == ()


def test_the_agent_sees_the_reworked_statement() -> None:
    """The pull request's own text, which can give the solution away, is not shown."""
    standing = Standing((make_review(status="reworked", statement=NEW),))
    candidate = restated(make_candidate(resolved_issues=(), statement_source="pull_request"), standing)
    assert (candidate.statement_source, candidate.statement) == ("review", NEW)
    own = make_instance(statement_source="review", statement=NEW, resolved_issues=())
    shown = own.task().model_dump_json()
    assert NEW in shown and own.title not in shown and own.body not in shown
    linked = make_instance(statement_source="review", statement=NEW).task().statement
    assert [(issue.title, issue.body) for issue in linked] == [("Menu has no name", NEW)]


def test_an_undecided_statement_has_no_effect() -> None:
    candidate = make_candidate()
    texts = [make_review(rater=name, status="reworked", statement=name) for name in ("ann", "bob")]
    assert restated(candidate, Standing(tuple(texts))) == candidate and not Standing(tuple(texts)).is_built
    assert restated(candidate, Standing((make_review(statement=NEW),))) == candidate
    assert restated(candidate, None) == candidate
