"""`a11y-bench analyze`: read all stages, write `05_analysis/`, show the leaderboard, name the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pipeline.core.options import data_option

if TYPE_CHECKING:
    from pipeline.core.store import Store

#: the tables that the terminal shows; the report has all of them
SUMMARY = ("qualification", "resolution")
#: columns that only the report shows, since a terminal has no room for them
REPORT_ONLY = ("kept", "pending", "evaluated", "macro %", "macro interval", "resolved of evaluated %", "partly")


def _dates(_context: click.Context, _parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Repeated values of the form `MODEL=2024-10-31`, as dates by model."""
    from datetime import date

    dates = {}
    for value in values:
        model, _, day = value.rpartition("=")
        try:
            dates[model] = date.fromisoformat(day).isoformat()
        except ValueError:
            raise click.BadParameter(f"'{value}' is not MODEL=YYYY-MM-DD") from None
    return dates


@click.command()
@data_option
@click.option("--repo", metavar="ORG/REPO", help="Only this repository.")
@click.option("--issues-only", is_flag=True, help="Leave out instances without a linked issue.")
@click.option(
    "--cutoff",
    "cutoffs",
    multiple=True,
    metavar="MODEL=DATE",
    callback=_dates,
    help="The end of a model's training data (2024-10-31), to split its results.",
)
@click.option(
    "--samples",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Another data directory with verdicts on the same instances, as further attempts for pass@k.",
)
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write here instead of 05_analysis.")
def command(
    store: Store,
    repo: str | None,
    issues_only: bool,
    cutoffs: dict[str, str],
    samples: tuple[Path, ...],
    out: Path | None,
) -> None:
    """Make frames, tables, figures and one HTML report from all data. Missing data are named and left out.

    \b
    Reads 00_viewer, 01_raw, 02_dataset, 03_predictions, 04_evaluation, costs.csv and the ledger.
    Writes 05_analysis: frames (Parquet, CSV) with columns.csv, tables (CSV, Markdown, LaTeX), figures (SVG, PNG),
    report.html.
    Exit code: 0 done, 2 for broken, duplicate or contradictory records.
    Example: a11y-bench analyze --repo grommet/grommet --cutoff GLM-4.6=2024-10-31
    """
    present(store, repo, issues_only=issues_only, cutoffs=cutoffs, samples=samples, out=out)


def present(
    store: Store,
    repo: str | None = None,
    *,
    issues_only: bool = False,
    cutoffs: Mapping[str, str] | None = None,
    samples: Sequence[Path] = (),
    out: Path | None = None,
) -> None:
    """Write the analysis, print its summary and the report's path."""
    from pipeline import analyze
    from pipeline.analyze.measures.definition import definition
    from pipeline.analyze.measures.shown import as_text
    from pipeline.analyze.plots.process import in_another_process
    from pipeline.core.console import say, table
    from pipeline.core.cycles import no_cycles

    with no_cycles(), in_another_process() as draw:
        frames = analyze.load(store, repo, issues_only=issues_only, cutoffs=cutoffs, samples=samples)
        tables, images = draw(frames)
        report = analyze.write(frames, store, out, tables, images)
    for note in frames.notes:
        say(note)
    for name in filter(tables.__contains__, SUMMARY):
        text = as_text(tables[name], definition(name).dictionary)
        text = text[[column for column in text.columns if column not in REPORT_ONLY]]
        table(definition(name).title, list(text.columns), text.to_numpy().tolist())
    click.echo(f"report: {report}")
