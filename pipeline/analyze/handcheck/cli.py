"""`a11y-bench handcheck`: `export`, `import`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.core.options import Group, data_option


@click.group(cls=Group)
def command() -> None:
    """Check patches by hand: export a blinded sample, rate it, import the ratings.

    \b
    export writes FOLDER/sheet.html (to read) and FOLDER/sheet.csv (to fill in).
    import reads sheet.csv and adds its ratings to 00_viewer/handchecks.jsonl, which analyze reads.
    Exit code: 0 done, 2 for an unknown rating or patch.
    """


@command.command("export")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@click.option("--size", type=click.IntRange(1), default=30, show_default=True, help="The maximum number of patches.")
@click.option("--seed", default=1, show_default=True, help="The same seed gives the same sample.")
@click.option("--repo", metavar="ORG/REPO", help="Only this repository.")
@data_option
def export(folder: Path, size: int, seed: int, repo: str | None, store: Any) -> None:
    """Sample patches of every model, resolved or not, and write a sheet into FOLDER.

    Example: a11y-bench handcheck export ~/sheet --size 50
    """
    from pipeline import analyze
    from pipeline.analyze.handcheck import sheet

    path = sheet.export(sheet.sample(analyze.load(store, repo), size, seed), folder)
    click.echo(f"read {path.with_suffix('.html')}\nfill in {path}")


@command.command("import")
@click.argument("path", metavar="SHEET.CSV", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--by", "rater", required=True, metavar="NAME", help="The rater.")
@data_option
def import_(path: Path, rater: str, store: Any) -> None:
    """Add the ratings of a sheet. Rows without a rating are skipped.

    Example: a11y-bench handcheck import ~/sheet/sheet.csv --by ann
    """
    from pipeline import analyze
    from pipeline.analyze.handcheck import sheet

    checks = sheet.read(path, analyze.load(store), rater)
    counted = sheet.add(store, checks)
    click.echo(f"{len(checks)} ratings by {rater} read; {len(counted)} in all")
