"""Requests for a review: each asked once, with the people who answered, and never rewritten."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from pipeline.core.errors import UserError
from pipeline.core.review_requests import ReviewAnswer, ReviewRequest, answer, answers, ask, queue, requested
from pipeline.core.store import Store

LATER = "2025-02-03T04:05:06Z"


def request(number: int = 1, **more: str) -> ReviewRequest:
    given = {"kind": "candidate", "id": f"acme__ui-{number}", "version": "v1", "why": "two raters disagree"}
    return ReviewRequest(**{**given, "asked_by": "triage", "time": "2025-01-02T03:04:05Z", **more})


def answered(one: ReviewRequest, reviewer: str = "ann") -> ReviewAnswer:
    return ReviewAnswer(request=one.key, reviewer=reviewer, time=LATER)


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path)


def test_a_repeated_request_is_stored_once(store):
    assert ask(store, [request(1), request(2), request(1)]) == [request(1), request(2)]
    again = request(1, asked_by="pages", time=LATER)
    assert ask(store, [again, request(3)]) == [request(3)]
    assert requested(store) == [request(1), request(2), request(3)]


@pytest.mark.parametrize("other", [{"version": "v2"}, {"why": "the tests are flaky"}, {"kind": "case"}])
def test_another_version_reason_or_kind_is_another_request(store, other):
    ask(store, [request()])
    answer(store, [answered(request())])
    ask(store, [request(**other)])
    assert queue(store) == [request(**other)]


def test_a_queue_is_for_everybody_or_for_one_reviewer(store):
    one, two = request(1), request(2)
    ask(store, [one, two])
    answer(store, [answered(one)])
    assert queue(store) == [two]
    assert queue(store, "ann") == [two]
    assert queue(store, "ben") == [one, two]


@pytest.mark.rule("nothing-overwritten")
def test_concurrent_answers_are_all_kept(store):
    ask(store, [request()])
    before = store.review_requests.read_bytes()
    names = [f"reviewer {number}" for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: answer(store, [answered(request(), name)]), names))
    ask(store, [request(2)])
    assert sorted(one.reviewer for one in answers(store)[request().key]) == sorted(names)
    assert store.review_requests.read_bytes().startswith(before)


@pytest.mark.rule("bad-input")
def test_a_broken_request_is_refused_with_file_line_and_field(store):
    ask(store, [request()])
    text = store.review_requests.read_text().replace('"candidate"', '"thing"')
    store.review_requests.write_text(text)
    with pytest.raises(UserError, match="kind") as error:
        queue(store)
    assert f"{store.review_requests}:1" in str(error.value)
