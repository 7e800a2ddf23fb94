"""What `assess` found, as a table on the console: the score with all its parts, and the sums. Writes no files."""

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
    """Print it."""
    table(f"{subject.agent} with {subject.model} on {subject.repo}", HEAD, [_row(one) for one in assessments])
    for line in filter(None, (summary(assessments), judged(assessments))):
        click.echo(line)
    for one in assessments:
        for line in told(one):
            click.echo(line)


def told(one: Assessment) -> Iterator[str]:
    """What a screen reader would say otherwise than with gold, test by test, as a unified diff."""
    for test, said in (one.snapshot.spoken if one.snapshot else {}).items():
        if lines := list(difflib.unified_diff(said.gold, said.patch, "gold", "patch", n=1, lineterm="")):
            yield f"{one.instance_id}, a screen reader on {test}:"
            yield from (f"  {line}" for line in [*lines, *_base(said)])


def _base(said: Spoken) -> list[str]:
    """What it says without any patch, where that is not what it says with this one."""
    if said.base == said.patch:
        return ["(as without any patch)"]
    return list(difflib.unified_diff(said.base, said.patch, "base", "patch", n=1, lineterm=""))


def _row(one: Assessment) -> tuple[str, ...]:
    flags = ("yes" if flag else "no" for flag in (one.resolved, one.resolved_equivalent))
    parts = (_number(part.value) for part in one.parts.values())
    return (one.instance_id, *flags, _audited(one.axe), _audited(one.stories), *parts, _number(one.score), _reason(one))


def _audited(axe: AxeDelta | None) -> str:
    """Violations of the three, and what the patch makes of the base's."""
    if axe is None:
        return "-"
    changes = {"fixed": axe.fixed, "remaining": axe.remaining, "introduced": axe.introduced}
    said = ", ".join(f"{len(found)} {name}" for name, found in changes.items() if found)
    return f"{axe.base}, {axe.gold}, {axe.candidate}" + (f": {said}" if said else "")


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _reason(one: Assessment) -> str:
    """The first that there is: why snapshots differ, or why a part is missing."""
    return next(iter([*(one.snapshot.reasons.values() if one.snapshot else ()), *one.notes.values()]), "")


def summary(assessments: Sequence[Assessment]) -> str:
    """How many are resolved, and how many are when cosmetic differences of snapshots count as equal."""
    strict, equivalent = (
        sum(getattr(one, field) for one in assessments) for field in ("resolved", "resolved_equivalent")
    )
    return f"resolved: {strict} of {len(assessments)}; resolved or equivalent: {equivalent}"


def judged(assessments: Sequence[Assessment]) -> str:
    """How many patches a judge rated, and how far its samples agree; empty where none was asked."""
    rulings = [one.judge for one in assessments if one.judge]
    if not rulings and not any("judge" in one.notes for one in assessments):
        return ""
    agreed = [one.agreement for one in rulings if one.agreement is not None]
    missing = sum(len(one.missing) for one in rulings)
    mean = f"; pairs of ratings that agree: {fmean(agreed):.0%}" if agreed else ""
    return f"judged: {len(rulings)} of {len(assessments)}{mean}; samples without a rating: {missing}"
