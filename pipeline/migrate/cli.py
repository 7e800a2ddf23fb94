"""`a11y-bench migrate`."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("data"),
    show_default=True,
    envvar="A11Y_BENCH_DATA",
    show_envvar=True,
    help="The data directory.",
)
def command(data: Path) -> None:
    """Make a data directory of an older version one of this program's.

    \b
    Records are converted, folders moved, ledger and costs.csv get their tracks.
    What is replaced is archived first, and schema.json is written last: one that was stopped goes on.
    Example: a11y-bench migrate --data data
    Exit code: 0 it is of this version now, 2 something cannot be read (mend it and go on).
    """
    from pipeline.migrate.stage import migrate

    migrate(data)
