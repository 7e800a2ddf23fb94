"""The judge's part of an assessment: beside the verdict, only for patches that were run, and never on its own."""

from __future__ import annotations

import factories
import pytest
from evaluate.assess.judge.conftest import GIVEN
from evaluate.conftest import FIX, WRONG, Evaluation
from tiny_library import IMPATIENT, LIMITS, NUMBERS, instance_id

from pipeline.core.assessment import Assessment
from pipeline.core.progress import Progress
from pipeline.core.store import read_records
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.assess.judge.panel import Panel
from pipeline.evaluate.assess.judge.prompt import Question
from pipeline.evaluate.assess.settings import load_settings
from pipeline.evaluate.assess.stage import Extras, assess
from pipeline.evaluate.runs import How
from pipeline.llm.models import DEMO
from pipeline.llm.panel import Asked

ASKED = Asked("scripted", models=DEMO, environ=GIVEN)


def rate(evaluation: Evaluation, court, **patches: str) -> None:
    """Let the judge rate these pull requests' patches, through a gateway without a proxy."""
    panel = Panel(evaluation.store, factories.REPO, ASKED, load_settings().judge)
    questions = [Question(evaluation.bench.instance(name).task(), patch) for name, patch in patches.items()]
    with Progress("judging", len(questions)) as progress:
        assert panel.ask(court.gateway, questions, progress, jobs=1) == {}


def assessed(evaluation: Evaluation, extras: Extras) -> dict[str, Assessment]:
    subject = Subject(factories.REPO, "magentless", "model-a")
    how = How(evaluation.sandbox, LIMITS, IMPATIENT)
    found = assess(evaluation.store, subject, how, trust_local=True, extras=extras)
    names = {instance_id(name): name for name in NUMBERS}
    return {names[assessment.instance_id]: assessment for assessment in found}


@pytest.mark.rule("judge-absence")
@pytest.mark.rule("assessment-beside-the-verdict")
def test_a_rating_does_not_change_the_verdict(evaluation, court):
    """A patch that a judge finds excellent stays unresolved, and a patch without a rating has a reason."""
    evaluation.predict(menu=FIX, badge=WRONG, toggle="", tabs=FIX.replace("menu", "tabs"))
    before = evaluation.evaluate()
    rate(evaluation, court(1, 1, 2), menu=FIX)
    rate(evaluation, court("no rating"), tabs=FIX.replace("menu", "tabs"))
    found = assessed(evaluation, Extras(judge=ASKED))
    menu = found["menu"]
    assert (menu.resolved, menu.judge.score, menu.judge.model) == (True, 1, "scripted")
    assert (menu.parts["judge"].value, menu.score) == (0.5, pytest.approx((0.4 + 0.25 * 0.5) / 0.65))
    assert found["tabs"].judge is None
    assert found["tabs"].notes["judge"] == "bad answer: there is no JSON object with a score (3 of 3 samples)"
    assert found["tabs"].parts["judge"].value is None
    assert found["toggle"].notes["judge"] == "there is no patch to rate: the verdict is empty"
    assert found["badge"].notes["judge"] == "there is no patch to rate: the verdict is not_applied"
    assert evaluation.evaluate() == before


def test_without_a_judge_there_is_no_rating_and_no_note(evaluation):
    evaluation.predict(menu=FIX)
    evaluation.evaluate()
    found = assessed(evaluation, Extras())
    assert all(assessment.judge is None and "judge" not in assessment.notes for assessment in found.values())
    path = evaluation.store.evaluation(factories.REPO, "magentless", "model-a") / "assessments.jsonl"
    assert [assessment.score for assessment in read_records(path, Assessment)] == [
        assessment.score for assessment in found.values()
    ]


@pytest.mark.rule("stories-silence")
def test_a_repository_without_stories_is_noted(evaluation):
    evaluation.predict(menu=FIX)
    evaluation.evaluate()
    found = assessed(evaluation, Extras(stories=True))
    why = "not audited, because base: the repository has no script that builds stories"
    assert (found["menu"].stories, found["menu"].notes["stories"]) == (None, why)
    assert found["badge"].notes["stories"] == "not audited, because the verdict is no_prediction"
