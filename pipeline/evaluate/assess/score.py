"""The hybrid score: the parts of an assessment as one number from 0 to 1, by declared weights. Pure.

After PraisonAI Bench (docs/assessment.md): a part that is missing is left out, and the weights of the others are
divided by their sum. It stands beside the verdict, never in its place, and the parts always stand beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pipeline.core.assessment import Assessment, Part
from pipeline.core.records import Outcome, Verdict
from pipeline.evaluate.assess.settings import PartName, Settings

_LIKENESS = {"cosmetic": 1.0, "a11y-different": 0.0}


def scored(assessment: Assessment, verdict: Verdict, settings: Settings) -> Assessment:
    """The assessment with its score and the parts of it."""
    values = {name: value(assessment, verdict, settings) for name, value in VALUES.items()}
    score, parts = hybrid(values, settings.weights)
    return assessment.model_copy(update={"score": score, "parts": parts})


def hybrid(
    values: Mapping[PartName, float | None], weights: Mapping[PartName, float]
) -> tuple[float | None, dict[PartName, Part]]:
    """The weighted mean of the values that there are, and what each is worth; None without any that has a weight."""
    total = sum(weights[name] for name, value in values.items() if value is not None)
    parts = {name: _part(value, weights[name], total) for name, value in values.items()}
    score = sum(one.value * one.share for one in parts.values() if one.value is not None) if total else None
    return score, parts


def _part(value: float | None, weight: float, total: float) -> Part:
    return Part(value=value, weight=weight, share=weight / total if total and value is not None else 0)


def _tests(_: Assessment, verdict: Verdict, __: Settings) -> float | None:
    """1 when resolved; else of the tests to be fixed the share that passes, 0 for a patch that breaks a test."""
    if verdict.outcome in (Outcome.RESOLVED, Outcome.NOT_EVALUATED):
        return 1.0 if verdict.outcome is Outcome.RESOLVED else None
    partial = verdict.outcome is Outcome.UNRESOLVED and verdict.fixed and not verdict.broken
    return len(verdict.fixed) / len((*verdict.fixed, *verdict.unfixed)) if partial else 0.0


def _snapshot(assessment: Assessment, _: Verdict, __: Settings) -> float | None:
    """1 where all differences from gold's snapshots are cosmetic, 0 where one is not."""
    return _LIKENESS.get(assessment.snapshot.likeness) if assessment.snapshot else None


def _judge(assessment: Assessment, _: Verdict, settings: Settings) -> float | None:
    """What the settings say of the rating; who cannot tell says nothing."""
    said = {str(rating): value for rating, value in settings.ratings.items()}
    return said.get(str(assessment.judge.score)) if assessment.judge else None


def _audit(assessment: Assessment, _: Verdict, __: Settings) -> float | None:
    """Of the violations that gold removes, in documents of tests and in stories, the share that the patch removes.

    Where gold removes none, the audit does not tell right from wrong: 0 for a patch that adds some, else None.
    """
    deltas = [one for one in (assessment.axe, assessment.stories) if one]
    base, gold, patch = (sum(getattr(one, state) for one in deltas) for state in ("base", "gold", "candidate"))
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
