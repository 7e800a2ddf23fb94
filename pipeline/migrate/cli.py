"""`a11y-bench migrate`."""

from __future__ import annotations

from pathlib import Path

import click

from pipeline.core.options import require_data


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
    """Convert a data directory of an older version to this one.

    \b
    Converts records, moves folders, and adds tracks to ledger and costs.csv.
    Replaced files are archived first, and schema.json is written last, so an interrupted migration resumes.
    Example: a11y-bench migrate --data data
    Exit code: 0 converted, 2 something cannot be read (repair it and run again).
    """
    from pipeline.migrate.stage import migrate

    require_data(data)
    migrate(data)
