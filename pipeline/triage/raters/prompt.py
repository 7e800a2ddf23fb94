"""The prompt for a candidate, and the rating in the answer.

Texts of pull requests are data: each is between fences that it cannot close, and only in the user's message. A model
may obey such a text nevertheless; its rating must still be consistent, and people check a sample.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.core.patches import paths
from pipeline.core.ratings import (
    NOTE,
    STATEMENT,
    Category,
    Condition,
    Difficulty,
    Label,
    Review,
    ReviewStatus,
    TestQuality,
    lacking,
)
from pipeline.core.records import Candidate
from pipeline.llm.asking import BadAnswer, last_object
from pipeline.llm.chat import Message

AGAIN = "This answer cannot be used: {}. Answer again with one JSON object and nothing else."
#: the most characters of a foreign text that a model is shown
MOST = 60_000


class Question(NamedTuple):
    """A candidate, and the texts that a model is shown."""

    instance_id: str
    material: str


class GivenLabel(BaseModel):
    name: str = Field(max_length=60)
    hoverText: str = Field(default="", max_length=300)


class Given(BaseModel):
    """The answer, with the thesis's field names."""

    model_config = ConfigDict(title="Rating")

    review_status: ReviewStatus
    conditions: dict[Condition, bool] = Field(description="S1 to S8, each true or false")
    is_accessibility_related: bool
    insufficient_evidence: bool
    requires_external_setup: bool
    solvable_from_issue_and_repo: bool
    has_unit_test: bool
    unit_test_validates_change: bool
    wcag_codes: tuple[str, ...]
    difficulty: Difficulty
    issue_category: Category
    test_quality: TestQuality
    labels: tuple[GivenLabel, ...] = ()
    custom_problem_statement: str = Field(max_length=STATEMENT)
    notes: str = Field(default="", max_length=NOTE)
    evaluation_notes: str = Field(default="", max_length=NOTE)
    confidence: float = Field(ge=0, le=1)


SCHEMA = json.dumps(Given.model_json_schema(), indent=1)
RUBRIC = files(__package__).joinpath("prompt.md").read_text(encoding="utf-8") + f"\n{SCHEMA}\n"
#: field of the answer -> field of a rating
_NAMES = {
    "review_status": "status",
    "wcag_codes": "success_criteria",
    "custom_problem_statement": "statement",
    "notes": "note",
    "evaluation_notes": "evaluation_note",
}


def question(candidate: Candidate) -> Question:
    """The question about a candidate."""
    issues = "\n\n".join(
        f"#{issue.number} {issue.title}\nLabels: {', '.join(issue.labels)}\n\n{issue.body}"
        for issue in candidate.resolved_issues
    )
    parts = {
        "Title": candidate.title,
        "Text of the pull request": candidate.body,
        "Labels": ", ".join(candidate.labels),
        "Linked issues": issues,
        "Files": "\n".join(paths(candidate.fix_patch + candidate.test_patch)),
        "Source changes": candidate.fix_patch,
        "Test changes": candidate.test_patch,
    }
    return Question(candidate.instance_id, "\n".join(f"# {name}\n\n{_fenced(text)}" for name, text in parts.items()))


def messages(question: Question) -> list[Message]:
    """The rubric with its schema as the system message, the candidate's texts as the user message."""
    return [{"role": "system", "content": RUBRIC}, {"role": "user", "content": question.material}]


def read(text: str) -> Given:
    """The rating in an answer. Raises BadAnswer if it does not follow the schema or contradicts itself."""
    answer = last_object(text, Given, "review_status")
    if answer.review_status == "reworked":
        raise BadAnswer("review_status: only people may use reworked")
    rating = review(answer.model_dump(mode="json"), "org__repo-1", "a model")
    if missing := lacking(rating):
        raise BadAnswer(f"it lacks {', '.join(missing)}")
    return answer


def review(answer: dict[str, Any], instance_id: str, model: str) -> Review:
    """The answer as a rating. Raises BadAnswer."""
    fields = {_NAMES.get(name, name): value for name, value in answer.items() if name != "labels"}
    try:
        labels = tuple(Label(name=label["name"], hover_text=label["hoverText"]) for label in answer["labels"])
        return Review(instance_id=instance_id, rater=model, by="model", labels=labels, **fields)
    except ValidationError as error:
        raise BadAnswer(
            "; ".join(str(fault["msg"]).removeprefix("Value error, ") for fault in error.errors())
        ) from None


def _fenced(text: str) -> str:
    """The text between fences that it does not contain; a long text is cut, with a note."""
    cut = f"\n(cut here: {len(text) - MOST:,} characters more)" if len(text) > MOST else ""
    shown = text[:MOST]
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", shown)), 3)
    return f"{fence}\n{shown.rstrip()}{cut}\n{fence}\n"
