"""The hybrid score of an answer: its weighted parts, and feedback on each. Writes nothing."""

from __future__ import annotations

from pipeline.core.store import digest
from pipeline.pages.engine import Limits
from pipeline.pages.hybrid import behaviour, formulas, validity
from pipeline.pages.hybrid.expected import compare
from pipeline.pages.hybrid.records import Feedback, Hybrid, Part


def evaluate(
    answer: str,
    *,
    name: str = "page",
    model: str = "",
    sample: int = 0,
    page: str | None = None,
    expected: str = "",
    quality: Part | None = None,
    limits: Limits | None = None,
) -> Hybrid:
    """The score of an answer, whose text is compared with the expected one. `page` is the page in it, by default the
    answer itself; `quality` is a judge's part (`judge.opinions`), missing by default."""
    shown = answer if page is None else page
    parts = {
        "html": validity.check(shown),
        "functional": behaviour.watch(shown, limits),
        "expected": compare(answer, expected),
        "quality": quality or Part(),
    }
    return combine(parts, Hybrid(name=name, model=model, sample=sample, digest=digest(answer)))


def combine(parts: dict[str, Part], about: Hybrid) -> Hybrid:
    """The record of a score, from its parts by name."""
    total, weights = formulas.overall({name: part.score for name, part in parts.items()})
    fields = {"overall_score": total, "passed": formulas.passes(total), "weights": weights}
    return about.model_copy(update={**parts, **fields})


def feedback(scored: Hybrid) -> list[dict[str, str]]:
    """The feedback as [{level, message}], part by part."""
    parts: list[Part] = [getattr(scored, name) for name in formulas.PARTS]
    messages: list[Feedback] = [message for part in parts for message in part.feedback]
    return [message.model_dump() for message in messages]
