"""Asking a judge: how many times, again after an unreadable answer, and never twice for the same patch."""

from __future__ import annotations

from dataclasses import replace

import factories
import pytest
from evaluate.assess.judge.conftest import GIVEN, question

from pipeline.core.errors import UserError
from pipeline.core.progress import Progress
from pipeline.core.store import Store
from pipeline.core.work import Event, each
from pipeline.evaluate.assess.judge.panel import Panel
from pipeline.llm.ledger import key_hash
from pipeline.llm.models import DEMO
from pipeline.llm.panel import Asked
from pipeline.llm.provider import Fault


def test_a_patch_is_rated_several_times(court):
    here = court(3, 2, 3)
    panel = here.panel()
    assert here.ask(panel, "patch") == {}
    found = panel.judgement(question("patch"))
    assert (found.score, [rating.score for rating in found.ratings], found.missing) == (3, [3, 2, 3], ())
    assert found.agreement == pytest.approx(1 / 3)
    assert found.ratings[0].reasoning == "because"


@pytest.mark.rule("judge-resumes")
def test_a_rated_patch_is_not_paid_for_again(court):
    """Neither in a rerun nor for another model's identical patch."""
    here = court(3)
    for _ in range(2):
        here.ask(here.panel(), "patch")
    assert len(here.speaker.requests) == 3
    assert here.panel().complete([question("patch")], None, None, 1) == {}


@pytest.mark.rule("judge-resumes")
def test_a_rating_is_sent_as_soon_as_it_is_paid_for(court):
    """So it is kept even if the batch ends in the middle of the next question."""
    here = court(3, 2)
    panel, seen = here.panel(), []

    def tell(event: Event) -> None:
        if event.data:
            seen.append((len(here.speaker.requests), event.data.number, event.data.answer.value["score"]))

    answers = panel.request(here.gateway, question("patch")).perform(tell)
    assert seen == [(1, 1, 3), (2, 2, 2), (3, 3, 2)]
    assert [answer.value["score"] for answer in answers] == [3, 2, 2]


@pytest.mark.invariant(7)
def test_a_failing_question_affects_no_other(court):
    here = court(3)
    request = here.panel().request(here.gateway, question("patch"))
    assert [result.failure for result in request.failed(ValueError("a mistake"))] == ["ValueError"]
    broken = replace(request, request=replace(request.request, messages=(object(),)))
    assert [result[-1].failure for _, result in each([broken, request], jobs=1)] == ["TypeError", ""]


@pytest.mark.rule("judge-resumes")
def test_more_samples_cost_their_difference_and_other_parameters_all(court):
    here = court(3)
    here.ask(here.panel(), "patch")
    here.ask(here.panel(samples=5), "patch")
    assert len(here.speaker.requests) == 5
    assert len(here.panel(samples=2).judgement(question("patch")).ratings) == 2
    here.ask(here.panel(parameters={"temperature": 0.9}), "patch")
    assert len(here.speaker.requests) == 8
    assert here.speaker.requests[-1].body["temperature"] == 0.9


@pytest.mark.rule("judge-absence")
def test_a_bad_answer_is_requested_again_and_then_missing(court):
    here = court("no idea", 2, "{}", '{"score": 7, "reasoning": ""}', "no", "no")
    panel = here.panel()
    assert here.ask(panel, "patch") == {}
    found = panel.judgement(question("patch"))
    assert [rating.score for rating in found.ratings] == [2]
    assert len(found.missing) == 2 and found.missing[0].startswith("bad answer: score: Input should be")
    again = here.speaker.requests[1].body["messages"]
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert "there is no JSON object with a score" in again[-1]["content"]
    assert len(here.speaker.requests) == 6


@pytest.mark.rule("judge-absence")
def test_without_any_rating_the_judgement_is_missing_with_its_cause(court):
    """A missing rating is neither 0 nor -1."""
    here = court("sorry")
    panel = here.panel()
    here.ask(panel, "patch")
    assert panel.judgement(question("patch")) is None
    assert (
        panel.samples(question("patch")).silence()
        == "bad answer: there is no JSON object with a score (3 of 3 samples)"
    )


@pytest.mark.rule("judge-absence")
def test_answers_that_a_provider_failed_to_give_are_requested_again(court):
    here = court(3)
    here.speaker.fail(Fault(), Fault(status=503))
    panel = here.panel()
    assert here.ask(panel, "patch", "other") == {"patch": "provider_503"}
    assert len(panel.samples(question("patch")).missing()) == 2
    assert here.ask(panel, "patch", "other") == {}
    assert len(here.speaker.requests) == 3 + 3 + 1


@pytest.mark.rule("judge-money")
def test_the_judge_has_its_own_key_and_costs(court):
    """The key belongs to the agent `judge`, whoever made the patch."""
    here = court(3)
    panel = here.panel()
    here.ask(panel, "patch")
    assert panel.experiment.agent == "judge"
    (authorization,) = {request.authorization for request in here.speaker.requests}
    key = authorization.removeprefix("Bearer ")
    booked = here.gateway.ledger.key(key_hash(key))
    assert (booked.agent, booked.model, booked.holder) == ("judge", "scripted", factories.REPO.instance_id(1))


def test_an_open_gateway_is_used_for_the_judge_too(court, monkeypatch):
    """A campaign has one gateway for agents and judges: no second one is opened, and it stays open."""
    here = court(3)
    monkeypatch.setattr("pipeline.llm.panel.open_gateway", lambda *_, **__: pytest.fail("another gateway"))
    panel = here.panel(gateway=here.gateway)
    with Progress("judging", 1) as progress:
        assert panel.complete([question("patch")], progress, here.store.root / "gateway.log", 1) == {}
    assert panel.samples(question("patch")).missing() == []


@pytest.mark.rule("bad-input")
def test_an_unusable_judge_model_is_refused(tmp_path):
    for name, words in (("nobody", "unknown model"), ("scripted-embedding", "unknown chat model")):
        with pytest.raises(UserError, match=words):
            Panel(Store(tmp_path), factories.REPO, Asked(name, models=DEMO, environ=GIVEN), {})
