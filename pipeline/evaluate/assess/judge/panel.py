"""The judge: a rubric, the questions that it gets, and the result of several ratings.

Keeps the samples in `04_evaluation/ratings/`; asking, keeping and paying is the llm floor's (`llm.panel`). The agent in
the ledger and in `costs.csv` is `judge`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pipeline.core.assessment import UNTOLD, Judgement, Rating
from pipeline.core.names import Repo
from pipeline.core.store import Store, digest
from pipeline.evaluate.assess.judge import prompt
from pipeline.evaluate.assess.judge.prompt import Question
from pipeline.llm import panel
from pipeline.llm.asking import last_object
from pipeline.llm.panel import Asked, Rubric
from pipeline.llm.samples import agreement, combined

#: the agent that costs are booked to, in the ledger and in costs.csv
AGENT = "judge"
#: increased whenever questions are asked or answers are read differently: older ratings are stale
VERSION = 1


def read(text: str) -> Rating:
    """The rating in an answer. Raises BadAnswer."""
    return last_object(text, Rating, "score")


def _inputs(question: Question) -> dict[str, str]:
    return {"task": digest(question.task), "patch": digest(question.patch)}


RUBRIC: Rubric[Question] = Rubric(
    agent=AGENT,
    decisive=(prompt.RUBRIC, prompt.AGAIN, VERSION),
    messages=prompt.messages,
    again=prompt.AGAIN,
    read=read,
    holder=lambda question: question.task.instance_id,
    inputs=_inputs,
)


class Panel(panel.Panel[Question]):
    """One judge and its samples. Raises UserError at once for a model that cannot be asked."""

    def __init__(self, store: Store, repo: Repo, asked: Asked, parameters: Mapping[str, Any]) -> None:
        super().__init__(store, repo, store.root / "04_evaluation" / "ratings" / repo.slug, RUBRIC, asked, parameters)

    def judgement(self, question: Question) -> Judgement | None:
        """The combined result of the samples; None if none of them is a rating."""
        samples = self.samples(question)
        ratings = tuple(Rating(**rating) for rating in samples.ratings())
        if not ratings:
            return None
        scores = [rating.score for rating in ratings]
        return Judgement(
            model=self.asked.model,
            settings=self.experiment.settings,
            score=combined(scores, UNTOLD),
            agreement=agreement(scores),
            ratings=ratings,
            missing=samples.causes(),
        )
