"""`a11y-bench build`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pipeline.core.options import (
    PULL_REQUEST,
    Usd,
    data_option,
    engine_option,
    models_option,
    repos_argument,
    sandbox_option,
    size_option,
    tries_option,
    trust_local_option,
)

if TYPE_CHECKING:
    from pipeline.build.qualify import Settings
    from pipeline.build.setup_agent import Setup
    from pipeline.core.names import Repo
    from pipeline.core.store import Store


@click.command()
@repos_argument
@click.option("--pr", "numbers", type=PULL_REQUEST, multiple=True, help="Only this candidate (repeatable).")
@click.option("--reviewed", is_flag=True, help="Only candidates rated super, or reworked (see: a11y-bench triage).")
@click.option(
    "--repeats",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="How often each of the three runs is repeated.",
)
@click.option(
    "--scope",
    type=click.Choice(["touched", "full"]),
    default="touched",
    show_default=True,
    help="touched: the test files of the test patch and those related to the changed sources; full: all tests.",
)
@click.option("--timeout", type=click.IntRange(1), default=1800, show_default=True, help="Seconds for one test run.")
@size_option("--memory", help="Memory of one test run, such as 8GiB [default: 4GiB].")
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Candidates in parallel [default: as processors and memory allow]. One further environment is made ahead.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Run nothing: group the rejections by log lines that no known fault explains.",
)
@engine_option
@tries_option
@size_option("--disk", help="Disk space for layers and caches, such as 60GB [default: half of the free space].")
@click.option("--setup-agent", metavar="MODEL", help="Let this model propose environments for rejected candidates.")
@click.option(
    "--setup-tries",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="The maximum number of proposals per rejected candidate.",
)
@click.option("--setup-budget", type=Usd(), help="The maximum that these proposals may ever cost for REPO, in USD.")
@models_option
@sandbox_option
@trust_local_option
@data_option
def command(
    repos: list[Any],
    numbers: tuple[int, ...],
    reviewed: bool,
    repeats: int,
    scope: Any,
    timeout: int,
    memory: int | None,
    jobs: int | None,
    explain: bool,
    engine: str,
    tries: int,
    disk: int | None,
    setup_agent: str | None,
    setup_tries: int,
    setup_budget: Any,
    models: Path | None,
    sandbox: str,
    trust_local: bool,
    store: Any,
) -> None:
    """Make environments for the candidates of REPOS and qualify them with three test runs: run, test, fix.

    \b
    Reads DATA/01_raw/<repo>/ and the clone that it was collected from.
    Writes DATA/02_dataset/<repo>.jsonl (instances), and in DATA/02_dataset/<repo>/
    rejections.jsonl, summary.json, build.log and units/<instance>/ (logs, manifest).
    Finished work is skipped, and an interrupted build resumes. Ctrl-C ends it after the
    work in progress, a second Ctrl-C at once. When the disk limit is reached, unused
    layers are removed and made again when needed.
    --setup-agent asks a model about rejected environments (docs/repair.md); its costs
    are in DATA/costs.csv under the agent `setup`.
    \b
    Examples: a11y-bench build grommet/grommet --pr 7428
              a11y-bench build grommet/grommet radix-ui/primitives --disk 60GB
    Exit code: 0 all decided, 1 some not evaluated (run it again), 130 stopped.
    """
    from pipeline.build.qualify import NOT_EVALUATED, Settings
    from pipeline.build.stage import candidates_of
    from pipeline.core.cache import cache_root
    from pipeline.core.retry import Patience
    from pipeline.execution.images import source
    from pipeline.sandbox import open_sandbox
    from pipeline.sandbox.base import DEFAULT, Limits

    if not repos:
        raise click.UsageError("name at least one collected repository")
    if explain:
        _explain(store, repos)
        return
    limits = Limits(timeout, memory or DEFAULT.memory)
    settings = Settings(open_sandbox(sandbox, cache_root()), repeats, limits, scope)
    for repo in repos if len(repos) > 1 else ():  # bad input for the last one fails before the first one starts
        source(store, repo)
        candidates_of(store, repo, numbers, reviewed)
    options: dict[str, Any] = {
        "numbers": numbers,
        "reviewed": reviewed,
        "trust_local": trust_local,
        "jobs": jobs,
        "disk": disk,
        "patience": Patience(tries),
        "engine": engine,
    }
    if setup_agent:
        options["setup"] = _setup(setup_agent, setup_tries, setup_budget, models)
    counts = [_built(store, repo, settings, options) for repo in repos]
    if any(NOT_EVALUATED in count for count in counts):
        raise SystemExit(1)


def _explain(store: Store, repos: Sequence[Repo]) -> None:
    from pipeline.build import explain

    for repo in repos:
        explain.show(repo, explain.explain(store, repo))


def _setup(model: str, tries: int, budget: Any, models: Path | None) -> Setup:
    from pipeline.build.setup_agent import Setup
    from pipeline.llm.models import SHIPPED
    from pipeline.llm.panel import Asked

    return Setup(Asked(model, 1, budget, models or SHIPPED), tries)


def _built(store: Store, repo: Repo, settings: Settings, options: dict[str, Any]) -> dict[str, int]:
    """Build a repository and show the result; returns the number of candidates by outcome."""
    from pipeline.build.stage import build
    from pipeline.build.summary import SUMMARY, show
    from pipeline.core.console import say
    from pipeline.core.store import read_object

    say(f"== {repo}")
    build(store, repo, settings, **options)
    figures = read_object(store.qualification(repo) / SUMMARY, "counts")
    show(repo, figures)
    say(f"written to {store.dataset(repo)} and {store.qualification(repo)}")
    return figures["counts"]
