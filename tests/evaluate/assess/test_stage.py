"""Assessing the predictions of a run: which tests run again, what is kept, and what stands beside the verdict."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

import factories
import pytest
from evaluate.conftest import FIX, WRONG, Evaluation
from tiny_library import BUTTON, IMPATIENT, LIMITS, NUMBERS, PRESSED, QUALIFIED, instance_id

from pipeline.core.assessment import Assessment
from pipeline.core.errors import InfrastructureError, UserError
from pipeline.core.store import read_records
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.assess import stage
from pipeline.evaluate.assess.request import Examination
from pipeline.evaluate.assess.stage import assess
from pipeline.evaluate.runs import How
from pipeline.sandbox import watch

BEFORE = BUTTON.format("old", "").splitlines()


def replaced(text: str) -> str:
    """A patch that gives the tiny toggle different markup."""
    lines = [*(f"-{line}" for line in BEFORE), *(f"+{line}" for line in text.splitlines())]
    size = len(text.splitlines())
    path = "src/toggle.js"
    head = f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{len(BEFORE)} +1,{size} @@\n"
    return head + "\n".join(lines) + "\n"


#: another class; and a class with no effect on users
EQUIVALENT = replaced(BUTTON.format("other", PRESSED))
DIFFERENT = replaced(BUTTON.format("other", ""))
BROKEN = replaced("nothing\n")


def assessed(evaluation: Evaluation, jobs: int = 2) -> dict[str, Assessment]:
    """The assessments, by the pull request's name."""
    subject = Subject(factories.REPO, "magentless", "model-a")
    found = assess(evaluation.store, subject, How(evaluation.sandbox, LIMITS, IMPATIENT), trust_local=True, jobs=jobs)
    names = {instance_id(name): name for name in NUMBERS}
    return {names[assessment.instance_id]: assessment for assessment in found}


@pytest.mark.engine("browser")
@pytest.mark.rule("assessment-beside-the-verdict")
def test_a_right_fix_with_another_class_is_equivalent_and_not_resolved(evaluation):
    """The strict verdict stays: it requires the exact markup."""
    evaluation.predict(toggle=EQUIVALENT, menu=FIX)
    evaluation.evaluate()
    found = assessed(evaluation)
    assert (found["toggle"].resolved, found["toggle"].resolved_equivalent) == (False, True)
    assert found["toggle"].snapshot.tests == {"src/toggle.test.js > renders": "cosmetic"}
    assert found["toggle"].browser.startswith("Chromium ")
    assert (found["menu"].resolved, found["menu"].resolved_equivalent, found["menu"].snapshot) == (True, True, None)
    folder = evaluation.store.evaluation(factories.REPO, "magentless", "model-a")
    assert read_records(folder / "assessments.jsonl", Assessment) == list(found.values())


@pytest.mark.engine("browser")
def test_a_fix_without_the_needed_state_is_neither_resolved_nor_equivalent(evaluation):
    evaluation.predict(toggle=DIFFERENT)
    evaluation.evaluate()
    toggle = assessed(evaluation)["toggle"]
    assert not toggle.resolved_equivalent
    assert toggle.snapshot.likeness == "a11y-different"
    assert "pressed" in toggle.snapshot.reasons["src/toggle.test.js > renders"]


@pytest.mark.engine("browser")
@pytest.mark.invariant(3)
def test_a_second_assessment_runs_nothing_and_gives_the_same_result(evaluation):
    evaluation.predict(toggle=EQUIVALENT)
    evaluation.evaluate()
    first = assessed(evaluation)
    opened = list(evaluation.sandbox.opened)
    assert assessed(evaluation) == first
    assert evaluation.sandbox.opened == opened


@pytest.mark.rule("assessment-beside-the-verdict")
def test_patches_that_fail_other_tests_are_not_run_again(evaluation):
    """No browser is needed unless snapshots decide."""
    evaluation.predict(toggle=BROKEN, menu=WRONG)
    evaluation.evaluate()
    found = assessed(evaluation)
    assert found["toggle"].notes == {"snapshot": "not by snapshot alone: src/toggle.test.js > works"}
    assert found["menu"].notes["snapshot"].startswith("not by snapshot alone")
    assert not any(assessment.resolved_equivalent for assessment in found.values())
    assert len(evaluation.sandbox.opened) == 2


@pytest.mark.invariant(7)
def test_a_failed_assessment_is_a_note(evaluation):
    evaluation.predict(toggle=EQUIVALENT, menu=WRONG)
    evaluation.evaluate()
    evaluation.bench.break_image("toggle")
    found = assessed(evaluation)
    assert found["toggle"].notes == {"snapshot": "not assessed: the engine is gone"}
    assert found["menu"].notes["snapshot"].startswith("not by snapshot alone")


def test_nothing_is_examined_once_the_sandbox_is_gone(evaluation, tiny, monkeypatch):
    """The second may have begun before the first failure is seen. Each unit would wait for the engine otherwise."""
    begun, gone = list[Examination](), threading.Event()

    def find(examination: Examination) -> dict[str, Any]:
        begun.append(examination)
        assert len(begun) == 1 or gone.wait(60)
        raise InfrastructureError("the connection was refused", cause="engine")

    def check() -> None:
        raise UserError("no engine", hint="start it")

    evaluation.predict(**{name: tiny.outcomes[name].fix_patch for name in QUALIFIED})
    evaluation.evaluate()
    monkeypatch.setattr(stage, "_parts", lambda _: {"snapshot": find})
    monkeypatch.setattr(evaluation.sandbox, "check", check)
    monkeypatch.setattr(watch, "say", lambda _: gone.set())
    notes = Counter(assessment.notes["snapshot"] for assessment in assessed(evaluation, jobs=1).values())
    assert notes["not assessed: not started: no engine"] >= len(QUALIFIED) - 2, notes


@pytest.mark.rule("bad-input")
def test_missing_verdicts_are_refused_with_a_hint(evaluation):
    evaluation.predict(menu=FIX)
    with pytest.raises(UserError, match="has no verdict for the run") as error:
        assessed(evaluation)
    assert "just eval-run acme/ui model-a" in str(error.value)
