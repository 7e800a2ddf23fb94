"""The assessment of a pull request of the demo with real containers, a browser, the gateway and its ledger.

Pull request 12 gives the Avatar a text alternative. Its initials have too little contrast before and after, which only
a browser detects.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

import demo_bench
import pytest

from pipeline.core.assessment import Assessment
from pipeline.core.records import Candidate
from pipeline.core.retry import PATIENT
from pipeline.core.store import read_records
from pipeline.core.trust import DEMO
from pipeline.demo.model import scripted_judge, surroundings
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.assess.stage import Extras, assess
from pipeline.evaluate.runs import How
from pipeline.evaluate.stage import evaluate
from pipeline.llm.ledger import Ledger
from pipeline.llm.panel import Asked
from pipeline.predict.stage import Predictor
from pipeline.sandbox.base import DEFAULT

pytestmark = pytest.mark.engine("container engine", "base image", "browser")
REPO = demo_bench.REPO


class Court(NamedTuple):
    """The bench, and a judge with scripted answers."""

    bench: demo_bench.Bench
    asked: Asked

    def predict(self, model: str) -> None:
        """The reference agent's predictions and verdicts."""
        Predictor(self.bench.store, REPO, model, model, models=DEMO / "models.yaml").predict()
        evaluate(self.bench.store, Subject(REPO, model, model), self.bench.sandbox)

    def assess(self, model: str, extras: Extras) -> Assessment:
        how = How(self.bench.sandbox, DEFAULT, PATIENT)
        (found,) = assess(self.bench.store, Subject(REPO, model, model), how, extras=extras)
        return found


@pytest.fixture(scope="module")
def court(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Court]:
    bench = demo_bench.make(tmp_path_factory.mktemp("avatar"), 12)
    candidates = read_records(bench.store.raw(REPO) / "candidates.jsonl", Candidate)
    with scripted_judge(DEMO, candidates) as model:
        court = Court(bench, Asked("scripted", models=DEMO / "models.yaml", environ=surroundings(model)))
        for reference in ("oracle", "nop"):
            court.predict(reference)
        yield court


def rules(court: Court, model: str) -> list[list[str]]:
    """The rules that a model's patch violates, in the documents of tests and in stories."""
    found = court.assess(model, Extras(axe=True, stories=True))
    return [
        sorted({violation.rule for violation in (*part.remaining, *part.introduced)})
        for part in (found.axe, found.stories)
    ]


def test_contrast_is_found_in_stories_but_not_in_documents_of_tests(court: Court) -> None:
    """Gold fixes the label in both; no test looks at the pale initials."""
    assert rules(court, "nop") == [["image-alt"], ["color-contrast", "image-alt"]]
    assert rules(court, "oracle") == [[], ["color-contrast"]]


@pytest.mark.rule("judge-money")
@pytest.mark.rule("judge-resumes")
def test_the_judge_is_paid_from_its_own_pocket_and_once(court: Court) -> None:
    found = court.assess("oracle", Extras(judge=court.asked))
    assert (found.judge.score, found.judge.agreement, len(found.judge.ratings)) == (3, 1, 3)
    with court.bench.store.costs.open(newline="") as lines:
        (row,) = csv.DictReader(lines)
    assert (row["repo"], row["model"], row["agent"], row["req_llm"]) == (str(REPO), "scripted", "judge", "3")
    assert Decimal(row["cost_llm_usd"]) > 0
    assert court.assess("oracle", Extras(judge=court.asked)) == found
    assert len(Ledger(court.bench.store.ledger).rows()) == 3


@pytest.mark.rule("judge-absence")
@pytest.mark.rule("budget")
def test_a_reached_budget_leaves_ratings_to_be_requested_later(court: Court) -> None:
    """A missing rating is not 0: the note says so, and a run with a larger budget continues."""
    tight = Asked(court.asked.model, 4, Decimal("0.000001"), court.asked.models, court.asked.environ)
    found = court.assess("oracle", Extras(judge=tight))
    assert found.notes["judge"] == "not assessed: 1 of 4 samples: budget_exceeded"
    assert len(found.judge.ratings) == 3
