"""`a11y-bench pages`: the track of pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.core.options import Decorator, jobs_option


@click.group()
def command() -> None:
    """The track of pages: can a model write an accessible page? Cases with prompts, run in a real browser."""


def _cases(_context: click.Context, _parameter: click.Parameter, value: Path | None) -> Path:
    from pipeline.pages.cases import OWN

    return value or OWN


case_option: Decorator = click.option(
    "--case", "names", multiple=True, help="A case of the folder, by name; several times [default: all]."
)
apart_option: Decorator = click.option(
    "--apart",
    multiple=True,
    default=("best-practice",),
    show_default=True,
    help="A tag of axe-core whose rules are counted apart; several times, 'none' lets all rules count.",
)


def _apart(tags: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in tags if one != "none")


@command.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), required=False, callback=_cases)
@case_option
@apart_option
@jobs_option
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def check(folder: Path, names: tuple[str, ...], apart: tuple[str, ...], jobs: int, as_json: bool) -> None:
    """Check the cases of FOLDER (ours unless told): every expectation of every example.

    \b
    Also that examples try every assertion both ways, and that neither an empty nor an unrelated page passes.
    Writes nothing. Examples: a11y-bench pages check
                              a11y-bench pages check cases/ --case modal-dialog
    Exit code: 0 all is as it should be, 1 there are findings.
    """
    from pipeline.pages.cases import load_cases
    from pipeline.pages.checking import check as checked

    found = checked(load_cases(folder, names), jobs=jobs, apart=_apart(apart))
    _show(found, as_json)
    if found.findings:
        raise SystemExit(1)


def _show(found: Any, as_json: bool) -> None:
    import json

    from pipeline.core.console import table

    if as_json:
        click.echo(json.dumps({**found._asdict(), "findings": [one._asdict() for one in found.findings]}, indent=2))
        return
    if found.findings:
        table("findings", ("case", "where", "what"), found.findings)
    click.echo(f"{found.examples} examples, {found.held} of {found.expectations} expectations hold")
