"""`a11y-bench runs`: list, show, compare and remove runs."""

from __future__ import annotations

import difflib
import json
from typing import Any

import click

from pipeline.core.options import Group, data_option


@click.group(cls=Group)
def command() -> None:
    """List, show, compare and remove runs of predictions.

    RUN is a run's name (a time), or the beginning of AGENT/REPO/MODEL/TIME, which means the newest such run.
    """


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@data_option
def list_runs(as_json: bool, store: Any) -> None:
    """List all runs. Costs are those of the answers in a run."""
    from pipeline.core.console import table
    from pipeline.inspection.reading import seen_runs, sent_by

    runs, sent = seen_runs(store), sent_by(store)
    newest = list({run.folder.parent: run for run in runs}.values())
    header = ("repository", "agent", "model", "run", "answers", "attempts", "resolved", "USD")
    found = [dict(zip(header, run.row(sent), strict=True)) | {"newest": run in newest} for run in runs]
    if as_json:
        click.echo(json.dumps(found, indent=2))
        return
    for row in found:
        row["run"] += "" if row["newest"] else " (older)"
    table("Runs", header, [[row[name] for name in header] for row in found])


@command.command()
@click.argument("run")
@data_option
def show(run: str, store: Any) -> None:
    """Show the settings and versions behind the answers of RUN, and the outcome of each instance."""
    from pipeline.core.console import table, visible
    from pipeline.inspection.reading import find_run

    found = find_run(store, run)
    shaped = dict(found.about.shaped_by)
    text = str(shaped.pop("settings_text", ""))
    about = found.about.model_dump(mode="json", exclude_unset=True) | {"shaped_by": shaped}
    click.echo(f"{found.address}\n{json.dumps(about, indent=2)}")
    if text:
        click.echo(visible(f"settings:\n{text.rstrip()}"))
    for attempt in found.attempts:
        outcomes = found.outcomes(attempt)
        table(f"attempt {attempt}", ("instance", "outcome"), sorted(outcomes.items()))


@command.command()
@click.argument("first")
@click.argument("second")
@data_option
def compare(first: str, second: str, store: Any) -> None:
    """Show the instances with different outcomes in two runs, and the differences in the settings.

    Of several attempts, those that both runs have are compared. Of several runs of one agent and model, only the one
    evaluated last has verdicts. If one of the two runs has none, the agents' own outcomes are compared.
    """
    from pipeline.core.console import counted, say, table
    from pipeline.inspection.reading import find_run

    first_run, second_run = find_run(store, first), find_run(store, second)
    unjudged = [run.address for run in (first_run, second_run) if not run.verdicts()]
    for address in unjudged:
        say(f"{address} has no verdicts, or another run was evaluated since: comparing the agents' own outcomes")
    attempts = [attempt for attempt in first_run.attempts if attempt in second_run.attempts]
    first_outcomes, second_outcomes = (_outcomes(run, attempts, bool(unjudged)) for run in (first_run, second_run))
    rows = [
        (name, first_outcomes.get(name, "-"), second_outcomes.get(name, "-"))
        for name in sorted(first_outcomes.keys() | second_outcomes.keys())
        if first_outcomes.get(name) != second_outcomes.get(name)
    ]
    table("Different outcomes", ("instance", first_run.address, second_run.address), rows)
    alike = len(first_outcomes.keys() | second_outcomes.keys()) - len(rows)
    compared = "attempt" if len(attempts) > 1 else "instance"
    click.echo(f"{counted(len(rows), compared)} with different outcomes, {alike} with the same")
    before, after = (_lines(run.about.shaped_by) for run in (first_run, second_run))
    for line in difflib.unified_diff(before, after, first_run.address, second_run.address, lineterm="", n=1):
        click.echo(line)


def _outcomes(run: Any, attempts: list[int], is_own: bool) -> dict[str, str]:
    """The outcomes of these attempts by instance, with the number of a further attempt; `is_own`: the agent's own."""
    found = {attempt: run.answered(attempt) if is_own else run.outcomes(attempt) for attempt in attempts}
    return {
        name if attempt == 1 else f"{name} attempt {attempt}": outcome
        for attempt, outcomes in found.items()
        for name, outcome in outcomes.items()
    }


def _lines(shaped: dict[str, Any]) -> list[str]:
    """The settings and versions that shaped a run, as lines of JSON; the text of settings is split into lines."""
    settings = {**shaped, "settings_text": str(shaped.get("settings_text", "")).splitlines()}
    return json.dumps(settings, indent=1, sort_keys=True).splitlines()


@command.command()
@click.argument("run")
@data_option
def remove(run: str, store: Any) -> None:
    """Move RUN and its verdicts to the archive. Its answers stay, so they are not paid for again."""
    from pipeline.core.console import say
    from pipeline.core.names import VARIANT
    from pipeline.inspection.reading import find_run

    found = find_run(store, run)
    predicting = store.lock("predict", found.repo, found.agent.partition(VARIANT)[0], found.model)
    with predicting, store.lock("evaluate", found.repo, found.agent, found.model):
        evaluated = store.evaluation(found.repo, found.agent, found.model)
        if found.verdicts():
            say(f"moved {evaluated} to {store.displace(evaluated)}")
        say(f"moved {found.folder} to {store.displace(found.folder)}")
