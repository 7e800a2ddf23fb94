"""The answers of one judge about one patch, each kept as a unit of its own.

Their folder is named by what the judge is told and how, so that nothing is paid for twice: not by a rerun, not by
another agent's equal patch, and more samples cost their difference.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.assessment import Judgement, Rating
from pipeline.core.store import Unit, digest
from pipeline.evaluate.assess.judge import reply
from pipeline.evaluate.assess.judge.prompt import Question


class Samples(NamedTuple):
    """`count` samples under `root`; `settings` is a digest of how `model` is asked."""

    root: Path
    question: Question
    model: str
    settings: str
    count: int

    @property
    def inputs(self) -> dict[str, str]:
        """The digests of all that decides an answer."""
        task, patch = self.question
        return {"task": digest(task), "patch": digest(patch), "model": self.model, "settings": self.settings}

    def units(self) -> list[Unit]:
        folder = self.root / digest(self.inputs)
        return [Unit(folder / str(number)) for number in range(1, self.count + 1)]

    def missing(self) -> list[Unit]:
        """Those that nobody has answered yet."""
        return [unit for unit in self.units() if not unit.is_done(**self.inputs)]

    def results(self) -> list[dict[str, Any]]:
        """What was answered: a `rating`, or in its place the cause why it is `missing`."""
        return [unit.result() for unit in self.units() if unit.is_done(**self.inputs)]

    def judgement(self) -> Judgement | None:
        """What they come to; None where none of them is a rating."""
        ratings = tuple(Rating(**one["rating"]) for one in self.results() if "rating" in one)
        if not ratings:
            return None
        scores = [one.score for one in ratings]
        return Judgement(
            model=self.model,
            settings=self.settings,
            score=reply.combined(scores),
            agreement=reply.agreement(scores),
            ratings=ratings,
            missing=self.causes(),
        )

    def causes(self) -> tuple[str, ...]:
        """Why answers are no ratings, for each that is none."""
        return tuple(one["missing"] for one in self.results() if "missing" in one)

    def silence(self) -> str:
        """The same in words, each cause once."""
        counted = Counter(self.causes()).items()
        return "; ".join(f"{cause} ({count} of {self.count} samples)" for cause, count in counted)
