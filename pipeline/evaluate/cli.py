"""`a11y-bench evaluate`."""

from __future__ import annotations

from typing import Any

import click

from pipeline.core.options import engine_option
from pipeline.evaluate.options import of_patches


@click.command()
@of_patches
@engine_option
def command(store: Any, subject: Any, how: Any, *, trust_local: bool, jobs: int, engine: str) -> None:
    """Run the patches that MODEL made for REPO against the tests, and give every instance a verdict.

    \b
    MODEL is the one of `predict`, or oracle or nop.
    Writes DATA/04_evaluation/repair/<agent>/<repo>/<model>/: verdicts.jsonl, final_report.json, runs.json.
    Patches that were run already are not run again.
    \b
    Example: a11y-bench evaluate grommet/grommet oracle
    Exit code: 0 every instance has its verdict, 1 some are not evaluated (run it again).
    """
    from pipeline.evaluate.stage import evaluate

    say(subject, evaluate(store, subject, **how._asdict(), trust_local=trust_local, jobs=jobs, engine=engine))


def say(subject: Any, verdicts: list[Any]) -> None:
    """Show the verdicts; end with 1 where some are missing."""
    from pipeline.core.console import table
    from pipeline.core.records import Outcome

    rows = [
        (
            v.instance_id,
            str(v.outcome),
            f"{len(v.fixed)} of {len(v.fixed) + len(v.unfixed)}" if v.tests else "-",
            len(v.broken) if v.tests else "-",
            v.cause.splitlines()[0] if v.cause else "",
        )
        for v in verdicts
    ]
    title = f"{subject.agent} with {subject.model} on {subject.repo}"
    table(title, ("instance", "outcome", "fixed", "broken", "cause"), rows)
    click.echo(summary(verdicts))
    if any(one.outcome is Outcome.NOT_EVALUATED for one in verdicts):
        raise SystemExit(1)


def summary(verdicts: list[Any]) -> str:
    """The rates over all instances and over those evaluated, in one line."""
    from pipeline.core.records import Outcome

    resolved = sum(v.outcome is Outcome.RESOLVED for v in verdicts)
    missing = sum(v.outcome is Outcome.NOT_EVALUATED for v in verdicts)
    text = f"resolved: {resolved} of {len(verdicts)}"
    return f"{text}, of {len(verdicts) - missing} evaluated (incomplete: run it again)" if missing else text
