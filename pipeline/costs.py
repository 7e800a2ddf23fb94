"""`a11y-bench costs`: what each experiment spent, and whether ledger, instances and costs.csv agree."""

from __future__ import annotations

import json
from typing import Any

import click

from pipeline.core.options import data_option


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with the cost of every instance.")
@data_option
def command(as_json: bool, store: Any) -> None:
    """Show what each experiment spent, from the ledger, and check it against costs.csv.

    \b
    Reads DATA/ledger.sqlite and DATA/costs.csv; writes nothing. `shared` is the cost of work for several instances.
    `unknown` counts requests whose cost is not known: they were lost, timed out, were cut off or reported no usage. The
    sums are then lower bounds.
    Example: a11y-bench costs --json
    Exit code: 0, or 1 if ledger, instances and costs.csv do not agree to the last digit.
    """
    from pipeline.core.console import table
    from pipeline.llm.spending import check, spending

    spent = spending(store)
    if as_json:
        click.echo(json.dumps([experiment.described() for experiment in spent], indent=2))
    else:
        header = (
            "track",
            "repository",
            "model",
            "agent",
            "experiment",
            "requests",
            "sent",
            "failed",
            "unknown",
            "tokens",
            "shared USD",
            "USD",
        )
        table("What was spent", header, [experiment.row() for experiment in spent])
    check(store, spent)
