"""The hybrid score: the parts of an assessment as one number from 0 to 1, by declared weights. Pure.

After PraisonAI Bench (docs/assessment.md): missing parts are left out, and the weights of the others are divided by
their sum. The score never replaces the verdict, and is always shown with its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pipeline.core.assessment import Assessment, Part
from pipeline.core.records import Outcome, Verdict
from pipeline.evaluate.assess.settings import PartName, Settings

_LIKENESS = {"cosmetic": 1.0, "a11y-different": 0.0}


def scored(assessment: Assessment, verdict: Verdict, settings: Settings) -> Assessment:
    """The assessment with its score and the score's parts."""
    values = {name: value(assessment, verdict, settings) for name, value in VALUES.items()}
    score, parts = hybrid(values, settings.weights)
    return assessment.model_copy(update={"score": score, "parts": parts})


def hybrid(
    values: Mapping[PartName, float | None], weights: Mapping[PartName, float]
) -> tuple[float | None, dict[PartName, Part]]:
    """The weighted mean of the available values, and the parts; None if no available value has a weight."""
    total = sum(weights[name] for name, value in values.items() if value is not None)
    parts = {name: _part(value, weights[name], total) for name, value in values.items()}
    score = sum(part.value * part.share for part in parts.values() if part.value is not None) if total else None
    return score, parts


def _part(value: float | None, weight: float, total: float) -> Part:
    return Part(value=value, weight=weight, share=weight / total if total and value is not None else 0)


def _tests(_: Assessment, verdict: Verdict, __: Settings) -> float | None:
    """1 if resolved, else the share of the tests to be fixed that pass, or 0 for a patch that breaks a test."""
    if verdict.outcome in (Outcome.RESOLVED, Outcome.NOT_EVALUATED):
        return 1.0 if verdict.outcome is Outcome.RESOLVED else None
    partial = verdict.outcome is Outcome.UNRESOLVED and verdict.fixed and not verdict.broken
    return len(verdict.fixed) / len((*verdict.fixed, *verdict.unfixed)) if partial else 0.0


def _snapshot(assessment: Assessment, _: Verdict, __: Settings) -> float | None:
    """1 if all differences from gold's snapshots are cosmetic, else 0."""
    return _LIKENESS.get(assessment.snapshot.likeness) if assessment.snapshot else None


def _judge(assessment: Assessment, _: Verdict, settings: Settings) -> float | None:
    """The value of the rating in the settings; None if the judge cannot tell."""
    values = {str(rating): value for rating, value in settings.ratings.items()}
    return values.get(str(assessment.judge.score)) if assessment.judge else None


def _audit(assessment: Assessment, _: Verdict, __: Settings) -> float | None:
    """The share of the violations which gold removes, in documents of tests and in stories, that the patch removes.

    If gold removes none, the audit cannot tell right from wrong: 0 for a patch that adds some, else None.
    """
    deltas = [delta for delta in (assessment.axe, assessment.stories) if delta]
    base, gold, patch = (sum(getattr(delta, state) for delta in deltas) for state in ("base", "gold", "candidate"))
    if base > gold:
        return min(1.0, max(0.0, (base - patch) / (base - gold)))
    return 0.0 if patch > gold else None


#: the parts by name
VALUES: dict[PartName, Callable[[Assessment, Verdict, Settings], float | None]] = {
    "tests": _tests,
    "snapshot": _snapshot,
    "judge": _judge,
    "audit": _audit,
}
