"""`a11y-bench collect`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from pipeline.core.options import PULL_REQUEST, new_data_option, repo_argument


@click.command()
@repo_argument
@click.option(
    "--source",
    default="git",
    show_default=True,
    help="Where pull requests come from: git (a clone), github (GITHUB_TOKEN), dataset (Multi-SWE-bench, SWE-bench).",
)
@click.option(
    "--path",
    type=click.Path(path_type=Path),
    help="The clone (never changed); for a dataset, its file of records or its folder (or bare clone) of tasks.",
)
@click.option("--clone", type=click.Path(path_type=Path), help="For a dataset: the repository's clone, to build from.")
@click.option("--filtered", is_flag=True, help="For a dataset: take only the records that pass the filters.")
@click.option(
    "--issues",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Issues for a clone, as JSON Lines with number, title and, optionally, body, state and labels.",
)
@click.option(
    "--pr",
    "numbers",
    type=PULL_REQUEST,
    multiple=True,
    help="Take only this pull request, whatever the filters say (repeatable).",
)
@click.option(
    "--patterns",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A TOML file with other patterns, or `seed` for those of the thesis that began the project (docs/thesis.md).",
)
@new_data_option
def command(
    repo: Any,
    source: str,
    path: Path | None,
    clone: Path | None,
    filtered: bool,
    issues: Path | None,
    numbers: tuple[int, ...],
    patterns: Path | None,
    store: Any,
) -> None:
    """Find merged pull requests of REPO (org/repo) that fix accessibility and change tests.

    \b
    Writes DATA/01_raw/<repo>/: candidates.jsonl, rejections.jsonl (with the reason), triage.jsonl (for the viewer),
    funnel.json, source.json, pages.jsonl.gz (the source's answers) and collect.sqlite (an index with full-text search);
    and DATA/01_raw/funnel.csv. Collecting adds to what is there, and the same command resumes. Edits by hand in the
    first two files are kept as decisions (a11y-bench decide).
    \b
    Examples: a11y-bench collect grommet/grommet --path ~/clones/grommet --pr 7428
              GITHUB_TOKEN=... a11y-bench collect elastic/eui --source github
              a11y-bench collect PrismJS/prism --source dataset --path ~/swe-bench-mm --clone ~/clones/prism
    Exit code: 0 done, 1 some records were not available and all others were taken.
    """
    from pipeline.collect.patterns import load_patterns, shipped
    from pipeline.collect.sources import Options, open_source
    from pipeline.collect.stage import collect_from
    from pipeline.collect.watch import watch
    from pipeline.core import console

    chosen = load_patterns(patterns) if patterns else shipped()
    opened = open_source(source, repo, Options(path, issues, clone, filtered, chosen.tests))
    console.say(f"collecting {repo} from {source}")
    show = partial(watch, repo, opened)
    problems: list[Any] = []
    _present(store, repo, collect_from(store, repo, opened, numbers, chosen, show, problems))
    for problem in problems:
        console.say(f"left out: {problem}")
    if problems:
        raise SystemExit(1)


def _present(store: Any, repo: Any, funnel: Any) -> None:
    """The funnel and the reasons of rejections, as tables."""
    from pipeline.collect.database import Database
    from pipeline.collect.funnel import REASONS
    from pipeline.core import console

    row = funnel.model_dump()
    console.table(f"Funnel of {repo}", list(row), [list(row.values())])
    with Database(store.raw(repo) / "collect.sqlite") as database:
        rows = [(reason, number, REASONS.get(reason, "written by a person")) for reason, number in database.reasons()]
    if rows:
        console.table("Rejected", ("reason", "pull requests", "meaning"), rows)
    console.say(f"written to {store.raw(repo)}")
