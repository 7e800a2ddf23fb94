"""The judge: a model's opinion of an answer, on a scale of three, through the llm floor.

Stores opinions in `04_evaluation/pages/opinions/`. The agent in the ledger and in `costs.csv` is `page-judge`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, field_validator

from pipeline.core import review_requests
from pipeline.core.progress import Progress
from pipeline.core.record import Record
from pipeline.core.records import PAGES
from pipeline.core.review_requests import ReviewRequest
from pipeline.core.store import Store, digest, now
from pipeline.llm.asking import last_object
from pipeline.llm.chat import Message
from pipeline.llm.panel import Asked, Panel, Rubric
from pipeline.pages.hybrid import formulas
from pipeline.pages.hybrid.records import Feedback, Level, Part
from pipeline.pages.runs import OPINIONS

AGENT = "page-judge"
#: score -> the level of its feedback
LEVELS: dict[int, Level] = {3: "success", 2: "info", 1: "error"}
#: raised if opinions are requested or read differently
VERSION = 2
#: the maximum number of characters of an answer that a judge is shown
LONGEST = 60_000
TEMPERATURE = 0.1
#: how an object with fields begins; a whole number that is written as a text or with decimals
_OPENING = re.compile(r'\{\s*"')
_WHOLE = re.compile(r"\s*(-?\d+)(?:\.0+)?\s*")
AGAIN = "This answer cannot be used: {}. Answer with the JSON object and nothing else."


class Opinion(Record):
    """A judge's opinion. `score` is 3, 2, 1, or -1 if it cannot tell. Texts are read in whatever form they have; a
    confidence that is none of the words is low."""

    score: Literal[3, 2, 1, -1]
    reasoning: str = ""
    strengths: str = ""
    weaknesses: str = ""
    confidence: Literal["high", "medium", "low"] = Field(default="medium")

    @field_validator("score", mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        whole = _WHOLE.fullmatch(str(value))
        return int(whole[1]) if whole else None  # true is no number, although it equals 1

    @field_validator("reasoning", "strengths", "weaknesses", mode="before")
    @classmethod
    def _text(cls, value: object) -> object:
        if value is None:
            return ""
        return "; ".join(map(str, value)) if isinstance(value, list) else str(value)

    @field_validator("confidence", mode="before")
    @classmethod
    def _word(cls, value: object) -> object:
        word = str(value).strip().lower()
        return word if word in ("high", "medium") else "low"

    @property
    def is_doubtful(self) -> bool:
        return self.confidence == "low" or self.score == -1


class Question(NamedTuple):
    """An answer to judge; `holder` is the key that pays for it."""

    holder: str
    prompt: str
    answer: str


def messages(question: Question) -> list[Message]:
    """The messages to a judge. The answer is between two lines that it cannot know."""
    line = digest(question)[:16]
    shown = question.answer[:LONGEST]
    cut = "\n(The rest is cut off.)" if len(question.answer) > LONGEST else ""
    text = f"The request:\n{question.prompt}\n\nThe answer, between the lines {line}:\n{line}\n{shown}\n{line}{cut}"
    return [{"role": "system", "content": _instructions()}, {"role": "user", "content": text}]


@cache
def _instructions() -> str:
    return files(__package__).joinpath("judge.md").read_text(encoding="utf-8")


def read(text: str) -> Opinion:
    """The opinion in a model's answer; one inside of another object if no object has a score itself. Raises
    BadAnswer."""
    outer, inner = _scored(text)
    return last_object(inner if inner and not outer else text, Opinion, "score")


def _scored(text: str) -> tuple[bool, str]:
    """Whether one of the outermost objects of a text has a score, and the last object inside of one that has, as
    JSON."""
    inner: list[dict[str, Any]] = []

    def note(found: dict[str, Any]) -> dict[str, Any]:
        if "score" in found:
            inner.append({name: found[name] for name in Opinion.model_fields if name in found})
        return found

    decoder = json.JSONDecoder(strict=False, object_hook=note)
    outer = any("score" in found for found in _objects(text, decoder))
    return outer, json.dumps(inner[-1]) if inner else ""


def _objects(text: str, decoder: json.JSONDecoder) -> Iterator[dict[str, Any]]:
    end = 0
    for start in _OPENING.finditer(text):
        if start.start() >= end:
            with suppress(ValueError, RecursionError):
                found, end = decoder.raw_decode(text, start.start())
                yield found


def _rubric() -> Rubric[Question]:
    return Rubric(
        agent=AGENT,
        decisive=(_instructions(), AGAIN, LONGEST, VERSION),
        messages=messages,
        again=AGAIN,
        read=read,
        holder=lambda question: question.holder,
        inputs=lambda question: {"prompt": digest(question.prompt), "answer": digest(question.answer)},
    )


def opinions(
    store: Store, case_set: str, questions: Sequence[Question], asked: Asked, log: Path, jobs: int = 2
) -> dict[Question, Part]:
    """The part of the score for each question; missing if the judge gave no answer, or none that can be read.

    Raises UserError for a model that cannot be asked.
    """
    root = store.pages_evaluated(OPINIONS)
    panel = Panel(store, case_set, root, _rubric(), asked, {"temperature": TEMPERATURE}, track=PAGES)
    with Progress("judging", len(panel.remaining(questions))) as progress:
        causes = panel.complete(questions, progress, log, jobs)
    return {question: _part(panel, question, causes.get(question, "")) for question in questions}


def _part(panel: Panel[Question], question: Question, cause: str) -> Part:
    samples = panel.samples(question)
    ratings = [Opinion(**rating) for rating in samples.ratings()]
    if not ratings:
        why = cause or samples.silence() or "no answer"
        return Part(feedback=(Feedback(level="info", message=f"The judge gave no opinion: {why}"),))
    return part(ratings[0])


def part(opinion: Opinion) -> Part:
    """The part of the score for an opinion."""
    score = formulas.quality(opinion.score)
    if score is None:
        feedback = Feedback(level="info", message=f"The judge cannot tell: {opinion.reasoning}")
    else:
        feedback = Feedback(
            level=LEVELS[opinion.score], message=f"The judge says {opinion.score} of 3: {opinion.reasoning}"
        )
    doubt = [Feedback(level="warning", message="The judge is not sure: a person should look.")]
    return Part(
        score=score,
        feedback=(feedback, *(doubt if opinion.is_doubtful else ())),
        detail=opinion.model_dump(mode="json"),
    )


def is_doubtful(judged: Part) -> bool:
    """Whether a judge answered and was not sure."""
    return bool(judged.detail) and Opinion(**judged.detail).is_doubtful


def ask_people(store: Store, doubtful: Sequence[tuple[str, str]], judge: str) -> int:
    """Put answers, as (name, text), into the review queue. Returns how many are new there."""
    requests = [
        ReviewRequest(
            kind="case",
            id=name,
            version=digest(answer),
            why=f"{judge}, as a judge, is not sure how good this answer is",
            asked_by=f"{AGENT} {judge}",
            time=now(),
        )
        for name, answer in doubtful
    ]
    return len(review_requests.ask(store, requests))
