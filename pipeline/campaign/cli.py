"""`a11y-bench campaign`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pipeline.core.options import new_data_option, trust_local_option


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--plan", "only_plan", is_flag=True, help="Only print the plan.")
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
@trust_local_option
@new_data_option
def command(file: Path, only_plan: bool, as_json: bool, trust_local: bool, store: Any) -> None:
    """Run everything that FILE asks for: datasets, agents, models, attempts, pages; then write the report.

    \b
    Prints the plan first: existing and missing answers, worst and likely cost, time, disk. The same command resumes;
    no finished answer is paid for twice. docs/campaigns.md describes FILE.
    Writes what the stages' own commands write. Example: a11y-bench campaign friday.toml --plan
    Exit code: 0 all done, 1 something failed or is missing (run it again), 2 an error in the file.
    """
    from pipeline.analyze.cli import present
    from pipeline.campaign.planning import described
    from pipeline.campaign.stage import Conduct
    from pipeline.core.console import say

    conduct = Conduct(store, file, trust_local, only_plans=only_plan or as_json)
    steps = [*conduct.plan(), *conduct.plan_of_lists()]
    if as_json:
        click.echo(json.dumps(described(steps), indent=2))
    else:
        _show(conduct, steps)
    if only_plan or as_json:
        return
    failed = conduct.conduct()
    try:
        if conduct.campaign.datasets:
            say(conduct.money())
            present(store)
    finally:
        for line in failed:
            click.echo(f"failed: {line}", err=True)
    if failed:
        raise SystemExit(1)


def _show(conduct: Any, steps: list[Any]) -> None:
    from pipeline.campaign.plan import sums
    from pipeline.core.console import clock, table

    for repo in conduct.unbuilt():
        click.echo(f"{repo}: its list is rebuilt first; the plan counts all its instances as missing", err=True)
    everything = sums(steps, conduct.left)
    rows = [
        (step.repo, step.label, step.model, step.wanted, step.existing, step.asked)
        + (_usd(step.spent), _likely(step), _usd(step.worst, "no limit"))
        + ("unknown" if step.seconds is None else clock(step.seconds),)
        for step in [*steps, *([everything] if len(steps) > 1 else [])]
    ]
    columns = ("repository or cases", "agent", "model", "answers", "existing", "to ask")
    header = (*columns, "spent USD", "likely USD", "worst USD", "time")
    if rows:
        table(f"{conduct.campaign.name}: existing answers and planned requests", header, rows)
    _show_details(conduct, steps, everything)


def _show_details(conduct: Any, steps: list[Any], everything: Any) -> None:
    from pipeline.campaign.plan import disk
    from pipeline.core.console import clock

    space = disk(conduct.store)
    needed = space.needed(steps)
    likely = f"; the planned answers take about {needed / 1e6:.1f} MB" if needed else ""
    if conduct.campaign.datasets and not conduct.campaign.agents:
        references = "only oracle and nop are evaluated" if conduct.campaign.references else "nothing is asked"
        click.echo(f"there are no agents in the file: {references}")
    if everything.rough:
        click.echo("~: no earlier answers; by the tokens that an answer of this agent typically takes")
    if everything.testing:
        click.echo(f"tests of the planned patches: about {clock(everything.testing)}")
    click.echo(f"disk: {space.free / 1e9:.1f} GB free{likely}; missing images need more")
    if conduct.campaign.budget is not None:
        click.echo(f"budget: {conduct.money()}")
    for name, models in conduct.lacking().items():
        click.echo(f"missing key: set {name} (for {', '.join(models)}) before you run the campaign")


def _likely(step: Any) -> str:
    sign = "~" if step.rough and step.likely is not None else ""
    return sign + _usd(step.likely, "unknown") if step.asked else "0"


def _usd(amount: Any, otherwise: str = "") -> str:
    return otherwise if amount is None else f"{amount:.4f}"
