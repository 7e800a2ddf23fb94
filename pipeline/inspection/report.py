"""`a11y-bench open`: the report in the browser."""

from __future__ import annotations

from typing import Any

import click

from pipeline.core.options import data_option


@click.command()
@click.option("--print", "only_print", is_flag=True, help="Only print the report's path.")
@data_option
def command(only_print: bool, store: Any) -> None:
    """Open the report that `analyze` wrote.

    Example: a11y-bench open --data data/demo/out
    """
    from pipeline.core.errors import UserError

    path = store.analysis / "report.html"
    if not path.exists():
        raise UserError("there is no report", path=path, hint="run: just analyze-run")
    click.echo(path)
    if not only_print:
        click.launch(path.as_uri())
