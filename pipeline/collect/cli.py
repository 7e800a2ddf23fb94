"""`a11y-bench collect`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import click

from pipeline.core.options import data_option, repo_argument

#: source -> what it reads
SOURCES = {"git": "a local clone: no network, no tokens"}


@click.command()
@repo_argument
@click.option("--source", default="git", show_default=True, help="Where pull requests come from: git (a local clone).")
@click.option("--path", type=click.Path(path_type=Path), required=True, help="The clone (bare or not, never changed).")
@click.option(
    "--issues",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Issue texts, JSON Lines: number, title, body, labels.",
)
@click.option("--pr", "numbers", type=int, multiple=True, help="Take this pull request whatever the filters say.")
@data_option
def command(repo: Any, source: str, path: Path, issues: Path | None, numbers: tuple[int, ...], store: Any) -> None:
    """Find merged pull requests of REPO (org/repo) that fix accessibility and touch tests.

    \b
    Writes DATA/01_raw/<repo>/: candidates.jsonl, rejections.jsonl (with the reason), funnel.json, source.json.
    What is collected adds to what is there.
    \b
    Example: a11y-bench collect grommet/grommet --path ~/clones/grommet --pr 7428
    """
    from pipeline.collect.funnel import REASONS
    from pipeline.collect.stage import collect
    from pipeline.core import console
    from pipeline.core.errors import unknown
    from pipeline.core.records import Rejection
    from pipeline.core.store import read_records

    if source not in SOURCES:
        raise unknown("source", source, list(SOURCES))
    console.say(f"collecting {repo} from {path}")
    funnel = collect(store, repo, path, issues, numbers)
    row = funnel.model_dump()
    console.table(f"Funnel of {repo}", list(row), [list(row.values())])
    reasons = Counter(one.reason for one in read_records(store.raw(repo) / "rejections.jsonl", Rejection))
    if reasons:
        rows = [(reason, number, REASONS[reason]) for reason, number in reasons.most_common()]
        console.table("Rejected", ("reason", "pull requests", "meaning"), rows)
    console.say(f"written to {store.raw(repo)}")
