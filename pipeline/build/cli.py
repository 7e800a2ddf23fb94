"""`a11y-bench build`."""

from __future__ import annotations

from typing import Any

import click

from pipeline.core.options import data_option, jobs_option, repo_argument, sandbox_option, trust_local_option


@click.command()
@repo_argument
@click.option("--pr", "numbers", type=int, multiple=True, help="Only this candidate (may be given several times).")
@click.option("--reviewed", is_flag=True, help="Only candidates that somebody rated super (see: a11y-bench triage).")
@click.option(
    "--repeats", type=click.IntRange(1), default=3, show_default=True, help="Times that each run is repeated."
)
@click.option(
    "--scope",
    type=click.Choice(["touched", "full"]),
    default="touched",
    show_default=True,
    help="The test files of the test patch and those related to the changed sources, or all tests.",
)
@click.option("--timeout", type=click.IntRange(1), default=1800, show_default=True, help="Seconds for one test run.")
@sandbox_option
@trust_local_option
@jobs_option
@data_option
def command(
    repo: Any,
    numbers: tuple[int, ...],
    reviewed: bool,
    repeats: int,
    scope: Any,
    timeout: int,
    sandbox: str,
    trust_local: bool,
    jobs: int,
    store: Any,
) -> None:
    """Make environments for the candidates of REPO and qualify them by three runs: run, test, fix.

    \b
    Reads DATA/01_raw/<repo>/ and the clone that it was collected from.
    Writes DATA/02_dataset/<repo>.jsonl (instances) and DATA/02_dataset/<repo>/ (rejections, logs).
    What is done is skipped; an interrupted build goes on where it was.
    \b
    Example: a11y-bench build grommet/grommet --pr 7428
    Exit code: 0 all decided, 1 the machine failed for some (run it again).
    """
    from pipeline.build.qualify import Settings
    from pipeline.build.stage import build
    from pipeline.core.cache import cache_root
    from pipeline.core.sandbox import open_sandbox
    from pipeline.core.sandbox.base import Limits

    settings = Settings(open_sandbox(sandbox, cache_root()), repeats, Limits(seconds=timeout), scope)
    outcomes = build(store, repo, settings, numbers=numbers, reviewed=reviewed, trust_local=trust_local, jobs=jobs)
    _report(repo, outcomes)
    if any(getattr(one, "reason", "") == "not_evaluated" for one in outcomes):
        raise SystemExit(1)


def _report(repo: Any, outcomes: list[Any]) -> None:
    from pipeline.build.reasons import REASONS
    from pipeline.build.stage import describe
    from pipeline.core.console import table
    from pipeline.core.records import Instance

    rows = [
        (one.instance_id, describe(one), "" if isinstance(one, Instance) else REASONS[one.reason]) for one in outcomes
    ]
    table(f"Dataset of {repo}", ("instance", "outcome", "meaning"), rows)
