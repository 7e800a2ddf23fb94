"""`a11y-bench analyze`: read all stages, write `05_analysis/`, show the summary, name the report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.core.options import data_option

if TYPE_CHECKING:
    from pipeline.core.store import Store

#: the tables that the terminal shows; all stand in the report
SUMMARY = ("qualification", "resolution")
#: columns that a terminal has no room for
LEFT_TO_THE_REPORT = ("evaluated", "resolved of evaluated %", "pending", "qualified %")


@click.command()
@data_option
@click.option("--repo", metavar="ORG/REPO", help="Only this repository.")
@click.option("--issues-only", is_flag=True, help="Leave out instances without a linked issue.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write here, not to 05_analysis.")
def command(store: Store, repo: str | None, issues_only: bool, out: Path | None) -> None:
    """Make frames, tables, figures and one HTML report of all that there is. What is missing is said and left out."""
    present(store, repo, issues_only=issues_only, out=out)


def present(store: Store, repo: str | None = None, *, issues_only: bool = False, out: Path | None = None) -> None:
    """Write the analysis, print its summary and the report's path."""
    from pipeline import analyze
    from pipeline.analyze.measures import TITLES, shown
    from pipeline.core.console import say, table

    frames = analyze.load(store, repo, issues_only)
    report = analyze.write(frames, store, out)
    made = analyze.tables(frames)
    for note in frames.notes:
        say(note)
    for name in SUMMARY:
        if name in made:
            text = shown(made[name])
            text = text[[column for column in text.columns if column not in LEFT_TO_THE_REPORT]]
            table(TITLES[name], list(text.columns), text.to_numpy().tolist())
    click.echo(f"report: {report}")
