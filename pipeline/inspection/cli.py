"""`a11y-bench runs`: the runs that there are, side by side."""

from __future__ import annotations

import difflib
import json
from typing import Any

import click

from pipeline.core.options import data_option


@click.group()
def command() -> None:
    """List, show, compare and remove runs of predictions.

    RUN is a run's name (a time), or the beginning of AGENT/REPO/MODEL/TIME, which means the newest such run.
    """


@command.command(name="list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@data_option
def list_runs(as_json: bool, store: Any) -> None:
    """List all runs. Costs are those of the answers that a run shows."""
    from pipeline.core.console import table
    from pipeline.inspection.reading import seen_runs, sent_by

    there, sent = seen_runs(store), sent_by(store)
    newest = {one.folder.parent: one for one in there}
    rows = [one.row(sent, newest[one.folder.parent] is one) for one in there]
    header = ("repository", "agent", "model", "run", "answers", "attempts", "resolved", "USD")
    if as_json:
        click.echo(json.dumps([dict(zip(header, row, strict=True)) for row in rows], indent=2))
    else:
        table("Runs", header, rows)


@command.command()
@click.argument("run")
@data_option
def show(run: str, store: Any) -> None:
    """Show what shaped the answers of RUN, and how each instance ended."""
    from pipeline.core.console import table
    from pipeline.inspection.reading import find_run

    seen = find_run(store, run)
    shaped = dict(seen.said.get("shaped_by", {}))
    text = shaped.pop("settings_text", "")
    click.echo(f"{seen.address}\n{json.dumps({**seen.said, 'shaped_by': shaped}, indent=2)}")
    if text:
        click.echo(f"settings:\n{text.rstrip()}")
    for attempt in seen.attempts:
        outcomes = seen.outcomes(attempt)
        table(f"attempt {attempt}", ("instance", "outcome"), sorted(outcomes.items()))


@command.command()
@click.argument("first")
@click.argument("second")
@data_option
def compare(first: str, second: str, store: Any) -> None:
    """Show the instances that ended differently in two runs, and how the runs' settings differ."""
    from pipeline.core.console import table
    from pipeline.inspection.reading import find_run

    one, other = find_run(store, first), find_run(store, second)
    outcomes, others = one.outcomes(), other.outcomes()
    rows = [
        (name, outcomes.get(name, "-"), others.get(name, "-"))
        for name in sorted(outcomes.keys() | others.keys())
        if outcomes.get(name) != others.get(name)
    ]
    table("Different outcomes", ("instance", one.address, other.address), rows)
    alike = len(outcomes.keys() | others.keys()) - len(rows)
    click.echo(f"{len(rows)} instances ended differently, {alike} the same")
    texts = [json.dumps(_settings(each.said), indent=1, sort_keys=True).splitlines() for each in (one, other)]
    before, after = texts
    for line in difflib.unified_diff(before, after, one.address, other.address, lineterm="", n=1):
        click.echo(line)


def _settings(said: dict[str, Any]) -> dict[str, Any]:
    """What shaped a run, its settings' text line by line."""
    shaped = said.get("shaped_by", {})
    return {**shaped, "settings_text": str(shaped.get("settings_text", "")).splitlines()}


@command.command()
@click.argument("run")
@data_option
def remove(run: str, store: Any) -> None:
    """Move RUN and its verdicts to the archive. Its answers stay and cost nothing again."""
    from pipeline.core.console import say
    from pipeline.inspection.reading import find_run

    seen = find_run(store, run)
    with store.lock("predict", seen.repo, seen.agent, seen.model):
        evaluated = store.evaluation(seen.repo, seen.agent, seen.model)
        if seen.verdicts():
            say(f"{evaluated} is now {store.displace(evaluated)}")
        say(f"{seen.folder} is now {store.displace(seen.folder)}")
