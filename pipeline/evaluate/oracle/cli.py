"""`a11y-bench assess`."""

from __future__ import annotations

from typing import Any

import click

from pipeline.evaluate.options import of_patches


@click.command()
@of_patches
@click.option("--axe", is_flag=True, help="Audit what the tests render with axe-core: they run once more.")
def command(store: Any, subject: Any, how: Any, *, trust_local: bool, jobs: int, axe: bool) -> None:
    """Look at the evaluated patches of MODEL for REPO as assistive technologies do (docs/oracle.md).

    \b
    Where all that fails are snapshots, the tests run once more with new ones, which a browser compares with gold's.
    Reads the verdicts of `evaluate`, and changes none.
    Writes DATA/04_evaluation/<agent>/<repo>/<model>/assessments.jsonl. What was run already is not run again.
    \b
    Example: a11y-bench assess grommet/grommet GLM-4.6
    Exit code: 0 every prediction is assessed, 1 some are not (run it again).
    """
    from pipeline.evaluate.oracle.stage import assess

    assessments = assess(store, subject, how, trust_local=trust_local, jobs=jobs, axe=axe)
    _report(subject, assessments)
    if any(note.startswith("not assessed") for one in assessments for note in one.notes.values()):
        raise SystemExit(1)


def _report(subject: Any, assessments: list[Any]) -> None:
    from pipeline.core.console import table

    rows = [
        (
            one.instance_id,
            "yes" if one.resolved else "no",
            "yes" if one.resolved_equivalent else "no",
            one.snapshot.likeness if one.snapshot else "-",
            _audited(one.axe),
            next(iter([*(one.snapshot.reasons.values() if one.snapshot else ()), *one.notes.values()]), ""),
        )
        for one in assessments
    ]
    title = f"{subject.agent} with {subject.model} on {subject.repo}"
    table(title, ("instance", "resolved", "equivalent", "snapshots", "axe: base, gold, patch", "reason"), rows)
    click.echo(summary(assessments))


def _audited(axe: Any) -> str:
    """Violations of the three, and what the patch makes of the base's."""
    if axe is None:
        return "-"
    changes = {"fixed": axe.fixed, "remaining": axe.remaining, "introduced": axe.introduced}
    said = ", ".join(f"{len(found)} {name}" for name, found in changes.items() if found)
    return f"{axe.base}, {axe.gold}, {axe.candidate}" + (f": {said}" if said else "")


def summary(assessments: list[Any]) -> str:
    """How many are resolved, and how many are when cosmetic differences of snapshots count as equal."""
    strict, equivalent = (
        sum(getattr(one, field) for one in assessments) for field in ("resolved", "resolved_equivalent")
    )
    return f"resolved: {strict} of {len(assessments)}; resolved or equivalent: {equivalent}"
