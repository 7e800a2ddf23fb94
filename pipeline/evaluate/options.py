"""Options that the commands of stage 04 share: which patches, and where and within which limits tests run."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from pipeline.core.options import (
    agent_option,
    data_option,
    jobs_option,
    model_argument,
    name_option,
    repo_argument,
    sandbox_option,
    tries_option,
    trust_local_option,
)

run_option = click.option("--run", default="", help="The run's folder name [default: the newest].")

OPTIONS = (
    repo_argument,
    model_argument,
    agent_option,
    name_option,
    run_option,
    click.option(
        "--timeout", type=click.IntRange(1), default=1800, show_default=True, help="Seconds for one test run."
    ),
    sandbox_option,
    trust_local_option,
    jobs_option,
    tries_option,
    data_option,
)


def of_patches(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options. The function is called with the store, the Subject and How, and with
    `trust_local` and `jobs` by name."""

    @wraps(function)
    def command(
        repo: Any,
        model: str,
        agent: str,
        name: str,
        run: str,
        timeout: int,
        sandbox: str,
        tries: int,
        store: Any,
        **options: Any,
    ) -> None:
        from pipeline.core.cache import cache_root
        from pipeline.core.options import agent_of
        from pipeline.core.retry import Patience
        from pipeline.evaluate.answers import Subject
        from pipeline.evaluate.runs import How
        from pipeline.sandbox import open_sandbox
        from pipeline.sandbox.base import Limits

        how = How(open_sandbox(sandbox, cache_root()), Limits(seconds=timeout), Patience(tries))
        function(store, Subject(repo, agent_of(agent, model, name), model, run), how, **options)

    for option in reversed(OPTIONS):
        command = option(command)
    return command
