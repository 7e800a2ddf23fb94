"""`a11y-bench submission`: `pack`, `verify`, `regrade`, `leaderboard`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pipeline.core.options import Group, agent_option, data_option, model_argument, name_option, repo_argument

FOLDER = click.Path(path_type=Path, file_okay=False, exists=True)


@click.group(cls=Group)
def command() -> None:
    """Pack, verify, regrade and rank submissions."""


@command.command()
@repo_argument
@model_argument
@agent_option
@name_option
@click.option("--run", default="", help="The run [default: the newest].")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), required=True, help="The folder to write.")
@click.option("--draft", is_flag=True, help="Pack it even if instances were not evaluated; no leaderboard ranks it.")
@data_option
def pack(repo: Any, model: str, agent: str, name: str, run: str, output: Path, draft: bool, store: Any) -> None:
    """Write a bundle of MODEL's answers for REPO: predictions, trajectories, verdicts, stored test runs, provenance.

    \b
    A run with instances that were not evaluated is refused: evaluate it again, or add --draft.
    Example: a11y-bench submission pack grommet/grommet GLM-4.6 --output bundle
    """
    from pipeline.core.console import counted, say
    from pipeline.core.options import agent_of
    from pipeline.evaluate.answers import Subject
    from pipeline.submission import bundle

    subject = Subject(repo, agent_of(agent, model, name), model, run)
    made = bundle.pack(store, subject, output, draft=draft)
    rate = f"{made.resolved} of {len(made.instances)} resolved"
    kind = "a draft, " if made.draft else ""
    say(f"{output}: {kind}{rate}; {len(made.files)} files, digest {made.digest}")
    if older := bundle.judged_differently(store, subject):
        say(
            f"the verdicts of {counted(len(older), 'instance')} were given by another version of the program, and only "
            "that one can regrade them; to use this version, build and evaluate them again"
        )


@command.command()
@click.argument("folders", nargs=-1, required=True, type=FOLDER)
def verify(folders: tuple[Path, ...]) -> None:
    """Check that bundles are complete, unchanged and consistent with their records. Needs no dataset.

    Exit code: 0 no problems, 1 problems.
    """
    from pipeline.core.console import counted, say
    from pipeline.submission import bundle

    _end([f"{folder}: {line}" for folder in folders for line in bundle.verify(folder)])
    say(f"{counted(len(folders), 'bundle')}: complete, unchanged and consistent")


@command.command()
@click.argument("folders", nargs=-1, required=True, type=FOLDER)
@data_option
def regrade(folders: tuple[Path, ...], store: Any) -> None:
    """Recompute the verdicts of bundles from their stored runs with the dataset in DATA, and compare. Runs no tests.

    Exit code: 0 all verdicts are as claimed, 1 some are not.
    """
    from pipeline.core.console import counted, say
    from pipeline.submission import bundle

    wrong = [f"{folder}: {line}" for folder in folders for line in bundle.verify(folder)]
    wrong = wrong or [f"{folder}: {line}" for folder in folders for line in bundle.regrade(folder, store.root)]
    _end(wrong)
    say(f"{counted(len(folders), 'bundle')}: the stored test runs give the same verdicts")


@command.command()
@click.argument("folders", nargs=-1, required=True, type=FOLDER)
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), required=True, help="The page to write.")
def leaderboard(folders: tuple[Path, ...], output: Path) -> None:
    """Write a leaderboard page of the bundles that pass `verify`; the others are named and left out.

    \b
    Drafts and bundles with instances that were not evaluated are listed without rank and rate.
    Exit code: 0 all bundles are on it, 1 some are not.
    """
    from pipeline.core.console import counted, say
    from pipeline.core.errors import A11yBenchError
    from pipeline.core.store import write_bytes
    from pipeline.submission import bundle
    from pipeline.submission.leaderboard import render

    def wrong_with(folder: Path) -> list[str]:
        try:
            return bundle.verify(folder)
        except A11yBenchError as error:
            return [str(error)]

    found = {folder: wrong_with(folder) for folder in folders}
    shown = {made.digest: made for made in (bundle.load(folder) for folder, wrong in found.items() if not wrong)}
    write_bytes(output, render(list(shown.values())).encode())
    left_out = sum(map(bool, found.values()))
    others = {"left out": left_out, "named again": len(found) - left_out - len(shown)}
    counts = [counted(len(shown), "bundle"), *(f"{count} {what}" for what, count in others.items() if count)]
    say(f"{output}: {', '.join(counts)}")
    _end([f"{folder}: {line}" for folder, wrong in found.items() for line in wrong])


def _end(wrong: list[str]) -> None:
    """Print what is wrong, and end with exit code 1 if anything is."""
    from pipeline.core.console import say

    for line in wrong:
        say(line)
    if wrong:
        raise SystemExit(1)
