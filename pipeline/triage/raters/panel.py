"""One model and its ratings of candidates: requested, paid for, stored, and appended as ratings.

Stores the answers in `00_viewer/models/`, through `llm.panel`. The agent in the ledger and in `costs.csv` is `triage`.
A candidate whose texts changed is asked about again.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from pipeline.core.names import Repo
from pipeline.core.ratings import Review
from pipeline.core.records import Candidate
from pipeline.core.store import Store, digest
from pipeline.llm import panel
from pipeline.llm.models import Model, load_models
from pipeline.llm.panel import Asked, Rubric
from pipeline.llm.prices import Usage, total
from pipeline.llm.spending import spending
from pipeline.triage.raters import prompt
from pipeline.triage.raters.prompt import Question

#: the agent's name in the ledger and in costs.csv
AGENT = "triage"
#: raised if answers are requested or read differently, so that older answers are stale
VERSION = 1
#: characters per token, a low estimate: code has fewer than prose
CHARACTERS = 3

RUBRIC: Rubric[Question] = Rubric(
    agent=AGENT,
    decisive=(prompt.RUBRIC, prompt.AGAIN, VERSION),
    messages=prompt.messages,
    again=prompt.AGAIN,
    read=prompt.read,
    holder=lambda question: question.instance_id,
    inputs=lambda question: {"material": digest(question.material)},
)


class Estimate(NamedTuple):
    """What will be asked, and its cost in USD: `likely`, with answers of a thousand tokens each, and at `most`, with
    answers of the maximum length, each requested twice."""

    model: str
    candidates: int
    tokens: int
    likely: Decimal
    most: Decimal


@cache
def _rows() -> list[dict[str, Any]]:
    text = files(__package__).joinpath("parameters.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)["rater"]


def parameters(model: Model) -> Mapping[str, Any]:
    """The parameters of every request to a model."""
    name = model.entry["litellm_params"]["model"]
    return next(row["parameters"] for row in _rows() if re.search(row["pattern"], name))


class Panel(panel.Panel[Question]):
    """One model as a rater. Raises UserError at once if it cannot be asked."""

    def __init__(self, store: Store, repo: Repo, asked: Asked) -> None:
        self.model = load_models(asked.models).get(asked.model)
        root = store.root / "00_viewer" / "models" / repo.slug
        super().__init__(store, repo, root, RUBRIC, asked, parameters(self.model))

    def estimate(self, questions: Sequence[Question]) -> Estimate:
        """The estimate for candidates without an answer."""
        unanswered = [question for question in questions if self.samples(question).missing()]
        tokens = sum((len(prompt.RUBRIC) + len(question.material)) // CHARACTERS for question in unanswered)
        price = self.model.price
        longest = max(value for name, value in self.parameters.items() if name.endswith("tokens"))
        likely = price.cost(Usage(tokens, 1000 * len(unanswered)))
        most = price.cost(Usage(2 * tokens + longest * len(unanswered), 2 * longest * len(unanswered)))
        return Estimate(self.asked.model, len(unanswered), tokens, likely, most)

    def reviews(self, candidates: Sequence[Candidate]) -> tuple[list[Review], dict[str, str]]:
        """The ratings, and by instance, why there is no rating."""
        reviews, unrated = [], {}
        for candidate in candidates:
            samples = self.samples(prompt.question(candidate))
            if ratings := samples.ratings():
                reviews.append(prompt.review(ratings[0], candidate.instance_id, self.asked.model))
            elif samples.causes():
                unrated[candidate.instance_id] = samples.silence()
        return reviews, unrated

    def spent(self) -> Decimal:
        """What this model has cost for this repository, in USD."""
        own = [spent for spent in spending(self.store) if (spent.agent, spent.model) == (AGENT, self.asked.model)]
        return total(spent.cost_usd for spent in own if spent.repo == self.experiment.repo)
