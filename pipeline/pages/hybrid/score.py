"""The hybrid score of an answer: its parts, weighted, and what there is to say of each. Writes nothing."""

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
    """The score of an answer as it came. `page` is the page in it, the answer itself by default; `quality` what a
    judge said (`judge.opinions`), absent by default."""
    shown = answer if page is None else page
    parts = {
        "html": validity.check(shown),
        "functional": behaviour.watch(shown, limits),
        "expected": compare(answer, expected),
        "quality": quality or Part(),
    }
    return combine(parts, Hybrid(name=name, model=model, sample=sample, digest=digest(answer)))


def combine(parts: dict[str, Part], about: Hybrid) -> Hybrid:
    """The record of a whole, from its parts by name."""
    total, weights = formulas.overall({name: part.score for name, part in parts.items()})
    found = {"overall_score": total, "passed": formulas.passes(total), "weights": weights}
    return about.model_copy(update={**parts, **found})


def feedback(scored: Hybrid) -> list[dict[str, str]]:
    """What there is to say, as [{level, message}], part by part."""
    parts: list[Part] = [getattr(scored, name) for name in formulas.PARTS]
    said: list[Feedback] = [one for part in parts for one in part.feedback]
    return [one.model_dump() for one in said]
