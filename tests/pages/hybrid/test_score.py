"""An answer's score, without a browser or a checker."""

from __future__ import annotations

import cloudpickle
import pytest
from pages_bench import make_alike

from pipeline.core.errors import InfrastructureError
from pipeline.core.law import registered
from pipeline.core.store import digest
from pipeline.pages.hybrid import behaviour, evaluate, feedback, validity
from pipeline.pages.hybrid.records import Feedback, Part
from pipeline.pages.hybrid.score import hybrid_law
from pipeline.pages.hybrid.stage import Score, Scoring, _with
from pipeline.pages.records import PageAnswer


@pytest.fixture(autouse=True)
def machine(monkeypatch):
    """A checker and a browser with scripted results."""
    parts = {"html": Part(score=90), "functional": Part(score=85)}
    monkeypatch.setattr(validity, "check", lambda page: parts["html"])
    monkeypatch.setattr(behaviour, "watch", lambda page, limits: parts["functional"])
    return parts


def test_all_four_parts():
    scored = evaluate("345", expected="345", quality=Part(score=80))
    assert (scored.overall_score, scored.passed) == (88, True)
    assert list(scored.weights.values()) == [15, 40, 20, 25]


def test_a_score_records_its_law_and_judge():
    scored = evaluate("345", expected="345", quality=Part(score=80), judge="a judge")
    assert (scored.law, scored.judge) == (hybrid_law(), "a judge")
    assert evaluate("345").judge == ""
    assert {("pipeline.pages.hybrid", "formulas.toml"), ("pipeline.pages.hybrid", "judge.md")} <= registered("hybrid")


def test_only_existing_parts_count(machine):
    machine["html"] = Part()
    scored = evaluate("<p>345</p>")
    assert (scored.overall_score, scored.weights) == (85, {"functional": 100})


def test_without_any_part_there_is_no_score(machine):
    machine.update(html=Part(), functional=Part())
    scored = evaluate("<p>345</p>")
    assert (scored.overall_score, scored.passed, scored.weights) == (None, None, {})


def test_feedback_is_of_all_parts_in_their_order(machine):
    machine["functional"] = Part(score=0, feedback=(Feedback(level="error", message="It does not render."),))
    messages = feedback(evaluate("no", expected="yes"))
    assert [sorted(message) for message in messages] == [["level", "message"]] * 2
    assert messages[0] == {"level": "error", "message": "It does not render."}


def test_a_unit_survives_pickling_and_a_failed_one_has_no_score():
    answer = PageAnswer(case="sum", model="m", sample=0, html="raw/sum/m.html", digest="d")
    unit = cloudpickle.loads(cloudpickle.dumps(Score("sum m s0", answer, "345", "345")))
    failed = unit.failed(InfrastructureError("it broke", cause="browser"))
    assert (failed.name, failed.overall_score, failed.passed) == ("sum", None, None)
    assert "it broke" in feedback(failed)[0]["message"]


def test_a_judges_opinion_alone_gives_no_score():
    answer = PageAnswer(case="sum", model="m", sample=0, html="raw/sum/m.html", digest="d")
    judged = _with(Score("sum m s0", answer, "345", "345").failed(AssertionError("no")), Part(score=90), "judge")
    assert (judged.overall_score, judged.passed, judged.weights, judged.quality.score) == (None, None, {}, 90)


def test_a_judges_opinion_completes_the_score_of_a_checked_answer():
    judged = _with(evaluate("345", expected="345"), Part(score=80), "a judge")
    assert (judged.overall_score, judged.passed) == (88, True)
    assert (judged.judge, judged.law) == ("a judge", hybrid_law())


def test_a_refusal_does_not_pass(monkeypatch, machine):
    """It is valid, and it renders: it had the full score."""
    monkeypatch.undo()
    scored = evaluate("I can not do that.")
    assert (scored.html.score, scored.functional.score, scored.overall_score, scored.passed) == (0, 0, 0, False)
    assert [message["level"] for message in feedback(scored)] == ["error"] * 2


@pytest.mark.parametrize(("answer", "score", "passed"), [("345", 80, True), ("The answer is 345", 67, False)])
def test_a_plain_answer_is_judged_by_the_expected_text(machine, answer, score, passed):
    machine.update(html=Part(score=0), functional=Part(score=100))
    scored = evaluate(answer, expected="345")
    assert (scored.overall_score, scored.passed) == (score, passed)


@pytest.mark.parametrize(("expected", "score"), [(345, 100), ("345", 100), (None, None), ("", None), (" ", None)])
def test_a_text_may_be_expected_as_a_number_or_not_at_all(expected, score):
    assert evaluate("345", expected=expected).expected.score == score


def test_half_a_character_is_replaced():
    scored = evaluate("345 \ud800", expected="345 \udc00")
    assert (scored.digest, scored.expected.score) == (digest("345 ?"), 100)


def test_the_page_of_an_answer_is_scored_as_the_commands_do(monkeypatch):
    checked = []
    monkeypatch.setattr(validity, "check", lambda page: checked.append(page) or Part(score=100))
    html = "<!DOCTYPE html><html><body>345</body></html>"
    assert evaluate(f"Here it is:\n```html\n{html}\n```\n", expected=345).expected.score == 100
    evaluate(html, page="<p>345</p>")
    assert checked == [html, "<p>345</p>"]


@pytest.mark.rule("names")
def test_answers_with_similar_names_keep_their_own_scores(tmp_path):
    scored = Scoring(make_alike(tmp_path)).score()
    assert [scored_answer.digest for scored_answer in scored] == [
        digest(f"{scored_answer.name} by {scored_answer.model}") for scored_answer in scored
    ]
    assert len({scored_answer.digest for scored_answer in scored}) == 4
