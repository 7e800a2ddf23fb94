"""The records of the hybrid score: feedback, parts, the score. Reads and writes nothing."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from pipeline.core.record import Record, Versioned

Level = Literal["success", "info", "warning", "error"]
#: the file of a run's scores, beside its verdicts
SCORES = "hybrid.jsonl"


class Feedback(Record):
    """One message about a part."""

    level: Level
    message: str


class Part(Record):
    """One part of the score. `score` is None if it cannot be determined or was not requested."""

    score: int | None = Field(default=None, ge=0, le=100)
    feedback: tuple[Feedback, ...] = ()
    detail: dict[str, Any] = {}


class Hybrid(Versioned):
    """The hybrid score of one answer. `weights` are those of the existing parts in percent, together 100."""

    name: str
    model: str = ""
    sample: int = Field(default=0, ge=0)
    overall_score: int | None = Field(default=None, description="0 to 100; None if no part can be determined")
    passed: bool | None = None
    weights: dict[str, float] = {}
    html: Part = Part()
    functional: Part = Part()
    expected: Part = Part()
    quality: Part = Part()
    digest: str = Field(default="", description="of the answer; empty if it was not checked")
    law: str = Field(default="", description="the digest of all that decides the score")
    judge: str = Field(default="", description="the model that `quality` comes from; empty if none was asked")

    @property
    def key(self) -> tuple[str, str, int]:
        """The answer's key: case, model and sample."""
        return self.name, self.model, self.sample
