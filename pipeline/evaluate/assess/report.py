"""What `assess` found, as a table on the console: the score with all its parts, and totals. Writes no files."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from statistics import fmean

import click

from pipeline.core.assessment import Assessment, AxeDelta, Spoken
from pipeline.core.console import table
from pipeline.evaluate.answers import Subject
from pipeline.evaluate.assess.score import VALUES

HEAD = ("instance", "resolved", "equivalent", "axe: base, gold, patch", "stories", *VALUES, "score", "reason")


def report(subject: Subject, assessments: Sequence[Assessment]) -> None:
    """Print the table and the totals."""
    rows = [_row(assessment) for assessment in assessments]
    table(f"{subject.agent} with {subject.model} on {subject.repo}", HEAD, rows)
    for line in filter(None, (summary(assessments), judged(assessments))):
        click.echo(line)
    for assessment in assessments:
        for line in spoken_differences(assessment):
            click.echo(line)


def spoken_differences(assessment: Assessment) -> Iterator[str]:
    """What a screen reader would say differently than with gold, test by test, as a unified diff."""
    for test, spoken in (assessment.snapshot.spoken if assessment.snapshot else {}).items():
        if lines := list(difflib.unified_diff(spoken.gold, spoken.patch, "gold", "patch", n=1, lineterm="")):
            yield f"{assessment.instance_id}, a screen reader on {test}:"
            yield from (f"  {line}" for line in [*lines, *_base(spoken)])


def _base(spoken: Spoken) -> list[str]:
    """What it says without any patch, if that differs from what it says with this one."""
    if spoken.base == spoken.patch:
        return ["(as without any patch)"]
    return list(difflib.unified_diff(spoken.base, spoken.patch, "base", "patch", n=1, lineterm=""))


def _row(assessment: Assessment) -> tuple[str, ...]:
    flags = ("yes" if flag else "no" for flag in (assessment.resolved, assessment.resolved_equivalent))
    parts = (_number(part.value) for part in assessment.parts.values())
    return (
        assessment.instance_id,
        *flags,
        _audited(assessment.axe),
        _audited(assessment.stories),
        *parts,
        _number(assessment.score),
        _reason(assessment),
    )


def _audited(axe: AxeDelta | None) -> str:
    """The violations of base, gold and patch, and what the patch does to those of the base."""
    if axe is None:
        return "-"
    changes = {"fixed": axe.fixed, "remaining": axe.remaining, "introduced": axe.introduced}
    counts = ", ".join(f"{len(violations)} {name}" for name, violations in changes.items() if violations)
    return f"{axe.base}, {axe.gold}, {axe.candidate}" + (f": {counts}" if counts else "")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _reason(assessment: Assessment) -> str:
    """The first reason: why snapshots differ, or why a part is missing."""
    reasons = assessment.snapshot.reasons.values() if assessment.snapshot else ()
    return next(iter([*reasons, *assessment.notes.values()]), "")


def summary(assessments: Sequence[Assessment]) -> str:
    """How many are resolved, and how many if cosmetic differences of snapshots are ignored."""
    strict, equivalent = (
        sum(getattr(assessment, field) for assessment in assessments) for field in ("resolved", "resolved_equivalent")
    )
    return f"resolved: {strict} of {len(assessments)}; resolved or equivalent: {equivalent}"


def judged(assessments: Sequence[Assessment]) -> str:
    """How many patches a judge rated, and how far its samples agree; empty if there was no judge."""
    rulings = [assessment.judge for assessment in assessments if assessment.judge]
    if not rulings and not any("judge" in assessment.notes for assessment in assessments):
        return ""
    agreed = [ruling.agreement for ruling in rulings if ruling.agreement is not None]
    missing = sum(len(ruling.missing) for ruling in rulings)
    mean = f"; pairs of ratings that agree: {fmean(agreed):.0%}" if agreed else ""
    return f"judged: {len(rulings)} of {len(assessments)}{mean}; samples without a rating: {missing}"
