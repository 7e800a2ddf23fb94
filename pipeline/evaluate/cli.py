"""`a11y-bench evaluate`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pipeline.core.options import A_FILE, Usd, engine_option, is_given, subset_options
from pipeline.evaluate.options import of_patches

#: the agent of predictions whose harness nobody named
EXTERNAL = "external"


@click.command()
@of_patches
@subset_options
@click.option(
    "--predictions",
    type=A_FILE,
    help="Predictions of another harness, as JSON Lines or JSON in SWE-bench's format; --agent names that harness "
    f"[default: {EXTERNAL}].",
)
@click.option(
    "--models", type=A_FILE, help="Evaluate the newest run made with this list's entry for MODEL [default: the newest]."
)
@click.option(
    "--settings",
    type=A_FILE,
    help="Evaluate the newest run made with this file's settings [default: the newest].",
)
@click.option("--budget", type=Usd(), help="Has no effect, since no model is asked; accepted as for `predict`.")
@engine_option
def command(
    store: Any,
    subject: Any,
    how: Any,
    *,
    subset: Any,
    predictions: Path | None,
    models: Path | None,
    settings: Path | None,
    budget: Any,
    **limits: Any,
) -> None:
    """Run the patches of MODEL for REPO against the tests, and give every instance a verdict.

    \b
    MODEL is the one given to `predict`, or oracle or nop.
    Writes DATA/04_evaluation/repair/<agent>/<repo>/<model>/: verdicts.jsonl, final_report.json, runs.json.
    Further attempts are in attempts/<number>/. Stored test runs are reused.
    \b
    Examples: a11y-bench evaluate grommet/grommet oracle
              a11y-bench evaluate grommet/grommet their-model --predictions theirs.jsonl --agent their-harness
    Exit code: 0 every instance has a verdict, 1 some are not evaluated (run it again).
    """
    from contextlib import nullcontext

    from pipeline.core.options import REFERENCES
    from pipeline.evaluate.answers import attempts
    from pipeline.evaluate.choosing import chosen
    from pipeline.evaluate.foreign import adopted
    from pipeline.evaluate.stage import evaluate

    if budget is not None:
        click.echo("--budget has no effect: to evaluate patches, no model is asked", err=True)
    if predictions:
        subject = of_harness(subject, {"--run": subject.run, "--settings": settings, "--models": models})
    elif subject.model not in REFERENCES:
        subject = chosen(store, subject, settings, models)
    how = {**how._asdict(), **limits, "subset": subset}
    with adopted(store, subject, predictions) if predictions else nullcontext(subject) as evaluated:
        verdicts = [(each, evaluate(store, each, **how)) for each in attempts(store, evaluated) or [evaluated]]
    say(verdicts)


def of_harness(subject: Any, choosing: Mapping[str, Any]) -> Any:
    """The subject of predictions made elsewhere: without --agent, not one of our own agents. `choosing` are the options
    that choose one of our runs, by name: a file of predictions makes its own."""
    from dataclasses import replace

    from pipeline.core.errors import UserError
    from pipeline.core.names import VARIANT, variant
    from pipeline.core.options import REFERENCES

    if needless := [name for name, value in choosing.items() if value]:
        raise click.UsageError(f"--predictions makes a run of its own, so {needless[0]} has no effect: leave it out")
    hints = {
        subject.agent.partition(VARIANT)[0]: "name the harness that made them with --agent",
        subject.model: "pass the model_name_or_path of the predictions",
    }
    for reference in hints.keys() & REFERENCES:
        message = f"'{reference}' is a reference of this benchmark, and has no predictions file"
        raise UserError(message, hint=hints[reference])
    name = click.get_current_context().params["name"]
    return subject if is_given("agent") else replace(subject, agent=variant(EXTERNAL, name))


def say(evaluated: list[Any]) -> None:
    """Show the verdicts on each attempt, and exit with 1 if some that were wanted are missing."""
    for subject, verdicts in evaluated:
        show(subject, verdicts)
    if any(missing(verdicts) for _, verdicts in evaluated):
        raise SystemExit(1)


def missing(verdicts: list[Any]) -> int:
    """How many of the selected instances were not evaluated."""
    from pipeline.core.records import Outcome
    from pipeline.evaluate.stage import NOT_SELECTED

    return sum(v.outcome is Outcome.NOT_EVALUATED and v.cause != NOT_SELECTED for v in verdicts)


def show(subject: Any, verdicts: list[Any]) -> None:
    """The verdicts on one attempt, as a table."""
    from pipeline.core.console import table

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
    further = f", attempt {subject.attempt}" if subject.attempt > 1 else ""
    title = f"{subject.agent} with {subject.model} on {subject.repo}{further}"
    table(title, ("instance", "outcome", "fixed", "broken", "cause"), rows)
    click.echo(summary(verdicts))


def summary(verdicts: list[Any]) -> str:
    """The rates over all instances and over those evaluated, in one line."""
    from pipeline.core.records import Outcome

    resolved, without = (
        sum(v.outcome is outcome for v in verdicts) for outcome in (Outcome.RESOLVED, Outcome.NOT_EVALUATED)
    )
    text = f"resolved: {resolved} of {len(verdicts)}"
    if not without:
        return text
    again = "incomplete: run it again" if missing(verdicts) else f"{without} not selected"
    return f"{text}, of {len(verdicts) - without} evaluated ({again})"
